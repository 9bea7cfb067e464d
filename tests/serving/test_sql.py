"""SQL statements: every kind of ranker in SQLite and DuckDB; numbers, names, missing values and sums to the bit."""

from __future__ import annotations

import math
import sqlite3
from fractions import Fraction
from types import SimpleNamespace

import duckdb
import numpy as np
import pytest

import rankinite as rk
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.serving.plan import one_leaf
from rankinite.serving.proof import own_scores
from rankinite.serving.target import exactness_of
from rankinite.serving.targets.sql_text import deepest_nesting, literal
from rankinite.trees.structure import no_trees
from refusals import refused
from serving.consumers.sql import duckdb_scores, scores, sqlite_scores
from serving.every_kind import ODD_NAMES, beside, linear_of, net_of, one_by_one, stumps
from serving.parity import case_of, differing
from serving.tall_trees import chain, perfect

KINDS = one_by_one()
PLAIN = {
    "forest",
    "another forest",
    "linear",
    "linear that refuses",
    "net without hidden units",
    "feature",
    "ascending feature",
}
"""Kinds without tanh and exp that are one ranker: their scores are the same bits."""


def served(ranker, matrix, **choices):
    """What both databases say of rows × the ranker's features, which must be the same."""
    case = case_of("sql", ranker, **choices)
    given = SimpleNamespace(files=case.files, target=case.target, plan=case.plan, matrix=np.asarray(matrix, np.float64))
    return scores([given])[0].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_scores_as_the_ranker_itself(kind):
    cases = [case_of("sql", KINDS[kind], served_missing=missing, rows=100) for missing in ("nan", "zero")]
    assert differing(cases, "sql") == []
    for case in cases:
        own, found = own_scores(case.plan, case.matrix), sqlite_scores(case)
        np.testing.assert_allclose(found, own, rtol=1e-13, atol=1e-13)
        exactness = exactness_of(case.target, case.plan.flat)
        assert exactness == ("exact" if kind in PLAIN else "last bits")
        assert (found == own).all() or exactness == "last bits"


# ---- numbers ----------------------------------------------------------------------------------------------------------


def test_numbers_are_read_as_they_were_written():
    """All sizes, the tiniest too, and those whose shortest decimal SQLite 3.40 misreads."""
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**64, 300, np.uint64).view(np.float64)
    misread = [-0.1981585132712156, 1.208599379076989, 0.03924345808050567, 2.9062838275543534e-303]
    numbers = np.concatenate(
        (
            bits[np.isfinite(bits)],
            random.integers(1, 2**52, 50, np.uint64).view(np.float64),  # below the smallest normal number
            2.0 ** random.integers(-1074, 1023, 50),
            random.normal(size=300),
            [*misread, 0.1, 1e22, 1e23, 5e-324, 1.7976931348623157e308, -0.5, 3.0, np.inf, -np.inf],
        )
    )
    for database in (sqlite3.connect(":memory:"), duckdb.connect()):
        found = database.execute(f"SELECT {', '.join(map(literal, numbers.tolist()))}").fetchall()[0]
        assert list(found) == numbers.tolist()
        assert {type(number) for number in found} == {float}  # DuckDB would make decimals of 0.1
        database.close()


def test_a_decimal_is_never_beside_the_middle_of_two_numbers():
    random = np.random.default_rng(1)
    for number in (random.normal(size=2000) * 10.0 ** random.integers(-20, 20, 2000)).tolist():
        text, below, above = literal(number), math.nextafter(number, -math.inf), math.nextafter(number, math.inf)
        assert float(text) == number
        place = Fraction(text)
        for other in (below, above):
            middle = (Fraction(other) + Fraction(number)) / 2
            assert abs(place - middle) > abs(Fraction(other) - Fraction(number)) / 50


@pytest.mark.parametrize("threshold", [0.1, -3.0, 0.0, 5e-324, 1e-300, 1e308, 0.03924345808050567])
def test_thresholds_are_compared_in_double(threshold):
    found = served(stumps([threshold, threshold], [True, False]), beside(threshold))
    assert found == [1.0 + 2.0, 1.0 + 2.0, -1.0 - 2.0, 1.0 - 2.0]


def test_infinite_thresholds_and_values():
    rows = [[np.inf], [1e308], [-1e308], [-np.inf], [np.nan]]
    assert served(stumps([np.inf, -np.inf], [True, True]), rows) == [-1.0, -1.0, -1.0, 3.0, 3.0]


def test_whole_numbers_and_texts_are_compared_as_doubles():
    """SQLite would compare whole numbers exactly, and put every text above every number."""
    sql = case_of("sql", stumps([2.0**53], [True])).files["model.sql"].decode()
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE features (id, a)")
    database.executemany(
        "INSERT INTO features VALUES (?, ?)", [(0, 2**53 + 1), (1, 2**53 + 2), (2, "1.5"), (3, "9e15"), (4, "1e16")]
    )
    assert sorted(database.execute(sql).fetchall()) == [(0, 1.0), (1, -1.0), (2, 1.0), (3, 1.0), (4, -1.0)]
    database.close()


# ---- missing values ---------------------------------------------------------------------------------------------------


def test_missing_values_count_as_the_centre_or_as_0_or_are_lowest():
    linear, lowest = Linear(("a",), [2.0], 1.0, [3.0], "mean"), np.finfo(np.float64).min
    assert served(linear, [[np.nan], [5.0]], served_missing="nan") == [1.0, 5.0]
    assert served(linear, [[np.nan]], served_missing="zero") == [-5.0]
    assert served(Feature("a", ascending=True), [[np.nan], [5.0], [np.inf]], served_missing="nan") == [lowest, -5.0, lowest]
    assert served(3.0 * Feature("a") + linear, [[np.nan]], served_missing="nan") == [lowest]  # not −inf
    forest = stumps([-1.0, 1.0], [True, False])
    assert served(forest, [[np.nan], [0.0]], served_missing="nan") == [1.0 - 2.0, -1.0 + 2.0]
    assert served(forest, [[np.nan], [0.0]], served_missing="zero") == [-1.0 + 2.0] * 2


