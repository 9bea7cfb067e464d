"""Cross-validation: the pooled values are those of rankers that were trained, fold by fold, without the query."""

from __future__ import annotations

import numpy as np
import pytest

import rankinite as rk
from rankinite.data.folds import batch_holdouts
from refusals import refused

WORLD = rk.World(features=5, documents=12, noise=0.3)
DATA = rk.synthesise(40, world=WORLD)
TREES = rk.LambdaMART.plain(trees=5, leaves=4, min_rows=3)
POINTS = rk.MART(trees=5, leaves=4, min_rows=3)


def by_hand(trainer, folds):
    """The measure of every query, by query id."""
    values = {}
    for fold in folds:
        result = rk.evaluate(trainer.fit(fold.train, fold.valid), fold.test, "ndcg@10")
        values |= dict(zip(fold.test.qids.tolist(), result["ndcg@10"].per_query.tolist(), strict=True))
    return values


def pooled(comparison, name):
    evaluation = comparison[name]
    return dict(zip(evaluation.qids.tolist(), evaluation["ndcg@10"].per_query.tolist(), strict=True))


def test_every_query_is_scored_by_a_ranker_that_did_not_see_it():
    found = rk.cross_validate({"trees": TREES, "points": POINTS}, DATA, 4, seed=3)
    for name, trainer in {"trees": TREES, "points": POINTS}.items():
        expected = by_hand(trainer, rk.k_folds(DATA, 4, seed=3))
        assert set(expected) == set(DATA.qids.tolist())
        np.testing.assert_equal(pooled(found, name), expected)
    assert found.pair("trees", "points", "ndcg@10") is not None


def test_letor_parts_rotate():
    parts = [DATA.select_queries(range(first, first + 8)) for first in range(0, 40, 8)]
    found = rk.cross_validate([TREES, POINTS], parts)
    assert found.systems == ("LambdaMART", "MART")
    np.testing.assert_equal(pooled(found, "LambdaMART"), by_hand(TREES, rk.rotating_folds(parts)))


def test_batches_are_tested_by_rankers_of_all_others():
    names = np.asarray(["spring", "summer", "autumn"])[np.arange(40) % 3]
    data = rk.concat([DATA]).with_batches(names) if hasattr(DATA, "with_batches") else with_batches(names)
    folds = batch_holdouts(data, seed=5)
    assert [set(fold.test.batches.tolist()) for fold in folds] == [{"autumn"}, {"spring"}, {"summer"}]
    for fold in folds:
        learnt = {*fold.train.qids.tolist(), *fold.valid.qids.tolist()}
        assert learnt == set(data.qids.tolist()) - set(fold.test.qids.tolist())
        assert not set(fold.train.qids.tolist()) & set(fold.valid.qids.tolist())
    found = rk.cross_validate(TREES, data, "batches", seed=5)
    np.testing.assert_equal(pooled(found, "LambdaMART"), by_hand(TREES, folds))
    with refused(rk.DataError, place=DATA.source):
        rk.cross_validate(TREES, DATA, "batches")


def with_batches(names):
    from dataclasses import replace

    return replace(DATA, batches=names)


def test_one_trainer_alone_and_several_of_a_kind():
    alone = rk.cross_validate(TREES, DATA, 4)
    assert alone.systems == ("LambdaMART",)
    assert alone.pairs == ()
    assert "LambdaMART" in str(alone)
    assert "significantly" not in str(alone)  # there is nothing to compare it with
    both = rk.cross_validate([TREES, rk.Bag(TREES, 3), rk.Bag(POINTS, 3)], DATA, 4)
    assert both.systems == ("LambdaMART", "Bag 2", "Bag 3")


def test_progress_is_told_after_every_fit():
    steps = []
    rk.cross_validate({"a": TREES, "b": POINTS}, DATA, 4, watch=steps.append)
    assert [step.what for step in steps] == [f"{name}, fold {fold}" for fold in range(1, 5) for name in "ab"]
    assert [step.done for step in steps] == pytest.approx([count / 8 for count in range(1, 9)])


def test_bad_folds_are_refused():
    with refused(rk.ArgumentError, value=41):
        rk.cross_validate(TREES, DATA, 41)
    with refused(rk.ArgumentError, owner="cross_validate", setting="folds", value="weeks"):
        rk.cross_validate(TREES, DATA, "weeks")
    with refused(rk.ArgumentError, setting="test", value="sign"):
        rk.cross_validate([TREES, POINTS], DATA, 4, test="sign")
