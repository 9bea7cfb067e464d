"""Settings in TOML files: a run is repeated to the same bytes, the command line wins, and mistakes are refused."""

from __future__ import annotations

import shutil
import tomllib
from datetime import date

import pytest

import rankinite as rk
from rankinite.cli import learner_options as learners
from rankinite.cli.settings_file import _toml

pytestmark = pytest.mark.posix("/dev/null")


def training(files, settings, out):
    return ("train", files.train, "--valid", files.valid, *settings, "--seed", 3, "--row-share", 0.7, "--out", out)


@pytest.fixture
def here(files, tmp_path, monkeypatch):
    """A folder to work in, with data below it."""
    (tmp_path / "data").mkdir()
    (tmp_path / "models").mkdir()
    for part in ("train", "valid", "test"):
        shutil.copy(getattr(files, part), tmp_path / "data" / f"{part}.txt")
    shutil.copy(files.model, tmp_path / "web.rankinite")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_training_run_is_repeated_to_the_same_bytes(run, files, settings, tmp_path):
    first = tmp_path / "first.rankinite"
    assert run(*training(files, settings, first)).code == 0
    assert run("train", "--config", tmp_path / "first.toml", "--out", tmp_path / "second.rankinite").code == 0
    assert (tmp_path / "second.rankinite").read_bytes() == first.read_bytes()
    before = first.read_bytes()
    first.unlink()
    assert run("train", "--config", tmp_path / "first.toml").code == 0
    assert first.read_bytes() == before


def test_the_file_says_everything(run, files, settings, tmp_path):
    run(*training(files, settings, tmp_path / "first.rankinite"))
    printed = tomllib.loads((tmp_path / "first.toml").read_text())["train"]
    assert (printed["seed"], printed["row-share"], printed["trees"], printed["leaves"]) == (3, 0.7, 12, 6)  # given
    assert (printed["measure"], printed["shape"], printed["missing"]) == ("ndcg@10", "symmetric", "zero")  # left out
    assert printed["data"] == [str(files.train)]
    assert not {"json", "quiet", "verbose", "threads", "config"} & set(printed)


@pytest.mark.parametrize("learner", learners.LearnerName)
def test_every_learner_is_spelled_as_it_is_made(learner):
    plain = learners.make(learner, learners.Settings())
    printed = learners.spelled(learner, plain)
    assert learners.make(learner, learners.Settings(**printed)) == plain
    if learner in learners.NETS:
        linear = learners.make(learner, learners.Settings(hidden="none", seed=5))
        assert learners.make(learner, learners.Settings(**learners.spelled(learner, linear))) == linear


@pytest.mark.parametrize("learner", ["mart", "mcrank", "ranknet-trees", "lambdarank", "ranknet", "lambdaboost"])
def test_every_learner_is_repeated(run, files, tmp_path, learner):
    short = {"lambdarank": ("--epochs", 2), "ranknet": ("--epochs", 2, "--hidden", "none"), "lambdaboost": ("--rounds", 3)}
    words = short.get(learner, ("--trees", 2, "--leaves", 4))
    assert run("train", files.train, "-l", learner, *words, "-o", tmp_path / "a.rankinite").code == 0
    assert run("train", "-c", tmp_path / "a.toml", "-o", tmp_path / "b.rankinite").code == 0
    assert (tmp_path / "a.rankinite").read_bytes() == (tmp_path / "b.rankinite").read_bytes()


def test_an_adaptation_is_repeated_to_the_same_bytes(run, here):
    words = ("--methods", "additive", "--folds", 2, "--no-curve", "--also", "ndcg@1,err", "--seed", 2)
    first = run("adapt", "old=web.rankinite", "feature:1", "--train", "data/valid.txt", *words, "--out", "models/first")
    assert first.code == 0
    printed = tomllib.loads((here / "models/first/adapt.toml").read_text())["adapt"]
    assert printed["background"] == ["old=../../web.rankinite", "feature:1"]
    assert (printed["train"], printed["out"], printed["curve"], printed["seed"]) == (["../../data/valid.txt"], ".", False, 2)
    assert "adapt.toml" in first.out
    assert run("adapt", "--config", "models/first/adapt.toml", "--out", "second").code == 0
    assert (here / "second/model.rankinite").read_bytes() == (here / "models/first/model.rankinite").read_bytes()


def test_paths_are_taken_from_the_files_folder(run, here, monkeypatch):
    assert run("train", "data/train.txt", "--base", "web.rankinite", "--trees", 2, "-o", "models/x.rankinite").code == 0
    printed = tomllib.loads((here / "models/x.toml").read_text())["train"]
    assert (printed["data"], printed["base"], printed["out"]) == (["../data/train.txt"], "../web.rankinite", "x.rankinite")
    before = (here / "models/x.rankinite").read_bytes()
    moved = here / "moved"
    moved.mkdir()
    for name in ("data", "models", "web.rankinite"):
        (here / name).rename(moved / name)
    (moved / "models/x.rankinite").unlink()
    monkeypatch.chdir(moved / "data")
    assert run("train", "--config", "../models/x.toml").code == 0
    assert (moved / "models/x.rankinite").read_bytes() == before


