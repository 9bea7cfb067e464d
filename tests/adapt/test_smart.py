"""LambdaSMART and LambdaBoost from a background: its scale, and nothing added if nothing helps."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import rankinite as rk
from oracles.adapting import LINEAR, TREES, background, judged_by_a_feature, shuffled, target, unseen
from oracles.gradients import ranked
from rankinite.adapt import lambdaboost, smart
from rankinite.adapt.held_out import fit_tuned
from rankinite.adapt.methods.smart import WIDEST, fitted_scale, nodes_drawn, rate_for, rescale, rows_drawn
from refusals import refused

NDCG = rk.NDCG(10)
METHODS = {"smart": (smart, TREES), "lambdaboost": (lambdaboost, LINEAR)}


def pair_cost(data, scores, factor, measure):
    """Σ |ΔZ| log(1 + exp(−c(s_i − s_j))) over all pairs with i graded above j; ranks, and so ΔZ, are the same for every c."""
    cost = 0.0
    for query, rows in ranked(data, scores):
        worth = rk.swap_changes(measure, data.grades[rows].astype(float))
        weight = 1.0 if data.weights is None else data.weights[query]
        for upper, i in enumerate(rows):
            for lower, j in enumerate(rows):
                if data.grades[i] > data.grades[j]:
                    delta = abs(worth[min(upper, lower), max(upper, lower)])
                    cost += weight * delta * np.logaddexp(0.0, -factor * (scores[i] - scores[j]))
    return cost


# ---- the scale -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [NDCG, rk.NDCG(3), rk.ERR()], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fitted_scale_has_the_lowest_pair_cost(measure, weighted):
    data = target()
    if weighted:
        data = data.with_weights(np.linspace(0.5, 2.0, data.queries))
    scores, factor = background().score(data), fitted_scale(background(), data, measure)

    def slope(c, step=1e-4):
        up, down = (pair_cost(data, scores, c * (1 + sign * step), measure) for sign in (1, -1))
        return (up - down) / (2 * c * step)

    assert slope(factor) == pytest.approx(0.0, abs=1e-6 * pair_cost(data, scores, factor, measure))
    assert slope(factor / 1.1) < 0.0 < slope(factor * 1.1)


def test_the_fitted_scale_undoes_the_unit_of_the_scores():
    factor = fitted_scale(background(), target(), NDCG)
    assert fitted_scale(8.0 * background(), target(), NDCG) == factor / 8.0
    assert fitted_scale(0.3 * background(), target(), NDCG) == pytest.approx(factor / 0.3, rel=1e-9)


def test_a_fitted_scale_has_ends():
    data = judged_by_a_feature()
    spread = data.features[:, 0].std(dtype=float)
    assert fitted_scale(rk.Feature(0), data, NDCG) == pytest.approx(WIDEST / spread, rel=1e-6)
    assert fitted_scale(-1.0 * rk.Feature(0), data, NDCG) == pytest.approx(1.0 / (WIDEST * spread), rel=1e-6)
    assert fitted_scale(0.0 * rk.Feature(0), data, NDCG) == 1.0


def test_scores_are_multiplied_by_the_scale():
    data, scores = target(), background().score(target())
    assert rescale(background(), data, NDCG, None) is rescale(background(), data, NDCG, 1.0) is background()
    assert rescale(background(), data, NDCG, 0.25).score(data).tobytes() == (0.25 * scores).tobytes()
    factor = fitted_scale(background(), data, NDCG)
    assert rescale(background(), data, NDCG, "fit").score(data).tobytes() == (factor * scores).tobytes()


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, "fitted", False, [1.0]], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_other_scales_are_refused(method, scale):
    adapt, learner = METHODS[method]
    with refused(rk.ArgumentError, setting="scale", **({} if scale != scale else {"value": scale})):  # noqa: PLR0124 - NaN
        adapt(background(), target(), scale=scale, learner=learner)


# ---- adapting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [None, 0.5, "fit"])
def test_training_goes_on_from_the_scaled_background(method, scale):
    adapt, learner = METHODS[method]
    poor = rk.Feature(1)
    base = rescale(poor, target(), NDCG, scale)
    adapted = adapt(poor, target(), scale=scale, learner=learner, seed=3)
    assert adapted.score(unseen()).tobytes() == fit_tuned(learner, target(), base=base, seed=3).score(unseen()).tobytes()
    assert adapted.score(unseen()).tobytes() != base.score(unseen()).tobytes()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("judge", [False, True])
@pytest.mark.parametrize("scale", [None, "fit", 0.3])
def test_nothing_added_is_the_background_itself(method, judge, scale):
    adapt, learner = METHODS[method]
    data, perfect = judged_by_a_feature(), rk.Feature(0)
    valid = judged_by_a_feature(3, "valid") if judge else None
    assert adapt(perfect, data, valid, scale=scale, learner=learner) is perfect

    class FirstFeature:
        def score(self, data):
            return data.features[:, 0].astype(float) / 3.0

    assert (
        adapt(FirstFeature(), data, valid, scale=scale, learner=learner).score(data).tobytes()
        == FirstFeature().score(data).tobytes()
    )


@pytest.mark.parametrize("method", METHODS)
def test_neither_order_nor_threads_change_a_bit(method):
    adapt, learner = METHODS[method]
    with rk.threads(1):
        one = adapt(background(), target(), scale="fit", learner=learner)
    with rk.threads(2):
        other = adapt(background(), shuffled(target())[0], scale="fit", learner=learner)
    assert one.score(unseen()).tobytes() == other.score(unseen()).tobytes()


def test_the_settings_are_those_of_the_papers():
    rows, nodes = rows_drawn("err", seed=4), nodes_drawn("err", seed=4)
    for learner in (rows, nodes):
        assert (learner.measure, learner.trees, learner.leaves, learner.seed) == (rk.ERR(), 500, 20, 4)
    assert (rows.rate, rows.row_share, rows.node_row_share, rows.node_feature_share) == (0.1, 0.7, 1.0, 1.0)
    assert (nodes.rate, nodes.row_share, nodes.node_row_share, nodes.node_feature_share) == (0.5, 1.0, 0.7, 0.7)


def test_few_queries_take_small_steps_and_many_the_papers():
    assert [rate_for(queries) for queries in (2, 300, 301, 10_000)] == [0.02, 0.02, 0.1, 0.1]


def test_left_out_the_learner_is_the_papers_at_a_rate_that_suits_the_queries(monkeypatch):
    asked = []
    for method in METHODS:
        home = import_module(f"rankinite.adapt.methods.{method}")  # by name it is the function
        monkeypatch.setattr(home, "fit_tuned", lambda learner, *_, **more: asked.append((learner, more)))
    smart(background(), target(), measure="ndcg@3", folds=4, seed=5)
    lambdaboost(background(), target(), measure="ndcg@3", folds=4, seed=5)
    trees, linear = (learner for learner, _ in asked)
    assert trees == replace(rows_drawn("ndcg@3", 5), rate=rate_for(target().queries))
    assert (linear.measure, linear.rounds, linear.rate, linear.nan) == (rk.NDCG(3), 500, 0.5, "mean")
    factor = fitted_scale(background(), target(), rk.NDCG(3))
    for (_, more), scale in zip(asked, (factor, 1.0), strict=True):
        assert (more["folds"], more["seed"]) == (4, 5)
        assert more["base"].score(unseen()).tobytes() == (scale * background().score(unseen())).tobytes()


def test_features_are_matched_by_name_and_missing_ones_refused():
    data = target()
    turned = data.select_features(list(reversed(data.feature_names)))
    adapted = smart(background(), turned, learner=replace(TREES, trees=2))
    assert adapted.score(data).tobytes() == adapted.score(turned).tobytes()
    short = data.select_features(list(data.feature_names[:3]))
    for adapt, learner in METHODS.values():
        with refused(rk.DataError, place=short.source, value="4"):
            adapt(background(), short, learner=learner)


def test_missing_values_count_as_the_mean_for_the_linear_correction():
    """Data with holes are corrected like data whose holes are filled with the mean, not with another number."""
    data, learner, base = target(), replace(LINEAR, nan="mean"), rk.Feature(1)
    features = data.features.copy()
    features[:, 2] = data.grades + 5.0  # what the correction is made of; far from 0
    known = np.delete(features[:, 2], np.s_[::7]).astype(float)

    def corrected(value):
        columns = features.copy()
        columns[::7, 2] = value
        changed = replace(data, features=columns)
        return lambdaboost(base, changed, learner=learner).score(changed) - base.score(changed)

    assert corrected(np.nan) == pytest.approx(corrected(known.mean()), abs=1e-5)
    assert np.abs(corrected(np.nan) - corrected(0.0)).max() > 0.01
    assert np.abs(corrected(np.nan)).max() > 0.01
