"""Pooling: both data sets as one, a target query of weight W counting like W of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import TREES, background_data, shuffled, target, unseen
from oracles.datasets import contents
from rankinite.adapt import pool
from rankinite.adapt.methods.pool import pool_data
from refusals import refused


def coarse(data):
    """With few values per feature: bins are then the same however often a row is repeated."""
    return replace(data, features=np.round(data.features * 4).astype(np.float32))


def repeated(data, times):
    """Every query this many times, under different names."""
    return rk.concat([data] * times, prefixes=[f"{number}:" for number in range(times)])


def test_all_rows_and_queries_are_there_with_their_weights():
    few = target().with_weights(np.linspace(1, 2, 12))
    both = pool_data(background_data(), few, 3.0)
    assert (both.rows, both.queries) == (background_data().rows + few.rows, background_data().queries + few.queries)
    weights = dict(zip(both.qids.tolist(), both.weights.tolist(), strict=True))
    assert {weights[f"background:{qid}"] for qid in background_data().qids.tolist()} == {1.0}
    assert [weights[qid] for qid in few.qids.tolist()] == (3.0 * few.weights).tolist()
    plain = {qid: {**content, "weight": None} for qid, content in contents(both).items()}
    parts = {f"background:{qid}": content for qid, content in contents(background_data()).items()} | contents(target())
    assert plain == parts


def test_queries_of_both_may_have_the_same_names():
    same = replace(target(), qids=background_data().qids[:12])
    assert pool_data(background_data(), same, 1.0).queries == 52


@pytest.mark.parametrize("learner", [rk.MART(trees=10, leaves=6, min_rows=1), rk.RankNetTrees(trees=10, leaves=6, min_rows=1)])
@pytest.mark.parametrize("weight", [2, 4])
def test_a_weight_counts_like_repeating_the_queries(learner, weight):
    """For losses without ranks, that is: lambdas rank tied documents by content, and a qid is part of it.

    Sums are of gradients as whole numbers, whose unit depends on the number of rows: hence not to the last bit.
    """
    web, few, new = coarse(background_data()), coarse(target()), coarse(unseen())
    weighed = pool(web, few, weight=weight, learner=learner).score(new)
    twins = learner.fit(rk.concat([web, repeated(few, weight)], prefixes=("background:", "")))
    assert weighed == pytest.approx(twins.score(new), rel=1e-5)
    assert weighed != pytest.approx(pool(web, few, learner=learner).score(new), rel=1e-3)


def test_a_weight_of_one_is_training_on_both():
    both = rk.concat([background_data(), target()], prefixes=("background:", ""))
    assert (
        pool(background_data(), target(), learner=TREES).score(unseen()).tobytes() == TREES.fit(both).score(unseen()).tobytes()
    )


def test_neither_order_nor_threads_change_a_bit():
    with rk.threads(1):
        one = pool(background_data(), target(), weight=3, learner=TREES)
    with rk.threads(2):
        other = pool(shuffled(background_data())[0], shuffled(target(), 1)[0], weight=3, learner=TREES)
    assert one.score(unseen()).tobytes() == other.score(unseen()).tobytes()


def test_bad_input_is_refused():
    for weight in (0.0, -1.0, "ten"):
        with refused(rk.ArgumentError, owner="pool", setting="weight", value=weight):
            pool(background_data(), target(), weight=weight)
    with refused(rk.ArgumentError, owner="pool", setting="weight"):
        pool(background_data(), target(), weight=np.nan)
    with refused(rk.DataError, place=background_data().source, value=4):
        pool(background_data().select_features(["1", "2", "3", "4"]), target())
    binary = replace(target(), grades=np.minimum(target().grades, 1))
    with refused(rk.DataError, place=background_data().source, value=40):
        pool(background_data(), binary)
    assert isinstance(pool(background_data(), binary, same_scale=True, learner=replace(TREES, trees=1)), rk.Forest)
