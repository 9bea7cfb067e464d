"""LambdaBoost from the shell: ``train``, and ``inspect``, which shows the weights that were changed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankinite as rk

QUICK = ("-l", "lambdaboost", "--rounds", 12)


@pytest.fixture(scope="module")
def models(files, nets):
    """Made in Python: on its own, on top of a linear ranker, on top of trees."""
    train, valid = rk.read(files.train), rk.read(files.valid)
    bases = {"alone": None, "merged": nets["linear"], "corrected": files.model}
    paths = {name: files.folder / f"boosted-{name}.rankinite" for name in bases}
    for name, base in bases.items():
        learner = rk.LambdaBoost(rounds=12)
        learner.fit(train, valid, base=None if base is None else rk.load(base)).save(paths[name])
    return paths


def test_the_model_has_the_bytes_that_python_writes(run, files, nets, models, tmp_path):
    out = tmp_path / "m"
    for name, base in {"alone": None, "merged": nets["linear"], "corrected": files.model}.items():
        command = () if base is None else ("-b", base)
        done = run("train", files.train, "-v", files.valid, "-o", out, *QUICK, *command)
        assert (done.code, done.out) == (0, "")
        assert out.read_bytes() == models[name].read_bytes()


def test_the_summary_counts_rounds(run, files, tmp_path):
    arguments = ("train", files.train, "-v", files.valid, "-o", tmp_path / "m", *QUICK)
    done = run(*arguments, "--json", "--step", "exact", "--rate", 1)
    printed, history = json.loads(done.out), rk.load(tmp_path / "m").history
    assert (printed["learner"], printed["rounds"], printed["kept"]) == ("LambdaBoost", 12, history.best)
    assert f"round {history.best} of 12 kept (all rounds done)" in done.err
    assert "round 12 of 12: ndcg@10 train" in done.err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["--checkpoint", "c"], ["--checkpoint c", "lambdaboost", "Ctrl-C"]),
        (["--leaves", 9], ["--leaves", "lambdaboost", "lambdamart"]),
        (["--step", "newton"], ["--step newton", "least-squares"]),
        (["--step-low", 9], ["--step-low 9"]),
        (["--rounds", 0], ["--rounds 0"]),
    ],
    ids=lambda value: str(value[0]),
)
def test_what_is_refused(run, files, tmp_path, command, words):
    done = run("train", files.train, "-o", tmp_path / "m", "-l", "lambdaboost", *command)
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    for word in words:
        assert word in done.err


def test_a_step_of_another_learner_is_refused(run, files, tmp_path):
    done = run("train", files.train, "-o", tmp_path / "m", "--step", "least-squares")
    assert done.code == 2
    assert "newton-exact" in done.err


def test_inspect_shows_what_was_changed(run, models, nets):
    ranker, base = rk.load(models["merged"]), rk.load(nets["linear"])
    printed = run("inspect", models["merged"], "--weights").out
    changes = ranker.changes()
    assert f"{len(changes)} of {len(ranker.weights)} weights changed" in printed
    assert "12 rounds, round" in printed
    for name, change in changes.items():
        before, after = base.by_feature()[name], ranker.by_feature()[name]
        assert any(
            line.split()[:4] == [name, f"{before:+.6g}", f"{after:+.6g}", f"{change:+.6g}"] for line in printed.splitlines()
        )
        assert f"{name}: {after!r} [centre" in printed
        assert f"[before {before!r}]" in printed
    assert json.loads(run("inspect", models["merged"], "--json").out)["changes"] == changes


def test_inspect_shows_a_correction(run, models, files, tmp_path):
    correction = rk.load(models["corrected"]).parts[1][1]
    done = run("inspect", models["corrected"], "--weights", "--plot-history", tmp_path / "history.svg")
    assert done.code == 0
    assert "part 1, the correction" in done.out
    assert "trained by LambdaBoost" in done.out
    for name, change in correction.changes().items():
        assert any(line.split()[:2] == [name, f"{change:+.6g}"] for line in done.out.splitlines())
    assert correction.text().strip() in done.out
    assert (tmp_path / "history.svg").exists()
    refused = run("inspect", models["corrected"], "--trees", 1)
    assert refused.code == 2
    assert "--part" in refused.err
    assert run("inspect", models["corrected"], "--part", 0, "--trees", 1).code == 0


def test_what_is_trained_scores(run, models, files):
    data = rk.read(files.test)
    for name in models:
        done = run("score", models[name], files.test)
        assert done.code == 0
        scores = [float(line.split("\t")[-1]) for line in done.out.splitlines() if line and not line.startswith("qid")]
        np.testing.assert_allclose(scores, rk.load(models[name]).score(data), rtol=1e-6)
