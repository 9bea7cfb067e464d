"""Clicks on the command line: simulated, trained on with their positions, and shown."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import rankinite as rk
from rankinite.cli.app import app


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("clicks") / "log.parquet"
    run("synth", "--clicks", "--queries", 60, "--documents", 8, "--features", 4, "--sessions", 800, "--out", path)
    return path


def test_a_log_has_positions_and_the_truth_beside_it(log):
    data = rk.read(log)
    assert (data.queries, set(data.grades.tolist()), int(data.positions.max())) == (800, {0.0, 1.0}, 8)
    lines = (log.parent / "log.parquet.examination.csv").read_text().splitlines()
    assert lines[:3] == ["position,examination", "1,1.0", "2,0.5"]


def test_any_judged_data_can_be_shown_by_any_ranker(log, tmp_path):
    judged = tmp_path / "judged.txt"
    rk.write(rk.synthesise(30, world=rk.World(features=3, documents=5)), judged)
    found = json.loads(
        run(
            "synth", "--clicks", "--judged", judged, "--shown-by", "column:1", "--click-model", "cascade",
            "--shown", 3, "--sessions", 40, "--json", "--out", tmp_path / "log.txt",
        ).stdout
    )  # fmt: skip
    assert len(found["files"][0]["examination"]) == 3
    data = rk.read(tmp_path / "log.txt")
    assert data.positions[:3].tolist() == [1, 2, 3]
    assert (data.features[0, 1], data.features[1, 1]) == tuple(sorted(data.features[:2, 1], reverse=True))


def test_the_curve_is_shown_by_inspect_and_in_the_report(log, tmp_path):
    ranker, page = tmp_path / "ranker.rankinite", tmp_path / "page.html"
    run("train", log, "--debias", "pairwise", "--trees", 4, "--out", ranker, "--report", page, "--test", log, "--allow-overlap")
    shown = run("inspect", ranker).stdout
    assert "Clicks by position" in shown
    assert "skipped" in shown
    (training,) = json.loads(page.with_suffix(".json").read_text())["trainings"]
    assert training["examination"][0] == ["1", 1.0, 1.0]
    facts = json.loads(run("inspect", ranker, "--json").stdout)
    assert facts["history"]["examination"]["positions"][0] == 1
    assert facts["settings"]["debias"] == "pairwise"


def test_positions_are_named_where_nothing_tells_them(log, tmp_path):
    table = tmp_path / "log.csv"
    rk.write(rk.read(log), table)
    out = ("--trees", 2, "--out", tmp_path / "ranker.rankinite")
    assert "--position" in run("train", table, "--debias", "additive", *out, code=2).stderr
    run("train", table, "--position", "position", "--debias", "additive", *out)
    assert "is empty" in run("train", table, "--position", "", *out, code=2).stderr
    assert "shown" in run("train", table, "--position", "shown", *out, code=2).stderr


def test_grades_other_than_clicks_are_noted(log, tmp_path):
    data = rk.read(log)
    rk.write(data.map_grades({0: 0, 1: 3}), tmp_path / "graded.parquet")
    out = ("--trees", 2, "--out", tmp_path / "ranker.rankinite")
    assert (
        "every grade above 0 counts as clicked"
        in run("train", tmp_path / "graded.parquet", "--debias", "pairwise", *out).stderr
    )
    assert "counts as clicked" not in run("train", log, "--debias", "pairwise", *out).stderr


def test_bad_options_are_refused(log, tmp_path):
    assert "--clicks" in run("synth", "--shown-by", "column:0", "--out", tmp_path / "a.txt", code=2).stderr
    assert "one file" in run("synth", "--clicks", "--out", tmp_path / "folder", code=2).stderr
    assert "not kept in bins" in run("bin", log, "--position", "position", "--out", tmp_path / "log.bins", code=2).stderr
    run("synth", "--clicks", "--click-model", "bees", "--out", tmp_path / "a.txt", code=2)
