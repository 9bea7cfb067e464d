"""Contributions of every kind of ranker: exact where they can be, refused where scores are no sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.contributions import net_contributions
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.models.query_summaries import QuerySummaries, summary_names
from refusals import refused

DATA = random_dataset(0, queries=9, features=3)
NAMES = ("f0", "f1", "f2")


def net(features: int = 3, seed: int = 0, **settings) -> rk.Net:
    random = np.random.default_rng(seed)
    weights = random.normal(size=4 * features + 4 + 4 + 1)
    names = tuple(f"f{number}" for number in range(features))
    return rk.Net(names, (4,), weights, random.normal(size=features), random.random(features) + 0.5, **settings)


def linear(seed: int = 0) -> rk.Linear:
    random = np.random.default_rng(seed)
    return rk.Linear(NAMES, random.normal(size=3), 0.5, random.normal(size=3), nan="mean")


def test_linear_contributions_are_weight_times_distance_from_the_centre():
    ranker, matrix = linear(), DATA.features.astype(np.float64)
    found = ranker.contributions(DATA)
    away = np.where(np.isnan(matrix), 0.0, matrix - ranker.centre)
    np.testing.assert_array_equal(found.values, ranker.weights * away)
    assert found.base == 0.5
    np.testing.assert_allclose(found.scores, ranker.score(DATA), atol=1e-9, rtol=0)


def test_a_net_of_few_features_has_the_values_of_the_definition():
    ranker, matrix = net(5, nan="mean"), np.random.default_rng(1).normal(size=(4, 5))
    matrix[0, 2] = np.nan
    found = ranker.contributions(matrix)
    assert found.errors is None
    np.testing.assert_allclose(found.values, net_contributions(ranker, matrix), atol=1e-9, rtol=0)
    np.testing.assert_allclose(found.scores, ranker.score(matrix), atol=1e-9, rtol=0)


def test_a_net_of_many_features_is_sampled_within_its_errors(monkeypatch):
    ranker, matrix = net(13, 3), np.random.default_rng(1).normal(size=(12, 13))
    sampled = ranker.contributions(matrix, permutations=60, seed=5)
    np.testing.assert_allclose(sampled.scores, ranker.score(matrix), atol=1e-9, rtol=0)
    monkeypatch.setattr("rankinite.models.explanations.net_contributions.MOST_EXACT", 13)
    exact = ranker.contributions(matrix)
    assert exact.errors is None
    away = np.abs(sampled.values - exact.values) / sampled.errors
    assert np.mean(away < 2.0) > 0.9  # 95 % of normal errors
    assert away.max() < 6.0
    again = ranker.contributions(matrix, permutations=60, seed=5)
    monkeypatch.setattr("rankinite.models.explanations.net_contributions.MOST_EXACT", 12)
    assert np.array_equal(again.values, exact.values)
    assert np.array_equal(ranker.contributions(matrix, permutations=60, seed=5).values, sampled.values)
    assert not np.array_equal(ranker.contributions(matrix, permutations=60, seed=6).values, sampled.values)
    more = ranker.contributions(matrix, permutations=600, seed=5)
    assert more.errors.mean() < 0.5 * sampled.errors.mean()
    with rk.threads(1):
        assert np.array_equal(ranker.contributions(matrix, permutations=60, seed=5).values, sampled.values)


def test_features_that_a_net_leaves_out_are_no_features_to_try():
    ranker = net(14)
    ranker = replace(ranker, scale=np.where(np.arange(14) < 4, ranker.scale, 0.0))
    found = ranker.contributions(np.random.default_rng(1).normal(size=(3, 14)))
    assert found.errors is None
    assert not found.values[:, 4:].any()


def test_a_feature_is_its_own_contribution():
    found = rk.Feature("f1").contributions(DATA)
    np.testing.assert_array_equal(found.values[:, 0], rk.Feature("f1").score(DATA))
    assert (found.base, found.feature_names) == (0.0, ("f1",))
    assert rk.Feature(2).contributions(DATA).feature_names == ("f2",)


@pytest.mark.parametrize("seed", range(3))
def test_blends_add_their_parts_by_weight(seed):
    parts = random_forest(seed), linear(seed), random_forest(seed + 9, features=2)
    blend = 0.3 * parts[0] + (-0.7) * parts[1] + rk.Normalised(parts[2], "all", 0.4, 2.0)
    found = blend.contributions(DATA)
    np.testing.assert_allclose(found.scores, blend.score(DATA), atol=1e-9, rtol=0)
    one, two, three = (part.contributions(DATA).values for part in parts)
    expected = 0.3 * one - 0.7 * two
    expected[:, :2] += three / 2.0
    np.testing.assert_allclose(found.values, expected, atol=1e-12, rtol=0)


def test_a_stack_below_a_linear_ranker_is_a_sum_of_its_parts():
    top = rk.Linear(("a", "b"), np.asarray([0.5, -2.0]), 0.25, np.asarray([1.0, 3.0]))
    stack = rk.Stack((random_forest(0), linear()), top)
    np.testing.assert_allclose(stack.contributions(DATA).scores, stack.score(DATA), atol=1e-9, rtol=0)


def test_summaries_of_a_query_are_features_like_others():
    names = (*NAMES, *summary_names(1))
    ranker = QuerySummaries((rk.Feature("f0", ascending=True),), replace(random_forest(1, features=7), feature_names=names))
    data = rk.Dataset(
        features=np.nan_to_num(DATA.features),
        grades=DATA.grades,
        offsets=DATA.offsets,
        qids=DATA.qids,
        feature_names=NAMES,
    )
    found = ranker.contributions(data)
    assert found.feature_names == names
    np.testing.assert_allclose(found.scores, ranker.score(data), atol=1e-9, rtol=0)


def test_features_are_found_by_name_and_by_position():
    forest = random_forest(2)
    values = forest.contributions(DATA).values
    turned = DATA.select_features(["f2", "f0", "f1"])
    np.testing.assert_array_equal(forest.contributions(turned).values, values)
    foreign = forest.renamed(["Column_0", "Column_1", "Column_2"])
    found = foreign.contributions(DATA)
    np.testing.assert_array_equal(found.values, values)
    assert found.feature_names == NAMES


def test_forests_without_counts_are_refused():
    forest = random_forest(0)
    zeros = np.zeros(len(forest.trees.rows))
    bare = replace(forest, trees=replace(forest.trees, rows=zeros, curvature=zeros))
    with refused(rk.ArgumentError, place="contributions") as caught:
        bare.contributions(DATA)
    assert "neither counts" in str(caught.value)
    stumps = random_forest(0, most=1)
    lone = replace(stumps, trees=replace(stumps.trees, rows=np.zeros(5, int), curvature=np.zeros(5)))
    assert not lone.contributions(DATA).values.any()  # trees that are leaves need none


@pytest.mark.parametrize(
    "ranker",
    [
        random_forest(0, grades=(0.0, 1.0, 2.0)),
        rk.Normalised(random_forest(0), "query"),
        rk.Normalised(random_forest(0), "probability"),
        rk.Stack((random_forest(0), linear()), rk.Net(("a", "b"), (), np.ones(3), np.zeros(2), np.ones(2))),
        0.5 * rk.Normalised(random_forest(0), "rank") + random_forest(1),
    ],
    ids=["McRank", "query", "probability", "net on top", "blend"],
)
def test_scores_that_are_no_sums_are_refused(ranker):
    with refused(rk.ArgumentError, place="contributions") as caught:
        ranker.contributions(DATA)
    assert caught.value.remedy


def test_rankers_of_others_inside_a_blend_are_refused():
    class Other:
        def score(self, data):
            return np.zeros(data.rows)

    with refused(rk.ArgumentError, place="contributions", value="a Other"):
        (0.5 * random_forest(0) + Other()).contributions(DATA)


@pytest.mark.parametrize(("setting", "value"), [("permutations", 3), ("seed", -1)])
def test_settings_outside_their_range_are_refused(setting, value):
    with refused(rk.ArgumentError, setting=setting, value=value):
        random_forest(0).contributions(DATA, **{setting: value})
