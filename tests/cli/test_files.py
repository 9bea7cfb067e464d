"""No verb replaces one of its inputs, and two runs never write to the same place at once."""

from __future__ import annotations

import os
import shutil

import pytest

import rankinite as rk
from rankinite.cli import files as guard

pytestmark = pytest.mark.posix("locks")

VERBS = {
    "train": ("train", "data.txt", "--out", "OUT"),
    "train, valid": ("train", "other.txt", "--valid", "data.txt", "--out", "OUT"),
    "train, base": ("train", "other.txt", "--base", "data.txt", "--out", "OUT"),
    "train, checkpoint": ("train", "data.txt", "--checkpoint", "OUT", "--out", "new"),
    "train, report": ("train", "data.txt", "--report", "OUT", "--out", "new"),
    "adapt": ("adapt", "model.rankinite", "--train", "data.txt", "--out", "FOLDER"),
    "combine": ("combine", "data.txt", "feature:1", "--data", "other.txt", "--out", "OUT"),
    "combine, named": ("combine", "a=data.txt", "feature:1", "--data", "other.txt", "--out", "OUT"),
    "combine, plot": ("combine", "feature:1", "feature:2", "--data", "data.txt", "--plot", "OUT", "--out", "new"),
    "convert": ("convert", "other.txt", "data.txt", "--out", "OUT"),
    "convert, group": ("convert", "other.txt", "--group", "data.txt", "--out", "OUT"),
    "score": ("score", "feature:1", "data.txt", "--out", "OUT"),
    "score, all trees": ("score", "all-trees:data.txt", "other.txt", "--out", "OUT"),
    "evaluate": ("evaluate", "feature:1", "data.txt", "--per-query", "OUT"),
    "compare": ("compare", "feature:1", "a=data.txt", "--data", "other.txt", "--report", "OUT"),
    "explain": ("explain", "model.rankinite", "data.txt", "--all-queries", "--plot", "OUT"),
    "optimum": ("optimum", "model.rankinite", "data.txt", "--plot", "OUT"),
    "inspect": ("inspect", "data.txt", "--plot-tree", "OUT"),
}
"""A run of every verb that writes, whose output OUT is its input data.txt."""
LINKS = {
    "itself": lambda data, _: data,
    "another spelling": lambda data, _: data.parent / "." / "folder" / ".." / data.name,
    "a symbolic link": lambda data, link: link.symlink_to(data) or link,
    "a hard link": lambda data, link: os.link(data, link) or link,
}


