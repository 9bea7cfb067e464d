"""Batches as folds of an adaptation: each is judged by rankers of all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import rankinite as rk
from rankinite.adapt.held_out import holdouts_of
from refusals import refused

WORLD = rk.World(features=5, documents=10, noise=0.3)
BACKGROUND = rk.LambdaMART.plain(trees=8, leaves=4, min_rows=3).fit(rk.synthesise(30, part="valid", world=WORLD))
PLAIN = rk.synthesise(18, world=WORLD)
TARGET = replace(PLAIN, batches=np.array(["a", "b", "c"] * 6))


def test_each_batch_is_held_out_whole():
    parts = holdouts_of(TARGET, rk.NDCG(10), "batches", 0)
    assert [set(part.held.batches.tolist()) for part in parts] == [{"a"}, {"b"}, {"c"}]
    assert all(not set(part.rest.qids.tolist()) & set(part.held.qids.tolist()) for part in parts)
    assert sorted(np.concatenate([part.rows for part in parts]).tolist()) == list(range(TARGET.rows))


def test_methods_are_judged_on_batches_that_their_rankers_did_not_see():
    choice = rk.adapt.choose(BACKGROUND, TARGET, methods=["smart"], folds="batches", curve=False)
    trial = next(trial for trial in choice.trials if trial.method.name == "smart")
    assert len(trial.spreads) == 3 + 1
    plain = rk.adapt.choose(BACKGROUND, TARGET, methods=["smart"], folds=3, curve=False)
    other = next(trial for trial in plain.trials if trial.method.name == "smart")
    assert (trial.unseen != other.unseen).any()  # other parts
    np.testing.assert_array_equal(trial.ranker.score(PLAIN), other.ranker.score(PLAIN))  # of all queries


def test_data_without_batches_or_with_one_are_refused():
    with refused(rk.DataError, place=PLAIN.source):
        rk.adapt.choose(BACKGROUND, PLAIN, folds="batches")
    one = replace(PLAIN, batches=np.array(["a"] * 18))
    with refused(rk.DataError, place=PLAIN.source, value=1):
        rk.adapt.choose(BACKGROUND, one, folds="batches")
