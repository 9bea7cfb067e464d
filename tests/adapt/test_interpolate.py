"""Interpolation: weights found on queries not seen, and the background itself where it is all that counts."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import TREES, WORLD, background, judged_by_a_feature, shuffled, target, unseen
from rankinite.adapt import interpolate
from rankinite.adapt.held_out import Own, fit_own
from rankinite.adapt.methods.interpolate import SMOOTH, own_learner

NDCG = rk.NDCG(10)
SHARES = {"form": "convex", "range": (0.0, 1.0), "normalise": True, "smooth": SMOOTH}
"""How two rankers are weighed."""


class Known:
    """Scores of the target, told row by row."""

    def __init__(self, scores):
        self.scores = scores

    def score(self, data):
        assert data.rows == len(self.scores)
        return self.scores


def test_a_pair_is_weighed_exactly_on_scores_not_seen():
    poor, own = rk.Feature(1), fit_own(TREES, target(), seed=1)
    mixed = interpolate(poor, target(), learner=TREES, seed=1)
    found = rk.combine.exact(poor, Known(own.scores), own.unseen, NDCG, **SHARES)
    assert [weight for weight, _ in mixed.parts] == list(found.weights)
    first, second = found.weights
    expected = first * poor.score(unseen()) + second * own.ranker.score(unseen())
    assert mixed.score(unseen()).tobytes() == expected.tobytes()
    shares = [first * poor.score(target()).std(), second * own.scores.std()]  # of each, in units of its spread
    assert 0.0 < shares[0] < 1.0
    assert sum(shares) == pytest.approx(1.0)


@pytest.mark.parametrize("how", ["powell", "lambdarank"])
def test_other_ways_to_weigh_are_those_of_combine(how):
    own = fit_own(TREES, target(), seed=1)
    rankers = [background(), Known(own.scores)]
    ways = {"powell": rk.combine.powell, "lambdarank": rk.combine.stacked}
    mixed = interpolate(background(), target(), own=[own], how=how)
    assert [weight for weight, _ in mixed.parts] == list(ways[how](rankers, own.unseen, NDCG).weights)


def test_several_backgrounds_and_own_rankers_are_weighed_together():
    own = [fit_own(TREES, target()), fit_own(replace(TREES, leaves=2), target())]
    backgrounds = [background(), rk.Feature(2)]
    mixed = interpolate(backgrounds, target(), own=own, measure="err")
    found = rk.combine.powell([*backgrounds, *(Known(part.scores) for part in own)], target(), rk.ERR())
    kept = [weight for weight in found.weights if weight != 0.0]
    assert [weight for weight, _ in mixed.parts] == kept
    assert len(kept) > 2


def test_where_the_background_is_all_that_counts_it_comes_back_itself():
    data = judged_by_a_feature()
    silly = Own(rk.Feature(1), data, -data.grades.astype(float))
    perfect = rk.Feature(0)
    assert interpolate(perfect, data, own=[silly]) is perfect
    assert interpolate([perfect], data, own=[silly], how="exact") is perfect


def test_validation_data_weigh_if_there_are_some():
    valid = rk.synthesise(8, part="valid", domain=1, world=WORLD)
    mixed = interpolate(background(), target(), valid, learner=TREES)
    alone = TREES.fit(target(), valid)
    found = rk.combine.exact(background(), alone, valid, NDCG, **SHARES)
    assert mixed.score(unseen()).tobytes() == found.ranker.score(unseen()).tobytes()


def test_neither_order_nor_threads_change_a_bit():
    turned, _ = shuffled(target())
    for how in ("exact", "powell", "lambdarank"):
        with rk.threads(1):
            one = interpolate(background(), target(), learner=TREES, how=how)
        with rk.threads(2):
            other = interpolate(background(), turned, learner=TREES, how=how)
        assert one.score(unseen()).tobytes() == other.score(unseen()).tobytes(), how


@pytest.mark.parametrize("rows", [12, 30, 60, 119, 120, 5000])
def test_a_ranker_of_few_rows_has_small_leaves(rows):
    learner = own_learner("ndcg@5", 3, rows)
    assert (learner.measure, learner.seed) == (rk.NDCG(5), 3)
    assert learner.min_rows == (20 if rows >= 120 else rows // 6)


@pytest.mark.parametrize("queries", [3, 5])
def test_few_rows_are_enough(queries):
    small = target(queries).select_rows(np.arange(10 * queries) % 10 < 4)
    assert np.isfinite(interpolate(background(), small).score(unseen())).all()


def test_what_cannot_be_weighed_is_refused_before_anything_is_trained(monkeypatch):
    home = import_module("rankinite.adapt.methods.interpolate")  # by name it is the function
    monkeypatch.setattr(home, "fit_own", lambda *_, **__: pytest.fail("something was trained"))
    with pytest.raises(rk.ArgumentError, match=r"how='best' is unknown\. Known are 'exact', 'powell', 'lambdarank'"):
        interpolate(background(), target(), how="best")
    with pytest.raises(rk.ArgumentError, match="how='exact' weighs two rankers, but there are 3"):
        interpolate([background(), rk.Feature(0)], target(), how="exact")
    with pytest.raises(rk.ArgumentError, match="there is no background to interpolate with"):
        interpolate([], target())
    with pytest.raises(rk.DataError, match="feature"):
        interpolate(background(), target().select_features(["1", "2"]))
