"""``--report`` of compare and train."""

from __future__ import annotations

import json

import pytest

import rankinite as rk


def data_of(path):
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def test_compare_writes_a_report(run, files, tmp_path):
    path = tmp_path / "report.html"
    rankers = ("first=feature:1", f"model={files.model}")
    outcome = run("compare", *rankers, "--data", files.test, "-m", "ndcg@5", "--resamples", 200, "--report", path)
    assert outcome.code == 0, outcome.err
    assert str(path) in outcome.err
    content, data = data_of(path), rk.read(files.test)
    systems = {system["name"]: system for system in content["tables"][0]["systems"]}
    assert systems["model"]["results"][0]["mean"] == rk.evaluate(rk.load(files.model), data, "ndcg@5").results[0].mean
    assert systems["model"]["size"].endswith("trees")
    assert content["importance"]["rankers"] == ["first", "model"]
    assert "--report" in dict(content["facts"][0]["entries"])["command"]


def test_runs_judged_by_qrels_have_a_report_too(run, tmp_path):
    (tmp_path / "web.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d7 2\nq2 0 d8 0\n")
    for name, order in (("a", "d2 d1 d7 d8"), ("b", "d1 d2 d8 d7")):
        lines = [f"q{1 + k // 2} Q0 {d} {1 + k % 2} {9 - k} {name}" for k, d in enumerate(order.split())]
        (tmp_path / f"{name}.run").write_text("\n".join(lines))
    runs = (f"a={tmp_path / 'a.run'}", f"b={tmp_path / 'b.run'}")
    outcome = run("compare", *runs, "--data", tmp_path / "web.qrels", "-m", "map", "--report", tmp_path / "r.html")
    assert outcome.code == 0, outcome.err
    assert data_of(tmp_path / "r.html")["queries"]["documents"]["ids"] == ["d1", "d2", "d8", "d7"]


@pytest.mark.parametrize("judged", ["test", "valid", "neither"])
def test_train_writes_a_report(run, files, settings, tmp_path, judged):
    path = tmp_path / "report.html"
    options = {"test": ["--test", files.test, "-v", files.valid], "valid": ["-v", files.valid], "neither": []}[judged]
    outcome = run("train", files.train, *options, *settings, "--out", tmp_path / "m.rankinite", "--report", path)
    assert outcome.code == 0, outcome.err
    content = data_of(path)
    assert content["trainings"][0]["best"] == rk.load(tmp_path / "m.rankinite").history.best
    assert (content["queries"] is None) == (judged == "neither")
    assert any("flatter" in sentence for sentence in content["verdict"]) == (judged == "valid")
    named = next(facts["entries"] for facts in content["facts"] if facts["title"] == "Data")
    assert named[0][1].startswith(str(files.train))


def test_training_on_a_base_is_set_against_it(run, files, settings, tmp_path):
    path = tmp_path / "report.html"
    options = ["--test", files.test, "--base", files.model, "--quiet", "--report", path]
    outcome = run("train", files.valid, *options, *settings, "--out", tmp_path / "m.rankinite")
    assert (outcome.code, outcome.err) == (0, "")
    content = data_of(path)
    assert (content["queries"]["before_name"], content["queries"]["after_name"]) == ("base", "model")
    assert content["moved_trees"][0]["added"] > 0


@pytest.mark.parametrize("verb", ["train", "compare"])
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_done(run, files, tmp_path, verb):
    arguments = {
        "train": ("train", files.train, "--out", tmp_path / "m.rankinite"),
        "compare": ("compare", "feature:1", "feature:2", "--data", files.test),
    }[verb]
    for path in (tmp_path / "report.txt", tmp_path / "absent" / "r.html"):
        outcome = run(*arguments, "--report", path)
        assert outcome.code == 2
        assert outcome.error.place == str(path)
    assert list(tmp_path.iterdir()) == []
