"""``tune`` from the shell does what Python does, and leaves what ``train`` needs to do it again."""

from __future__ import annotations

import json

import pytest

import rankinite as rk

QUICK = ("--trees", "6", "--min-rows", "3", "--folds", "3", "--trials", "3", "--generation", "2", "--no-race")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, world = tmp_path_factory.mktemp("tune"), rk.World(features=5, documents=12, noise=0.3)
    for part in ("train", "valid", "test"):
        rk.write(rk.synthesise(30, part=part, world=world), folder / f"{part}.txt")
    return folder


def test_the_settings_found_make_the_same_model_again(run, folder):
    done = run("tune", folder / "train.txt", *QUICK, "--leaves", "3", "-t", folder / "test.txt", "-o", folder / "a", "--json")
    assert done.code == 0
    found, train = json.loads(done.out), rk.read(folder / "train.txt")
    assert found["learner"]["leaves"] == 3
    assert len(found["trials"]) == 3
    assert "leaves" not in found["trials"][0]  # what is given is not searched
    assert found["estimate"]["low"] < found["estimate"]["high"]
    assert "trial 3" in done.err
    again = run("train", "--config", folder / "a" / "best.toml", "-o", folder / "again.rankinite")
    assert again.code == 0
    assert (folder / "again.rankinite").read_bytes() == (folder / "a" / "model.rankinite").read_bytes()
    expected = rk.tune(
        rk.LambdaMART(trees=6, min_rows=3, leaves=3),
        train,
        space={name: one for name, one in rk.tuning.space.default_space(rk.LambdaMART(), train.rows).items()
               if name not in {"leaves", "min_rows"}},
        folds=3, trials=3, generation=2, race=False,
    )  # fmt: skip
    assert [one["ndcg@10"] for one in found["trials"]] == [one["ndcg@10"] for one in expected.table()]
    lines = (folder / "a" / "trials.csv").read_text().splitlines()
    assert len(lines) == 1 + 3


def test_a_report_shows_the_search_and_the_model(run, folder, tmp_path):
    path = tmp_path / "report.html"
    judging = ("-t", folder / "test.txt", "--report", path, "-o", tmp_path / "out", "--json")
    done = run("tune", folder / "train.txt", *QUICK, *judging)
    assert done.code == 0
    assert str(path) in done.err
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    found, content = json.loads(done.out), json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert [one["value"] for one in content["search"]["trials"]] == [one["ndcg@10"] for one in found["trials"]]
    assert [one["number"] for one in content["search"]["trials"] if one["chosen"]] == [found["chosen"]]
    assert content["tables"][0]["systems"][0]["results"][0]["mean"] == found["test"]
    assert "--report" in dict(content["facts"][0]["entries"])["command"]


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_done(run, folder, tmp_path):
    for path in (tmp_path / "report.txt", tmp_path / "absent" / "r.html"):
        done = run("tune", folder / "train.txt", *QUICK, "--report", path, "-o", tmp_path / "out")
        assert (done.code, done.error.place) == (2, str(path))
    assert list(tmp_path.iterdir()) == []


def test_validation_data_and_the_reading_of_files_are_kept_in_the_settings(run, folder):
    done = run("tune", folder / "train.txt", "-v", folder / "valid.txt", *QUICK, "--missing", "nan", "-o", folder / "b")
    assert done.code == 0
    text = (folder / "b" / "best.toml").read_text()
    assert 'missing = "nan"' in text
    assert f'valid = ["{folder / "valid.txt"}"]' in text
    assert run("train", "--config", folder / "b" / "best.toml", "-o", folder / "b2.rankinite").code == 0
    assert (folder / "b2.rankinite").read_bytes() == (folder / "b" / "model.rankinite").read_bytes()
    assert "too good" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--folds", "31"), "31"),
        (("--space", "nowhere.toml"), "nowhere.toml"),
        (("--sampler", "grid"), "--sampler"),
        (("--cluster", "tcp://127.0.0.1:9"), "--share"),
        (("--cluster", "tcp://127.0.0.1:9", "--workers", "2", "--share", "x"), "--workers"),
        (("--share", "x"), "--share"),
    ],
)
def test_bad_input_is_refused_with_its_option(run, folder, tmp_path, options, said):
    done = run("tune", folder / "train.txt", *QUICK, *options, "-o", tmp_path / "out")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "out" / "model.rankinite").exists()


def test_a_scheduler_that_does_not_answer(run, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("rankinite.workers.dask_client.WAIT", 1)
    done = run(
        "cross-validate",
        folder / "train.txt",
        "-S",
        "lambdamart trees=3",
        "--cluster",
        "tcp://127.0.0.1:9",
        "--share",
        tmp_path,
    )
    assert done.code == 2
    assert "--cluster tcp://127.0.0.1:9" in done.err
    assert "dask scheduler" in done.err


def test_a_setting_cannot_be_both_given_and_searched(run, folder, tmp_path):
    (tmp_path / "mine.toml").write_text("leaves = [2, 3]")
    done = run("tune", folder / "train.txt", "--leaves", "4", "--space", tmp_path / "mine.toml", "-o", tmp_path / "out")
    assert done.code == 2
    assert "--leaves 4" in done.err