def test_rankers_that_refuse_missing_values_score_null_and_say_so(tmp_path):
    ranker = linear_of(0, ("a", "b"), "refuse")
    assert np.isnan(served(ranker, [[1.0, np.nan], [1.0, 2.0]], served_missing="nan")).tolist() == [True, False]
    made = rk.export(ranker, tmp_path / "made", to="sql", served_missing="nan")
    assert any("NULL" in note for note in made.notes)
    assert not any("NULL" in note for note in rk.export(ranker, tmp_path / "zero", to="sql", served_missing="zero").notes)


# ---- shapes -----------------------------------------------------------------------------------------------------------


def test_trees_are_added_in_order_from_the_start_on():
    values = [(1e16, 0.0), *[(1.0, 0.0)] * 90, (-1e16, 0.0), (0.3, 0.0)]  # more than fit a step
    expected = 0.7
    for left, _ in values:
        expected += left
    assert expected != 0.7 + sum(left for left, _ in reversed(values))
    assert served(stumps([0.0] * 93, [False] * 93, values, start=0.7), [[-1.0]]) == [expected]


def test_zero_trees_and_trees_that_are_a_leaf():
    assert served(Forest(no_trees(), ("a", "b"), start=np.asarray([0.25])), [[], []]) == [0.25, 0.25]  # no feature is used
    leaf = Forest(one_leaf(0.5), ("a",), start=np.asarray([0.25]))
    assert served(leaf + stumps([1.0], [True]), [[1.0], [2.0], [np.nan]], served_missing="nan") == [1.75, -0.25, 1.75]
    grades = Forest(no_trees(), ("a",), start=np.zeros(2), grades=np.asarray([0.0, 3.0]))
    assert served(grades, [[]]) == [1.5]


@pytest.mark.parametrize("to_left", [True, False])
def test_very_deep_trees_are_not_nested(to_left):
    """SQLite's parser gives up after some twenty nested expressions."""
    rows = np.asarray([[-1.0], [0.5], [1.0], [499.5], [998.0], [5000.0]])
    assert served(chain(1000, to_left=to_left), rows) == [0.0, 1.0, 1.0, 500.0, 998.0, 1000.0]


def test_nesting_grows_with_the_logarithm_of_leaves():
    assert [deepest_nesting(perfect(depth).trees) for depth in range(6)] == list(range(6))
    assert deepest_nesting(chain(500, to_left=True).trees) == 1
    assert served(perfect(10), [[-1.0], [0.5], [1023.0], [512.0], [513.0]]) == [0.0, 0.0, 1022.0, 511.0, 512.0]


def test_three_thousand_trees():
    forest = random_forest(0, trees=3000, features=4, most=3)
    case = case_of("sql", forest, rows=50)
    own = own_scores(case.plan, case.matrix)
    assert (sqlite_scores(case) == own).all()
    assert (duckdb_scores(case) == own).all()


# ---- names ------------------------------------------------------------------------------------------------------------


def test_names_are_quoted():
    names = (
        *ODD_NAMES,
        'a"b',
        '""',
        "select",
        "f",
        "stage_0",
        "sum_1",
        "SUM_2",
        "linear_3",
        "x;--",
        "/*",
        "'",
        "\\",
        "%s",
        "?1",
    )
    ranker = 0.5 * linear_of(1, names) + 0.25 * random_forest(3, features=3, most=5).renamed(("sum_1", "select", "sum_9"))
    case = case_of("sql", ranker, rows=30)
    assert differing([case], "sql") == []


def test_a_table_without_a_feature_is_an_error():
    """SQLite takes quoted names that no column has for texts, unless they are asked of a table."""
    sql = case_of("sql", stumps([0.0], [True], names=("bm25",))).files["model.sql"].decode()
    for database, error in (
        (sqlite3.connect(":memory:"), sqlite3.OperationalError),
        (duckdb.connect(), duckdb.BinderException),
    ):
        database.execute("CREATE TABLE features (id INTEGER, bm26 REAL)")
        with pytest.raises(error, match="bm25"):
            database.execute(sql)
        database.close()


def test_names_that_differ_in_capitals_of_other_alphabets_stay():
    assert served(linear_of(0, ("é", "É")), [[1.0, 2.0]]) == [linear_of(0, ("é", "É")).score(np.asarray([[1.0, 2.0]]))[0]]


# ---- limits -----------------------------------------------------------------------------------------------------------


def test_what_databases_cannot_hold_is_refused():
    with refused(ArgumentError, value=2001):
        case_of("sql", linear_of(0, tuple(f"x{number}" for number in range(2000))))
    with refused(ArgumentError, value=2001):
        case_of("sql", net_of(0, ("a", "b"), hidden=(3, 2000)))
    with refused(ArgumentError, value=15):
        case_of("sql", perfect(15))
    with refused(ArgumentError, setting="engine_version", value="3.40"):
        rk.export(stumps([0.0], [True]), "nowhere", to="sql", engine_version="3.40")


def test_as_many_features_as_sqlite_takes():
    names = tuple(f"x{number}" for number in range(1999))
    linear, row = linear_of(0, names), np.random.default_rng(0).normal(size=(1, 1999))
    case = case_of("sql", linear, rows=3)
    given = SimpleNamespace(files=case.files, plan=case.plan, matrix=row)
    assert sqlite_scores(given).tolist() == linear.score(row).tolist()
