"""Importance of features is what counting splits, and evaluating shuffled data, gives."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.evaluation.significance import t_interval
from rankinite.models.explanations.shuffles import shuffles
from rankinite.trees.structure import LEAF
from refusals import refused

FOREST = random_forest(1, trees=6, features=3)


def test_importance_is_what_counting_says():
    gains = dict.fromkeys(FOREST.feature_names, 0.0)
    counts = dict.fromkeys(FOREST.feature_names, 0)
    for feature, gain in zip(FOREST.trees.feature.tolist(), FOREST.trees.gain.tolist(), strict=True):
        if feature != LEAF:
            gains[FOREST.feature_names[feature]] += gain
            counts[FOREST.feature_names[feature]] += 1
    assert FOREST.importance() == gains
    assert FOREST.importance("count") == counts
    for kind in ("gain", "count"):
        values = list(FOREST.importance(kind).values())
        assert values == sorted(values, reverse=True)
    with refused(rk.ArgumentError, setting="kind", value="cover"):
        FOREST.importance("cover")


def rankers():
    forest, other = random_forest(12, features=3), random_forest(14, features=3)
    linear = rk.Linear(("f0", "f1", "f2"), [1.0, -0.5, 0.25])
    data = judged()
    return {
        "forest": forest,
        "blend": 0.3 * forest + 0.7 * linear,
        "net": rk.LambdaRank(hidden=(3,), epochs=2, seed=1).fit(data),
        "linear": linear,
        "feature": rk.Feature("f1"),
        "scaled by query": rk.Normalised(other, "query"),
        "stack": rk.combine.stacked({"a": forest, "b": other}, data).ranker,
    }


def judged():
    return random_dataset(11, queries=12, features=3).rename_features(["f0", "f1", "f2"])


@pytest.mark.parametrize("name", ["forest", "blend", "net", "linear", "feature", "scaled by query", "stack"])
def test_the_loss_of_any_ranker_is_that_of_evaluating_shuffled_queries(name):
    """Oracle: each query alone is scored with rows that were exchanged by hand, then the means are taken."""
    data, ranker = judged(), rankers()[name]
    found = rk.permutation_importance(ranker, data, "ndcg@5", repeats=2, seed=7)
    assert found["f1"] == ranker.permutation_importance(data, "ndcg@5", repeats=2, seed=7)["f1"]
    whole = rk.evaluate(ranker, data, "ndcg@5")["ndcg@5"]
    counted = ~np.isnan(whole.per_query)
    assert (found.value, found.queries) == (pytest.approx(whole.mean), counted.sum())
    for one in found.features:
        column = data.feature_index(one.feature)
        losses = np.zeros(data.queries)
        for source in shuffles(data, one.feature, 2, 7):
            matrix = data.features.copy()
            matrix[:, column] = matrix[source, column]
            moved = replace(data, features=matrix)
            losses += (whole.per_query - rk.evaluate(ranker, moved, "ndcg@5")["ndcg@5"].per_query) / 2
        assert one.mean == pytest.approx(losses[counted].mean(), abs=1e-12)
        assert one.interval == pytest.approx(t_interval(losses[counted]), abs=1e-12)
    means = [one.mean for one in found.values()]
    assert means == sorted(means, reverse=True)


def test_values_stay_in_their_query_and_all_orders_come_up_alike():
    data = judged()
    query_of_row = data.query_of_row()
    for source in shuffles(data, "f1", 20, 3):
        np.testing.assert_array_equal(query_of_row[source], query_of_row)
        assert sorted(source.tolist()) == list(range(data.rows))
    three = rk.read(np.arange(3.0)[:, None], grades=[0, 1, 2], group=[3])
    orders, counts = np.unique(list(shuffles(three, "1", 3000, 0)), axis=0, return_counts=True)
    assert len(orders) == 6
    assert np.abs(counts - 500).max() < 100


def test_a_query_is_worth_what_its_own_explanation_says_whatever_other_queries_there_are():
    data, forest = judged(), random_forest(12, features=3)
    query = int(np.flatnonzero(~np.isnan(rk.evaluate(forest, data, "ndcg@5")["ndcg@5"].per_query))[0])
    asked = forest.explain(data, data.qids[query], measure="ndcg@5", repeats=3)
    alone = {one.feature: one.shuffled for one in asked.features}
    found = forest.permutation_importance(data.select_queries([query]), "ndcg@5", repeats=3)
    assert {name: one.mean for name, one in found.items()} == pytest.approx(alone, abs=1e-12)
    assert found["f0"].interval == (-np.inf, np.inf)
    assert found.to_dict()["features"][0]["interval"] == [None, None]


def test_what_cannot_rank_is_worth_nothing():
    data = judged()
    matrix = data.features.copy()
    matrix[:, 0] = data.query_of_row()  # the same for all documents of a query
    data = replace(data, features=matrix)
    found = rk.Linear(("f0", "f1"), [5.0, 1.0]).permutation_importance(data)
    assert (found["f0"].mean, found["f0"].interval) == (0.0, (0.0, 0.0))
    assert set(found) == {"f0", "f1"}  # f2 is no feature of it
    assert len(found) == 2
    assert found["f1"].mean != 0.0


def test_intervals_cover_the_loss_of_all_queries_as_often_as_they_say():
    """The truth is the mean over many queries; samples of 40 are drawn from them."""
    data = rk.synthesise(3000, world=rk.World(documents=6, features=3, noise=0.3))
    ranker, name = rk.Linear(data.feature_names, [1.0, 0.5, 0.25]), data.feature_names[0]
    truth = ranker.permutation_importance(data, "ndcg", features=[name], repeats=2)[name].mean
    inside = 0
    for start in range(0, 3000, 40):
        part = data.select_queries(np.arange(start, start + 40))
        low, high = ranker.permutation_importance(part, "ndcg", features=[name], repeats=2, confidence=0.9)[name].interval
        inside += low <= truth <= high
    assert inside / 75 == pytest.approx(0.9, abs=0.1)


def test_an_error_that_grows_is_a_loss_and_the_table_says_what_was_done():
    data = judged()
    ranker = rk.Linear(("f0", "f1", "f2"), [0.0, 1.0, 0.0])
    found = ranker.permutation_importance(data, rk.PairwiseErrors(), repeats=1)
    errors = [rk.evaluate(s, data, rk.PairwiseErrors()).results[0].mean for s in (ranker, _shuffled(data, "f1"))]
    assert found["f1"].mean == pytest.approx(errors[1] - errors[0])
    table = found.grid(2)
    assert len(table.rows) == 2
    assert "1 more feature loses less." in table.notes
    assert any("shuffled within each query, once" in note for note in table.notes)
    assert str(found) == found.grid().text()
    assert json.loads(found.to_json()) == found.to_dict()


def _shuffled(data, name):
    """The scores of a ranker of this one feature, shuffled as the importance does."""
    return data.in_row_order(data.features[next(shuffles(data, name, 1, 0)), data.feature_index(name)].astype(float))


def test_what_cannot_be_shuffled_is_refused():
    data, forest = judged(), random_forest(12, features=3)
    with refused(rk.ArgumentError, setting="repeats", value=0):
        forest.permutation_importance(data, "ndcg", repeats=0)
    with refused(rk.ArgumentError, setting="features", value="f1"):
        forest.permutation_importance(data, "ndcg", features="f1")
    with refused(rk.DataError, value="g"):
        forest.permutation_importance(data, "ndcg", features=["g"])
    with refused(rk.DataError, value="ndarray"):
        forest.permutation_importance(data.features, "ndcg")
