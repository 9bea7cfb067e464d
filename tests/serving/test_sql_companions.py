"""What goes with a model in SQL: a statement that re-ranks, a program that checks, notes; and the form of the text."""

from __future__ import annotations

import json
import runpy
import sqlite3
import sys

import numpy as np
import pytest

import rankinite as rk
from rankinite.errors import ArgumentError
from rankinite.models.normalised import Normalised
from rankinite.serving.proof import WrongExportError, prove
from refusals import refused
from serving.every_kind import linear_of, net_of, stumps
from serving.parity import case_of


def test_features_can_be_computed_in_the_same_statement(tmp_path):
    ranker = linear_of(4, ("age", "length"))
    queries = tmp_path / "queries.json"
    queries.write_text(json.dumps({"age": "2025 - year"}))
    made = rk.export(ranker, tmp_path / "made", to="sql", feature_queries=queries)
    assert any("1 of 2 features" in note and "rerank.sql" in note for note in made.notes)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE documents (id, year, length)")
    database.executemany("INSERT INTO documents VALUES (?, ?, ?)", [(f"d{n}", 2000 + n, n * 7 % 5) for n in range(20)])
    found = database.execute((tmp_path / "made" / "rerank.sql").read_text()).fetchall()
    rows = np.asarray([[25.0 - n, n * 7 % 5] for n in range(20)])
    expected = sorted(
        zip([f"d{n}" for n in range(20)], ranker.score(rows).tolist(), strict=True), key=lambda pair: (-pair[1], pair[0])
    )
    assert found == expected[:10]
    database.execute("CREATE VIEW features AS SELECT id, 2025 - year AS age, length FROM documents")
    database.execute(f"CREATE VIEW scored AS {(tmp_path / 'made' / 'model.sql').read_text()}")
    assert database.execute("SELECT id, score FROM scored ORDER BY score DESC, id").fetchall() == expected
    database.close()


@pytest.mark.parametrize("query", [{"match": "x"}, "  ", 3])
def test_a_query_of_a_feature_is_a_text(query, tmp_path):
    with refused(ArgumentError, setting="feature_queries", value=query):
        rk.export(stumps([0.0], [True]), tmp_path / "made", to="sql", feature_queries={"a": query})


@pytest.mark.parametrize("option", [[], ["--duckdb"]], ids=["sqlite", "duckdb"])
@pytest.mark.parametrize("names", [("a", "b"), ('x,"y', "new\nline"), ("alone",)])
def test_the_program_scores_the_sample_as_expected(names, option, tmp_path, monkeypatch):
    folder = tmp_path / "made"
    rk.export(linear_of(2, names), folder, to="sql")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["check.py", *option])
    runpy.run_path("check.py")
    expected = [float(line) for line in (folder / "sample-scores.txt").read_text().split()]
    assert [float(line) for line in (folder / "served.txt").read_text().split()] == expected
    assert len(expected) > 10


def test_what_the_database_must_have_is_said(tmp_path):
    notes = rk.export(net_of(0), tmp_path / "net", to="sql").notes
    assert any("SQLITE_ENABLE_MATH_FUNCTIONS" in note for note in notes)
    notes = rk.export(linear_of(0), tmp_path / "linear", to="sql").notes
    assert not any("SQLITE_ENABLE_MATH_FUNCTIONS" in note for note in notes)


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ("<= 0.5e0", "< 0.5e0"),
        ("<= 0.5e0", "<= 0.50000000000000001e1"),
        (' OR "a" IS NULL', ""),
        ("THEN 1e0", "THEN 1.0000000000000002e0"),
        ("0.25e0\n+", "0.125e0\n+"),
        ("CAST(", "COALESCE(0e0, "),
    ],
)
def test_a_wrong_statement_is_found_out(written, changed):
    case = case_of("sql", stumps([0.5], [True], start=0.25), served_missing="nan")
    statement = case.files["model.sql"].decode()
    assert statement.count(written) == 1
    with pytest.raises((WrongExportError, AssertionError)):
        prove(case.target, {"model.sql": statement.replace(written, changed).encode()}, case.plan)


def test_the_statement_is_plain_to_read():
    ranker = Normalised(stumps([0.5, 2.0], [True, False]), "all", 0.0, 2.0)
    assert case_of("sql", ranker, served_missing="nan").files["model.sql"].decode().split("\n") == [
        "WITH",
        "stage_0 AS MATERIALIZED (",
        'SELECT f."id" AS "id",',
        'CAST(f."a" AS DOUBLE PRECISION) AS "a"',
        'FROM "features" AS f),',
        "stage_1 AS MATERIALIZED (",
        'SELECT "id",',
        "0e0",
        '+ CASE WHEN "a" <= 0.5e0 OR "a" IS NULL THEN 0.5e0 ELSE -0.5e0 END',
        '+ CASE WHEN "a" <= 2e0 THEN 1e0 ELSE -1e0 END AS "sum_1"',
        "FROM stage_0)",
        'SELECT "id" AS "id",',
        '"sum_1" AS "score"',
        "FROM stage_1",
        "",
    ]
