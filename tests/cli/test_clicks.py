"""Clicks on the command line: simulated, trained on with their positions, and shown."""

from __future__ import annotations

import json

import pytest

import rankinite as rk


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("clicks") / "log.parquet"
    judged = rk.synthesise(60, world=rk.World(features=4, documents=8))
    rk.write(rk.simulate_clicks(judged, judged.features[:, 0].astype(float), 800).data, path)
    return path


def test_a_log_has_positions_and_the_truth_beside_it(run, tmp_path):
    path = tmp_path / "log.parquet"
    few = ("--queries", 30, "--documents", 8, "--features", 4, "--sessions", 100)
    assert run("synth", "--clicks", *few, "--out", path).code == 0
    data = rk.read(path)
    assert (data.queries, set(data.grades.tolist()), int(data.positions.max())) == (100, {0.0, 1.0}, 8)
    lines = (tmp_path / "log.parquet.examination.csv").read_text().splitlines()
    assert lines[:3] == ["position,examination", "1,1.0", "2,0.5"]


def test_any_judged_data_can_be_shown_by_any_ranker(run, tmp_path):
    judged = tmp_path / "judged.txt"
    rk.write(rk.synthesise(30, world=rk.World(features=3, documents=5)), judged)
    few = ("--click-model", "cascade", "--shown", 3, "--sessions", 40, "--json")
    found = run("synth", "--clicks", "--judged", judged, "--shown-by", "column:1", *few, "--out", tmp_path / "log.txt")
    assert len(json.loads(found.out)["files"][0]["examination"]) == 3
    data = rk.read(tmp_path / "log.txt")
    assert data.positions[:3].tolist() == [1, 2, 3]
    assert (data.features[0, 1], data.features[1, 1]) == tuple(sorted(data.features[:2, 1], reverse=True))


def test_the_curve_is_shown_by_inspect_and_in_the_report(run, log, tmp_path):
    ranker, page = tmp_path / "ranker.rankinite", tmp_path / "page.html"
    few = ("--trees", 4, "--out", ranker, "--report", page, "--test", log, "--allow-overlap")
    assert run("train", log, "--debias", "pairwise", *few).code == 0
    shown = run("inspect", ranker).out
    assert "Clicks by position" in shown
    assert "skipped" in shown
    (training,) = json.loads(page.with_suffix(".json").read_text())["trainings"]
    assert training["examination"][0] == ["1", 1.0, 1.0]
    facts = json.loads(run("inspect", ranker, "--json").out)
    assert facts["history"]["examination"]["positions"][0] == 1
    assert facts["settings"]["debias"] == "pairwise"


def test_positions_are_named_where_nothing_tells_them(run, log, tmp_path):
    table = tmp_path / "log.csv"
    rk.write(rk.read(log), table)
    out = ("--trees", 2, "--out", tmp_path / "ranker.rankinite")
    done = run("train", table, "--debias", "additive", *out)
    assert (done.code, "--position" in done.err) == (2, True)
    assert run("train", table, "--position", "position", "--debias", "additive", *out).code == 0
    for name in ("", "shown"):
        assert run("train", table, "--position", name, *out).code == 2


def test_grades_other_than_clicks_are_noted(run, log, tmp_path):
    graded = tmp_path / "graded.parquet"
    rk.write(rk.read(log).map_grades({0: 0, 1: 3}), graded)
    out = ("--debias", "pairwise", "--trees", 2, "--out", tmp_path / "ranker.rankinite")
    assert "every grade above 0 counts as clicked" in run("train", graded, *out).err
    assert "counts as clicked" not in run("train", log, *out).err


def test_bad_options_are_refused(run, log, tmp_path):
    for option, value, arguments in (
        ("shown_by", "column:0", ("synth", "--shown-by", "column:0", "--out", tmp_path / "a.txt")),
        ("out", str(tmp_path / "folder"), ("synth", "--clicks", "--out", tmp_path / "folder")),
        ("positions", "position", ("bin", log, "--position", "position", "--out", tmp_path / "log.bins")),
    ):
        done = run(*arguments)
        assert (done.code, done.error.setting, done.error.value) == (2, option, value)
    assert run("synth", "--clicks", "--click-model", "bees", "--out", tmp_path / "a.txt").code == 2
    assert not list(tmp_path.iterdir())