def test_the_command_line_wins_over_the_file(run, here):
    (here / "my.toml").write_text(
        '[train]\ndata = "data/train.txt"\nout = "x.rankinite"\ntrees = 3\nvalid = ["data/valid.txt"]\n'
    )
    assert run("train", "--config", "my.toml", "--trees", 2, "data/valid.txt", "--valid", "data/test.txt").code == 0
    printed = tomllib.loads((here / "x.toml").read_text())["train"]
    assert (printed["data"], printed["valid"], printed["trees"]) == (["data/valid.txt"], ["data/test.txt"], 2)


def test_a_file_may_be_written_by_hand(run, here):
    """Underscores, plain texts for lists, lists of numbers, and tables of other verbs."""
    (here / "my.toml").write_text(
        '[adapt]\nseed = 1\n[train]\ndata = "data/train.txt"\nout = "x.rankinite"\nlearner = "lambdarank"\nhidden = [3, 2]\n'
        "epochs = 2\ntrain_history = false\n"
    )
    assert run("train", "--config", "my.toml").code == 0
    model = rk.load("x.rankinite")
    assert tuple(model.settings["hidden"]) == (3, 2)
    assert model.settings["train_history"] is False


def test_a_users_own_file_is_kept(run, here):
    written = '[train]\ndata = "data/train.txt"\nout = "x.rankinite"\ntrees = 2\n'
    (here / "x.toml").write_text(written)
    assert run("train", "--config", "x.toml").code == 0
    assert (here / "x.toml").read_text() == written
    assert tomllib.loads((here / "x.rankinite.toml").read_text())["train"]["leaves"] == 64
    (here / "x.rankinite.toml").write_text(written)
    done = run("train", "--config", "x.toml")
    assert done.code == 0
    assert "x.rankinite.toml: kept as it is" in done.err


def test_models_that_are_no_files_have_no_file_beside_them(run, here):
    assert run("train", "data/train.txt", "--trees", 2, "--out", "/dev/null").code == 0
    assert not (here / "null.toml").exists()


@pytest.mark.parametrize(
    ("text", "place", "value"),
    [
        ("[train]\ntree = 3\n", "bad.toml: [train]", "tree"),
        ("[train]\nconfig = 'x'\n", "bad.toml: [train]", "config"),
        ("trees = 3\n", "bad.toml", "trees"),
        ("[evaluate]\nmeasure = 'err'\n", "bad.toml", "evaluate"),
        ("[adapt]\nseed = 3\n", "bad.toml", "train"),
        ("[train]\ntrees = \n", "bad.toml", "bad.toml"),
        ("[train]\ntrees = true\n", "bad.toml: [train] trees", True),
        ("[train]\ntrees = 1979-05-27\n", "bad.toml: [train] trees", date(1979, 5, 27)),
        ("[train]\nzero-based = 1\n", "bad.toml: [train] zero-based", 1),
        (f"[train]\nlabel_gain{'.a' * 3000} = 1\n", "bad.toml: [train]", "label_gain"),
        (f"[train]\nlabel_gain = [{{a{'.a' * 3000} = 1}}]\n", "bad.toml: [train]", "label_gain"),
        (f"[train]\nnonsense{'.a' * 3000} = 1\n", "bad.toml: [train]", "nonsense"),
    ],
    ids=lambda part: str(part)[:30],
)
def test_what_is_wrong_in_a_file_is_refused(run, here, text, place, value):
    (here / "bad.toml").write_text(text)
    done = run("train", "--config", "bad.toml")
    assert (done.code, done.out) == (2, "")
    assert (done.error.place, done.error.value) == (place, value)


def test_a_misspelled_setting_names_the_one_that_was_meant(run, here):
    (here / "bad.toml").write_text("[train]\ntree = 3\n")
    done = run("train", "--config", "bad.toml")
    assert "trees" in done.error.remedy
    assert "allow-overlap, base, bin-sample, " in done.error.rule


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[train]\nleaves = 'many'\ndata = 'x'\nout = 'y'\n", "(in bad.toml)"),
        ("[train]\nlearner = 'lambda'\ndata = 'x'\nout = 'y'\n", "(in bad.toml)"),
        ("[train]\nout = 'y'\n", "Missing argument"),
    ],
)
def test_errors_of_typer_name_the_file(run, here, text, words):
    (here / "bad.toml").write_text(text)
    done = run("train", "--config", "bad.toml")
    assert (done.code, done.out) == (2, "")
    assert words in " ".join(done.err.replace("│", " ").split())


def test_a_missing_file_is_refused(run, here):
    done = run("train", "--config", "none.toml")
    assert done.code == 2
    assert (done.error.place, "--config" in done.err) == ("none.toml", True)
    assert run("train", "--config", here).code == 2


def test_values_come_back_from_toml():
    for value in ("", 'a"b\\c', "tab\there", "π…", "\x7f\x01", 3, -1, 2**70, 0.1, 1e-9, 1e22, float("inf"), True, ["a", "b"]):
        assert tomllib.loads(f"x = {_toml(value)}")["x"] == value
