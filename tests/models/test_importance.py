"""Importance of features is what counting splits, and evaluating shuffled data, gives."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.trees import random_forest
from rankinite.models.importance import permutation_importance
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


def test_shuffling_a_feature_costs_what_it_is_worth():
    data = random_dataset(11, queries=60, features=3)
    data = rk.read(data.features, grades=np.argsort(np.argsort(data.features[:, 1])) % 5, qid=data.query_of_row())
    data = data.rename_features(["f0", "f1", "f2"])
    ranker = rk.Feature("f1")
    drops = permutation_importance(ranker, data, "ndcg@10", repeats=4, seed=3)
    assert drops["f0"] == drops["f2"] == (0.0, 0.0)
    assert drops["f1"] != (0.0, 0.0)
    assert drops == permutation_importance(ranker, data, rk.NDCG(10), repeats=4, seed=3)
    assert np.isnan(permutation_importance(ranker, data, "ndcg@10", repeats=1)["f1"].error)
    forest = random_forest(12, features=3)
    mine = forest.permutation_importance(data, "ndcg@10", repeats=3, seed=1)
    assert set(mine) == set(forest.feature_names)
    means = [drop.mean for drop in mine.values()]
    assert means == sorted(means, reverse=True)
    with refused(rk.ArgumentError, setting="repeats", value=0):
        forest.permutation_importance(data, "ndcg", repeats=0)
    with refused(rk.DataError, value="ndarray"):
        forest.permutation_importance(data.features, "ndcg")


def test_the_drop_is_that_of_evaluating_shuffled_data():
    data = random_dataset(13, queries=40)
    forest = random_forest(13)
    drops = forest.permutation_importance(data, "ndcg@5", repeats=2, seed=7)
    whole = rk.evaluate(forest, data, "ndcg@5")["ndcg@5"].mean
    used = [name for name in forest.feature_names if forest.importance("count")[name]]
    for name, random in zip(used, np.random.default_rng(7).spawn(len(used)), strict=True):
        losses = []
        for _ in range(2):
            matrix = data.features.copy()
            column = data.feature_index(name)
            matrix[:, column] = random.permutation(matrix[:, column])
            losses.append(whole - rk.evaluate(forest.score(matrix), data, "ndcg@5")["ndcg@5"].mean)
        assert drops[name].mean == pytest.approx(np.mean(losses))
        assert drops[name].error == pytest.approx(abs(losses[0] - losses[1]) / 2)