@pytest.fixture
def home(files, tmp_path, monkeypatch):
    """A folder with two data files and a model."""
    (tmp_path / "folder").mkdir()
    for name, source in {"data.txt": files.train, "other.txt": files.valid, "model.rankinite": files.model}.items():
        shutil.copy(source, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def named_output(words, out):
    """The parameter that names the output, and its value."""
    place = next(place for place, word in enumerate(words) if word in {"OUT", "FOLDER"})
    return words[place - 1].removeprefix("--").replace("-", "_"), "adapted" if words[place] == "FOLDER" else str(out)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("link", ["itself", "a hard link"])
def test_no_verb_replaces_its_input(run, home, verb, link):
    out = LINKS[link](home / "data.txt", home / "link.txt")
    if verb == "adapt":
        folder = home / "adapted"
        folder.mkdir()
        os.link(home / "data.txt", folder / "model.rankinite")
    before = contents(home)
    done = run(*({"OUT": out, "FOLDER": "adapted"}.get(word, word) for word in VERBS[verb]))
    assert (done.code, done.out) == (2, "")
    assert "data.txt" in done.err
    assert (done.error.setting, done.error.value) == named_output(VERBS[verb], out)
    assert contents(home) == before


@pytest.mark.parametrize("link", LINKS)
def test_links_lead_to_the_same_file(run, home, link):
    out = LINKS[link](home / "data.txt", home / "link.txt")
    before = contents(home)
    done = run("convert", "data.txt", "--out", out)
    assert done.code == 2
    assert f"--out {out} " in done.err
    assert "data.txt" in done.error.problem
    assert contents(home) == before


def test_the_data_of_a_report_are_an_output_too(run, home):
    shutil.copy(home / "data.txt", home / "report.json")
    done = run("compare", "feature:1", "feature:2", "--data", "report.json", "--report", "report.html")
    assert done.code == 2
    assert "--report report.html " in done.err
    assert "report.json" in done.error.problem


@pytest.mark.parametrize("inside", ["models/trada.rankinite", "trials/abc/trada.rankinite", "candidate.rankinite"])
def test_a_run_does_not_replace_the_model_that_it_adapts(run, home, inside):
    model = home / "market" / inside
    model.parent.mkdir(parents=True)
    shutil.copy(home / "model.rankinite", model)
    done = run("adapt", f"old={model}", "--train", "data.txt", "--out", "market", "--overwrite")
    assert done.code == 2
    assert "--out market " in done.err
    assert str(model) in done.error.problem
    assert "BACKGROUND" in done.error.problem


def test_settings_are_an_input_too(run, home):
    (home / "web.toml").write_text("[train]\ntrees = 2\n")
    done = run("train", "data.txt", "--config", "web.toml", "--out", "web.toml")
    assert done.code == 2
    assert "--out web.toml " in done.err
    assert "--config" in done.error.problem


def test_two_outputs_are_two_files(run, home):
    done = run("train", "data.txt", "--out", "m.rankinite", "--checkpoint", "./m.rankinite")
    assert done.code == 2
    assert (done.error.setting, done.error.value) == ("checkpoint", "m.rankinite")
    assert "--out" in done.err
    done = run("train", "data.txt", "--out", "report.json", "--report", "report.html")
    assert done.code == 2
    assert (done.error.setting, done.error.value) == ("report", "report.html")
    assert "--out" in done.err


def test_devices_may_be_read_and_written(run, home):
    assert run("score", "feature:1", "data.txt", "--out", "/dev/null").code == 0
    assert run("convert", "data.txt", "--out", "copy.txt").code == 0
    assert rk.read("copy.txt").rows == rk.read("data.txt").rows


# ---- locks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("convert", "data.txt", "--out", "taken"),
        ("train", "data.txt", "--out", "new", "--checkpoint", "taken"),
        ("adapt", "model.rankinite", "--train", "data.txt", "--out", "taken"),
        ("demo", "--out", "taken"),
        ("synth", "--queries", "2", "--out", "taken"),
    ],
)
def test_a_second_run_is_refused_while_the_first_writes(run, home, command):
    folder = command[0] in {"adapt", "demo", "synth"}
    mark = guard.Output(is_folder=lambda _: folder)
    with guard.guarded({"out": home / "taken"}, [], {"out": mark}, lambda name: f"--{name}"):
        before = contents(home)
        done = run(*command)
        assert (done.code, done.out) == (2, "")
        assert (done.error.setting, done.error.value) == (command[command.index("taken") - 1].removeprefix("--"), "taken")
        assert contents(home) == before
    assert not (home / "taken").exists()
    assert not list(home.glob(".*"))


def test_a_verb_that_refuses_its_input_gives_its_lock_back(run, home):
    done = run("score", "model.rankinite", "data.txt", "--probabilities", "--out", "taken")
    assert (done.code, done.out) == (2, "")
    assert done.error is not None
    assert not list(home.glob(".*"))


def test_the_lock_of_a_run_that_was_killed_is_taken_over(run, home):
    (home / ".copy.txt.lock").write_bytes(b"")
    assert run("convert", "data.txt", "--out", "copy.txt").code == 0
    assert not list(home.glob(".*"))


def test_runs_that_write_elsewhere_go_on(run, home):
    with guard.guarded({"out": home / "taken"}, [], {"out": guard.FILE}, str):
        assert run("convert", "data.txt", "--out", "copy.txt").code == 0


def test_a_file_system_without_locks_is_written_to(run, home, monkeypatch):
    def refuse(*_):
        raise OSError(95, "not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    assert run("convert", "data.txt", "--out", "copy.txt").code == 0
    assert not list(home.glob(".*"))
