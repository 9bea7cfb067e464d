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
from serving.category_stumps import EVERY, WORDS, asking, asking_in_turn
from serving.every_kind import linear_of
from serving.parity import case_of, differing
from serving.random_rankers import with_sets

IN_TURN = asking_in_turn([[1, 3], [3]])


def lines_of(ranker, **choices):
    return case_of("sql", ranker, **choices).files["model.sql"].decode()


def test_words_become_codes_and_missing_ones_stay_missing():
    text = lines_of(asking([[3]]), served_missing="zero")
    words = """WHEN 'A' THEN ',0,' WHEN 'a' THEN ',1,' WHEN 'a "b"' THEN ',2,' WHEN 'it''s' THEN ',3,' WHEN 'say ''''\n' """
    assert f'CASE (CAST(f."a" AS VARCHAR) COLLATE "BINARY") {words}' in text
    assert "COALESCE" not in text


@pytest.mark.parametrize(
    ("members", "left", "right"),
    [
        ([3], """instr(',3,', "a") > 0""", """instr(',3,', "a") < 1 OR "a" IS NULL"""),
        ([0, 1, 2, 4, 5], """instr(',3,', "a") < 1""", """instr(',3,', "a") > 0 OR "a" IS NULL"""),
        ([0, 1, 2], """instr(',0,1,2,', "a") > 0""", """instr(',3,4,5,', "a") > 0 OR "a" IS NULL"""),
        (EVERY, '"a" IS NOT NULL', '"a" IS NULL'),
    ],
)
def test_the_shorter_list_of_codes_is_written_and_null_goes_right(members, left, right):
    assert f"CASE WHEN {left} THEN 1" in lines_of(asking([members]))
    assert f"CASE WHEN {right} THEN 2" in lines_of(asking_in_turn([members, [0]]))  # the smaller side is asked for


@pytest.mark.parametrize("seed", range(4))
def test_both_databases_score_categories_beside_numbers_and_other_rankers(seed):
    forest = with_sets(random_forest(seed, trees=6), {0: WORDS}, np.random.default_rng(seed))
    case = case_of("sql", 0.5 * forest + linear_of(seed, ("f1", "f2")), rows=200)
    assert not differing([case], "sql")


@pytest.mark.parametrize("library", [sqlite3, duckdb])
def test_whole_numbers_may_be_a_column_of_integers(library):
    forest = asking([[0, 2]], Vocabulary(("-3", "7", "400"), numeric=True))
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
    ("forest", "written", "changed"),
    [
        (IN_TURN, "'it''s'", "'its'"),
        (IN_TURN, " WHEN 'it''s' THEN ',3,'", ""),
        (IN_TURN, "(',3,',", "(',4,',"),
        (IN_TURN, "< 1 OR", "> 0 OR"),
        (IN_TURN, """< 1 OR "a" IS NULL""", "< 1"),
        (asking_in_turn([[0, 1, 2, 4, 5], [0]]), """> 0 OR "a" IS NULL""", "> 0"),
        (asking_in_turn([EVERY, [0]]), "IS NULL", "IS NOT NULL"),
        (asking([EVERY]), "IS NOT NULL", "IS NULL"),
        (asking([[0, 1, 2, 4, 5]]), """"a") < 1""", """"a") < 1 OR "a" IS NULL"""),
    ],
)
def test_a_wrong_statement_is_found_out(forest, written, changed):
    case = case_of("sql", forest, served_missing="nan")
    statement = case.files["model.sql"].decode()
    assert statement.count(written) == 1
    with pytest.raises(WrongExportError):
        prove(case.target, {"model.sql": statement.replace(written, changed).encode()}, case.plan)


@pytest.mark.parametrize("word", ["a\0b", "\ud800"])
def test_a_word_that_is_no_text_is_refused(word, tmp_path):
    with refused(ArgumentError, value=word):
        rk.export(asking([[0]], Vocabulary((word,))), tmp_path / "made", to="sql")
    assert not (tmp_path / "made").exists()
