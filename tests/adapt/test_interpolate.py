"""Interpolation: weights found on queries not seen, and the background itself if it is all that counts."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import TREES, WORLD, background, judged_by_a_feature, shuffled, target, unseen
from rankinite.adapt import interpolate
from rankinite.adapt.held_out import TargetRanker, fit_target_ranker
from rankinite.adapt.methods.interpolate import SMOOTH, target_learner
from refusals import refused

NDCG = rk.NDCG(10)
SHARES = {"form": "convex", "range": (0.0, 1.0), "normalise": True, "smooth": SMOOTH}
"""How two rankers are weighed."""


class Known:
    """Scores of the target, row by row."""

    def __init__(self, scores):
        self.scores = scores

    def score(self, data):
        assert data.rows == len(self.scores)
        return self.scores


def test_a_pair_is_weighed_exactly_on_scores_not_seen():
    poor, alone = rk.Feature(1), fit_target_ranker(TREES, target(), seed=1)
    mixed = interpolate(poor, target(), learner=TREES, seed=1)
    found = rk.combine.exact(poor, Known(alone.scores), alone.unseen, NDCG, **SHARES)
    assert [weight for weight, _ in mixed.parts] == list(found.weights)
    first, second = found.weights
    expected = first * poor.score(unseen()) + second * alone.ranker.score(unseen())
    assert mixed.score(unseen()).tobytes() == expected.tobytes()
    shares = [first * poor.score(target()).std(), second * alone.scores.std()]  # of each, in units of its spread
    assert 0.0 < shares[0] < 1.0
    assert sum(shares) == pytest.approx(1.0)


@pytest.mark.parametrize("how", ["powell", "lambdarank"])
def test_other_searches_are_those_of_combine(how):
    alone = fit_target_ranker(TREES, target(), seed=1)
    search = {"powell": rk.combine.powell, "lambdarank": rk.combine.stacked}[how]
    mixed = interpolate(background(), target(), own=[alone], how=how)
    expected = search([background(), Known(alone.scores)], alone.unseen, NDCG).weights
    assert [weight for weight, _ in mixed.parts] == list(expected)


def test_several_backgrounds_and_target_rankers_are_weighed_together():
    alone = [fit_target_ranker(TREES, target()), fit_target_ranker(replace(TREES, leaves=2), target())]
    backgrounds = [background(), rk.Feature(2)]
    mixed = interpolate(backgrounds, target(), own=alone, measure="err")
    found = rk.combine.powell([*backgrounds, *(Known(part.scores) for part in alone)], target(), rk.ERR())
    kept = [weight for weight in found.weights if weight != 0.0]
    assert [weight for weight, _ in mixed.parts] == kept
    assert len(kept) > 2


def test_where_the_background_is_all_that_counts_it_comes_back_itself():
    data = judged_by_a_feature()
    silly = TargetRanker(rk.Feature(1), data, -data.grades.astype(float))
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
    learner = target_learner("ndcg@5", 3, rows)
    assert (learner.measure, learner.seed) == (rk.NDCG(5), 3)
    assert learner.min_rows == (20 if rows >= 120 else rows // 6)


@pytest.mark.parametrize("queries", [3, 5])
def test_few_rows_are_enough(queries):
    small = target(queries).select_rows(np.arange(10 * queries) % 10 < 4)
    assert np.isfinite(interpolate(background(), small).score(unseen())).all()


def test_what_cannot_be_weighed_is_refused_before_anything_is_trained(monkeypatch):
    home = import_module("rankinite.adapt.methods.interpolate")  # by name it is the function
    monkeypatch.setattr(home, "fit_target_ranker", lambda *_, **__: pytest.fail("something was trained"))
    with refused(rk.ArgumentError, owner="interpolate", setting="how", value="best"):
        interpolate(background(), target(), how="best")
    with refused(rk.ArgumentError, owner="interpolate", setting="how", value="exact") as caught:
        interpolate([background(), rk.Feature(0)], target(), how="exact")
    assert "powell" in caught.value.remedy
    with refused(rk.ArgumentError, value=1):
        interpolate([], target())
    with refused(rk.DataError, place=target().source, value="3"):
        interpolate(background(), target().select_features(["1", "2"]))
