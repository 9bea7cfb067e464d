"""Categories in SQL: words and their codes, in both databases; what is unknown or NULL; and words that no text can hold."""

from __future__ import annotations

import runpy
import sqlite3
import sys

import duckdb
import numpy as np
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.data.categories import Vocabulary
from rankinite.errors import ArgumentError
from rankinite.serving.proof import WrongExportError, prove
from refusals import refused
from serving.category_stumps import EVERY, WORDS, asking
from serving.every_kind import linear_of
from serving.parity import case_of, differing
from serving.random_rankers import with_sets


def lines_of(ranker, **choices):
    return case_of("sql", ranker, **choices).files["model.sql"].decode()


def test_words_become_codes_and_the_shorter_list_of_codes_is_written():
    text = lines_of(asking([[3], [0, 1, 2, 4, 5]], [False, True]), served_missing="zero")
    words = """WHEN 'A' THEN ',0,' WHEN 'a' THEN ',1,' WHEN 'a "b"' THEN ',2,' WHEN 'it''s' THEN ',3,' WHEN 'say ''''\n' """
    assert f'CASE (CAST(f."a" AS VARCHAR) COLLATE "BINARY") {words}' in text
    assert """CASE WHEN instr(',3,', "a") > 0 THEN """ in text
    assert """CASE WHEN instr(',3,', "a") < 1 OR "a" IS NULL THEN """ in text
    assert "COALESCE" not in text


def test_sets_of_all_categories_ask_only_whether_there_is_one():
    text = lines_of(asking([EVERY, EVERY], [False, True]), served_missing="nan")
    assert 'CASE WHEN "a" IS NOT NULL THEN ' in text
    assert "CASE WHEN TRUE THEN " in text


@pytest.mark.parametrize("seed", range(4))
def test_both_databases_score_categories_beside_numbers_and_other_rankers(seed):
    forest = with_sets(random_forest(seed, trees=6), {0: WORDS}, np.random.default_rng(seed))
    case = case_of("sql", 0.5 * forest + linear_of(seed, ("f1", "f2")), rows=200)
    assert not differing([case], "sql")


@pytest.mark.parametrize("library", [sqlite3, duckdb])
def test_whole_numbers_may_be_a_column_of_integers(library):
    forest = asking([[0, 2]], [False], Vocabulary(("-3", "7", "400"), numeric=True))
    database = library.connect(":memory:")
    database.execute("CREATE TABLE features (id INTEGER, a INTEGER)")
    database.execute("INSERT INTO features VALUES (0, -3), (1, 7), (2, 400), (3, 8), (4, NULL)")
    found = dict(database.execute(lines_of(forest)).fetchall())
    database.close()
    left, right = found[0], found[1]
    assert left != right
    assert found == {0: left, 1: right, 2: left, 3: right, 4: right}


@pytest.mark.parametrize("option", [[], ["--duckdb"]], ids=["sqlite", "duckdb"])
def test_the_program_scores_a_sample_of_words(option, tmp_path, monkeypatch):
    folder = tmp_path / "made"
    forest = with_sets(random_forest(3, trees=6), {0: WORDS}, np.random.default_rng(3))
    rk.export(forest, folder, to="sql", served_missing="nan")
    assert "it's" in (folder / "sample.csv").read_text()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["check.py", *option])
    runpy.run_path("check.py")
    expected = (folder / "sample-scores.txt").read_text().split()
    assert list(map(float, (folder / "served.txt").read_text().split())) == list(map(float, expected))


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ("'it''s'", "'its'"),
        ("(',3,',", "(',4,',"),
        ("< 1 OR", "> 0 OR"),
        ("""< 1 OR "a" IS NULL""", "< 1"),
        ("IS NOT NULL", "IS NULL"),
        ("CASE WHEN TRUE", "CASE WHEN FALSE"),
        (" WHEN 'it''s' THEN ',3,'", ""),
    ],
)
def test_a_wrong_statement_is_found_out(written, changed):
    case = case_of("sql", asking([[0, 1, 2, 4, 5], EVERY, EVERY], [True, False, True]), served_missing="nan")
    statement = case.files["model.sql"].decode()
    assert statement.count(written) == 1
    with pytest.raises(WrongExportError):
        prove(case.target, {"model.sql": statement.replace(written, changed).encode()}, case.plan)


@pytest.mark.parametrize("word", ["a\0b", "\ud800"])
def test_a_word_that_is_no_text_is_refused(word, tmp_path):
    with refused(ArgumentError, value=word):
        rk.export(asking([[0]], [False], Vocabulary((word,))), tmp_path / "made", to="sql")
    assert not (tmp_path / "made").exists()
