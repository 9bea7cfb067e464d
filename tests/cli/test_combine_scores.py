"""``rankinite combine`` of runs and score files: the scores it writes are those of Python, and it calls them no model."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankinite as rk
from rankinite.errors import ArgumentError

WORLD = rk.World(features=3, documents=6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs, one of which has no document of some queries, scores, judgements and a model."""
    folder = tmp_path_factory.mktemp("given")
    data = rk.synthesise(24, world=WORLD, doc_ids=True)
    rk.write(data, folder / "web.parquet")
    rk.write(data.select_queries(range(12)), folder / "dev.qrels")
    rk.write(data.select_queries(range(12, 24)), folder / "test.qrels")
    rk.write_run(folder / "all.run", data, rk.Feature(0))
    scores = rk.Feature(1).score(data)
    scores[np.arange(len(scores)) % 3 == 0] = -np.inf
    rk.write_run(folder / "some.run", data, scores)
    rk.write_scores(folder / "c.txt", data, rk.Feature(2))
    rk.Feature("2").save(folder / "model.rankinite")
    return folder


def test_runs_become_a_run(run, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    out = tmp_path / "both.run"
    done = run("combine", "x=all.run", "y=some.run", "-d", "dev.qrels", "-t", "test.qrels", "-o", out, "--json")
    found = rk.combine.exact("all.run", "some.run", rk.read("dev.qrels"), names=["x", "y"])
    found.write_scores(tmp_path / "python.run")
    assert out.read_bytes() == (tmp_path / "python.run").read_bytes()
    printed = json.loads(done.out)
    assert printed["scores"] == str(out)
    assert "model" not in printed
    assert (printed["value"], printed["weights"], printed["warnings"]) == (
        found.value,
        list(found.weights),
        list(found.warnings),
    )
    seen = rk.compare({"x": "all.run", "y": "some.run", "combined": found}, rk.read("test.qrels"), "ndcg@10")
    assert {name: value["mean"] for name, value in printed["test"].items()} == {
        name: seen[name]["ndcg@10"].mean for name in seen.systems
    }
    assert f"{out} has the combined scores of 72 documents" in done.err


@pytest.mark.parametrize("method", ["exact", "cyclic", "average", "powell", "stacked"])
def test_scores_and_models_become_scores(run, folder, tmp_path, monkeypatch, method):
    monkeypatch.chdir(folder)
    done = run("combine", "model.rankinite", "c.txt", "-d", "web.parquet", "-o", tmp_path / "both.csv", "--method", method)
    assert done.code == 0
    lines = (tmp_path / "both.csv").read_text().splitlines()
    assert lines[0] == '"qid","doc_id","score","rank"'
    assert len(lines) == 1 + 24 * 6


def test_scores_are_not_called_a_model(run, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    done = run("combine", "all.run", "model.rankinite", "-d", "web.parquet", "-o", tmp_path / "both.rankinite")
    assert done.code == 2
    assert isinstance(done.error, ArgumentError)
    assert done.error.setting == "out"
    assert not list(tmp_path.iterdir())


def test_arrays_have_no_scores_of_test_data(run, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    rk.write(rk.synthesise(9, part="test", world=WORLD, doc_ids=True), tmp_path / "later.parquet")
    options = ("-d", "web.parquet", "-t", tmp_path / "later.parquet", "-o", tmp_path / "both.txt")
    done = run("combine", "model.rankinite", "c.txt", *options)
    assert done.code == 2
    assert not (tmp_path / "both.txt").exists()


def test_a_run_with_queries_that_the_data_lack_is_noted(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    part = rk.read("web.parquet").select_queries(range(20))
    rk.write(part, folder / "part.parquet")
    done = run("evaluate", "all.run", "part.parquet", "-m", "ap")
    assert done.code == 0
    assert "left out: 4" in done.err
