"""A flat ranker is the ranker: the same scores, or the same order where a scaling within queries is left out."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.errors import ArgumentError
from rankinite.models.query_summaries import QuerySummaries, summary_names
from rankinite.serving.flattening import flatten
from rankinite.serving.reference_scores import flat_scores
from refusals import refused

NAMES = ("f0", "f1", "f2")
DATA = random_dataset(3, queries=20, most=9)
FOREST, OTHER = random_forest(1), random_forest(2)
LINEAR = rk.Linear(NAMES, np.asarray([0.3, -2.0, 0.0]), bias=0.7, centre=np.asarray([0.1, 0.2, 0.3]))
NET = rk.Net(NAMES, (2,), np.linspace(-1, 1, 11), centre=np.asarray([0.5, 0.0, 0.1]), scale=np.asarray([1.0, 2.0, 0.5]))
TOP = rk.Linear(("a", "b"), np.asarray([0.5, -1.5]), bias=0.25, centre=np.asarray([1.0, -1.0]))
NET_TOP = rk.Net(("a", "b"), (2,), np.linspace(-0.5, 1, 9), centre=np.zeros(2), scale=np.ones(2))

SUMS = {
    "forest": FOREST,
    "McRank": random_forest(4, grades=(0.0, 1.0, 3.0)),
    "linear": LINEAR,
    "net": NET,
    "feature": rk.Feature("f1", ascending=True),
    "weighted forest": -0.5 * FOREST,
    "forests": 0.3 * FOREST + 0.7 * OTHER,
    "equal forests": 0.3 * FOREST + 0.7 * OTHER + 0.2 * FOREST,
    "everything": 0.3 * FOREST + 2.0 * LINEAR + 0.5 * NET + 0.1 * rk.Feature("f0") + OTHER,
    "scaled by all": rk.Normalised(FOREST, "all", 0.4, 1.7),
    "average": 0.5 * rk.Normalised(FOREST, "all", 0.4, 1.7) + 0.5 * rk.Normalised(OTHER, "all", -1.0, 0.3),
    "probability inside": FOREST + 2.0 * rk.Normalised(OTHER, "probability", 0.1, 2.0),
    "linear stack": rk.Stack((FOREST, OTHER), TOP),
    "net stack": rk.Stack((FOREST, LINEAR), NET_TOP),
    "nested": 0.5 * (0.5 * FOREST + rk.Normalised(0.5 * OTHER + FOREST, "all", 0.1, 3.0)) + LINEAR,
}


@pytest.mark.parametrize("name", SUMS)
def test_a_flat_ranker_has_the_rankers_scores(name):
    ranker = SUMS[name]
    flat = flatten(ranker)
    found = flat_scores(flat, DATA.features, NAMES)
    np.testing.assert_allclose(found, ranker.score(DATA), rtol=1e-12, atol=1e-12)
    assert flat.left_out == ""


def test_a_single_ranker_keeps_its_bits():
    for ranker in (FOREST, LINEAR, NET):
        flat = flatten(ranker)
        assert flat.same_bits
        np.testing.assert_array_equal(flat_scores(flat, DATA.features, NAMES), ranker.score(DATA))
    assert not flatten(0.5 * FOREST + OTHER).same_bits


def test_equal_forests_count_once_and_weights_become_leaves():
    flat = flatten(SUMS["equal forests"])
    assert flat.forest is not None
    assert len(flat.forest) == len(FOREST) + len(OTHER)
    np.testing.assert_array_equal(flat.forest.trees.value[: len(FOREST.trees.value)], 0.5 * FOREST.trees.value)


def test_a_forest_with_other_names_keeps_its_features():
    renamed = random_forest(5).renamed(["f2", "x", "f0"])
    flat = flatten(0.5 * FOREST + 0.5 * renamed)
    assert flat.names == ("f0", "f1", "f2", "x")
    rows = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    expected = 0.5 * FOREST.score(rows[:, :3]) + 0.5 * renamed.score(rows[:, [2, 3, 0]])
    np.testing.assert_allclose(flat_scores(flat, rows, flat.names), expected, rtol=1e-12)


def test_features_that_nothing_asks_for_are_not_used():
    assert flatten(rk.Linear(NAMES, np.asarray([0.0, 1.0, 0.0]))).used == ("f1",)
    asked = {NAMES[feature] for feature in FOREST.trees.feature if feature >= 0}
    assert set(flatten(FOREST).used) == asked


@pytest.mark.parametrize("scale", ["query", "rank", "probability"])
def test_the_last_scaling_changes_no_order(scale):
    ranker = rk.Normalised(0.5 * FOREST + 0.5 * OTHER, scale)
    flat = flatten(ranker)
    assert flat.left_out == scale
    flat_values, own = flat_scores(flat, DATA.features, NAMES), ranker.score(DATA)
    for first, last in zip(DATA.offsets[:-1], DATA.offsets[1:], strict=True):
        above = np.sign(flat_values[first:last, None] - flat_values[None, first:last])
        same = np.sign(own[first:last, None] - own[None, first:last])
        clear = np.abs(own[first:last, None] - own[None, first:last]) > 1e-12
        np.testing.assert_array_equal(above[clear], same[clear])


def test_peak_is_left_out_only_over_probabilities():
    certain = rk.Normalised(rk.Normalised(FOREST, "probability"), "peak")
    assert flatten(certain).left_out == "peak, probability"
    with refused(ArgumentError):
        flatten(rk.Normalised(FOREST, "peak"))


@pytest.mark.parametrize("scale", ["query", "rank"])
def test_a_part_that_needs_the_query_is_refused(scale):
    with refused(ArgumentError) as caught:
        flatten(FOREST + rk.Normalised(OTHER, scale))
    assert "distil" in caught.value.remedy


def test_summaries_of_queries_are_refused():
    top = random_forest(1, features=3 + 4).renamed([*NAMES, *summary_names(1)])
    with refused(ArgumentError) as caught:
        flatten(QuerySummaries((OTHER,), top))
    assert "mlflow" in caught.value.remedy


def test_a_feature_by_position_is_refused():
    with refused(ArgumentError, value=1):
        flatten(FOREST + rk.Feature(1))
