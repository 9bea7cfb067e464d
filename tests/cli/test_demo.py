"""``rankinite demo``: the whole job, with the commands that do it, on markets small enough for a test."""

from __future__ import annotations

import shlex

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import make_small
from rankinite.cli.verbs import demo


@pytest.fixture
def small(monkeypatch):
    make_small(monkeypatch)
    monkeypatch.setattr(demo, "MARKET", ("--documents", "8", "--features", "5", "--noise", "0.3", "--shift", "0.5"))
    monkeypatch.setattr(demo, "QUERIES", {"big": "40", "valid": "20", "new": "12", "test": "20"})
    monkeypatch.setattr(demo, "TREES", "10")


def test_a_background_is_trained_and_adapted_and_all_is_saved(small, run, tmp_path):
    result = run("demo", "--out", tmp_path / "here", "--quiet")
    assert result.code == 0, result.err
    adapted = tmp_path / "here" / "adapted"
    assert str(adapted / "report.html") in result.out
    assert "</html>" in (adapted / "report.html").read_text(encoding="utf-8")
    test = rk.read(tmp_path / "here" / "new-market-test.txt")
    before, after = (rk.load(path) for path in (tmp_path / "here" / "big-market.rankinite", adapted / "model.rankinite"))
    assert np.isfinite(after.score(test)).all()
    assert not np.array_equal(before.score(test), after.score(test))


@pytest.mark.slow
def test_the_commands_it_shows_do_the_same(small, run, tmp_path):
    shown = run("demo", "--out", tmp_path / "here", "--quiet").out
    commands = [shlex.split(line)[2:] for line in shown.splitlines() if line.startswith("$ rankinite ")]
    assert [command[0] for command in commands] == ["synth", "synth", "synth", "synth", "train", "adapt"]
    model = tmp_path / "here" / "adapted" / "model.rankinite"
    before = model.read_bytes()
    model.unlink()
    for command in commands:
        assert run(*command).code == 0
    assert model.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_refused(run, tmp_path):
    (tmp_path / "file").write_text("")
    result = run("demo", "--out", tmp_path / "file" / "here")
    assert result.code == 2
    assert result.error.place == str(tmp_path / "file" / "here")


def test_what_another_run_has_made_is_not_replaced(run, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "_run", lambda _: (tmp_path / "new-market.txt").touch())
    assert run("demo", "--out", tmp_path).code == 0
    assert run("demo", "--out", tmp_path).code == 0  # the same run
    refused = run("demo", "--out", tmp_path, "--seed", 1)
    assert (refused.code, refused.out) == (2, "")
    assert f"--out {tmp_path} " in refused.err
    assert "new-market.txt" in refused.err
    assert "--overwrite" in refused.err
    replaced = run("demo", "--out", tmp_path, "--seed", 1, "--overwrite")
    assert replaced.code == 0
    assert "--overwrite" in next(line for line in replaced.out.splitlines() if line.startswith("$ rankinite adapt"))
    assert run("demo", "--out", tmp_path).code == 2
