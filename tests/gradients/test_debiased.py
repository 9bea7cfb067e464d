"""Debiased λ against a loop over pairs, estimated curves against the most likely ones, and the laws both keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.clicks import most_likely_curve
from oracles.gradients import lambdas, measure_changes
from rankinite.engine.parallel import threads
from rankinite.gradients.click_likelihood import ClickLikelihood
from rankinite.gradients.debiased import AdditiveDebiased, PairwiseDebiased
from rankinite.gradients.examination import FEWEST_CLICKS, Examination, levels_of
from rankinite.gradients.lambdas import Lambdas
from rankinite.learners.click_examination import estimated_examination, joined_rows
from refusals import refused


def click_log(sessions=3000, documents=5, seed=0):
    """Sessions whose documents have two features; the first says how much they attract, and mostly how they are shown."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(sessions, documents, 2)).astype(np.float32)
    shown = np.argsort(-(features[:, :, 0] + random.normal(size=(sessions, documents))), axis=1)
    features = np.take_along_axis(features, shown[:, :, None], axis=1)
    attraction = 0.8 / (1 + np.exp(-2 * features[:, :, 0]))
    clicks = random.random((sessions, documents)) < attraction / np.arange(1, documents + 1)
    return rk.read(
        features.reshape(-1, 2),
        grades=clicks.ravel().astype(float),
        group=np.full(sessions, documents),
        positions=np.tile(np.arange(1, documents + 1), sessions),
    )


CURVE = Examination(np.arange(1, 6), 1 / np.arange(1, 6), np.ones(5))


def pairwise(data, *, power=1.0, normalise=False):
    return PairwiseDebiased(data, rk.NDCG(), 1.0, None, CURVE, normalise=normalise, power=power)


def held_rows(data):
    """A third of the rows, from which the curve is estimated."""
    return np.random.default_rng(9).random(data.rows) < 1 / 3


def estimating(data):
    return ClickLikelihood(data, levels_of(data, np.ones(data.rows)), held_rows(data))


def pushes(objective, scores):
    push, curvature = np.full((1, len(scores)), np.nan), np.full((1, len(scores)), np.nan)
    objective.gradients(np.ascontiguousarray(scores, float)[None], push, curvature)
    return push[0], curvature[0]


@pytest.fixture(scope="module")
def log():
    return click_log()


@pytest.fixture(scope="module")
def scores(log):
    return np.random.default_rng(1).normal(size=log.rows) + log.features[:, 0]


def test_pushes_are_those_of_scores_with_the_logarithm_of_the_curve(log, scores):
    expected = lambdas(log, scores - np.log(log.positions), measure_changes(rk.NDCG()))
    for mine, slow in zip(pushes(pairwise(log), scores), expected, strict=True):
        np.testing.assert_allclose(mine, slow, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("normalise", [False, True])
def test_half_the_power_is_half_the_bias(log, scores, normalise):
    found = pushes(pairwise(log, power=0.5, normalise=normalise), scores)
    expected = pushes(Lambdas(log, rk.NDCG(), normalise=normalise), scores - 0.5 * np.log(log.positions))
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)


def test_an_estimate_follows_the_slope_of_the_likelihood_and_learns_nothing_from_held_rows(log, scores):
    objective = estimating(log)
    push, curvature = pushes(objective, scores)
    held, theta = held_rows(log), objective.best[log.positions - 1]

    def cost(scores):
        chance = theta / (1 + np.exp(-scores))
        return -np.where(log.grades > 0, np.log(chance), np.log1p(-chance))

    tiny = 1e-5
    np.testing.assert_allclose(push[~held], ((cost(scores - tiny) - cost(scores + tiny)) / (2 * tiny))[~held], atol=1e-6)
    relevance = 1 / (1 + np.exp(-scores))
    expected = theta * relevance * (1 - relevance) ** 2 / (1 - theta * relevance)  # of Fisher: clicks as likely as they seem
    np.testing.assert_allclose(curvature[~held], expected[~held], rtol=1e-9)
    assert not push[held].any()
    assert not curvature[held].any()


@pytest.mark.parametrize("stretch", [0.5, 1.0, 1.5])
def test_the_curve_is_the_most_likely_one_for_held_rows(log, scores, stretch):
    objective = estimating(log)
    for _ in range(20):
        pushes(objective, stretch * scores)
    held = held_rows(log)
    expected = most_likely_curve(log.grades[held] > 0, log.positions[held], scores[held])
    np.testing.assert_allclose(objective.best, expected, rtol=1e-3)


def test_the_true_curve_is_found_where_scores_are_true_log_odds():
    log = click_log(sessions=20_000)
    attraction = 0.8 / (1 + np.exp(-2 * log.features[:, 0].astype(float)))
    objective = estimating(log)
    for _ in range(10):
        pushes(objective, np.log(attraction / (1 - attraction)))
    np.testing.assert_allclose(objective.best, 1 / np.arange(1, 6), rtol=0.1)


def test_the_round_in_which_held_clicks_are_most_likely_is_kept(log, scores):
    objective = estimating(log)
    for _ in range(10):
        pushes(objective, scores)
    kept = objective.best.copy()
    pushes(objective, np.random.default_rng(5).normal(size=log.rows))
    assert (objective.best == kept).all()
    assert objective.best_round < objective.rounds - 1


def test_skipped_follow_from_clicked_and_the_rate_of_clicks(log):
    clicked = 1 / np.arange(1, 6)
    seen = levels_of(log, np.ones(log.rows)).examination(clicked, 1)
    rates = np.asarray([log.grades[log.positions == place].mean() for place in range(1, 6)])
    np.testing.assert_allclose(seen.skipped, (1 - rates) / (1 - rates / clicked), rtol=1e-6)


def test_appearances_of_a_document_at_a_level_are_joined():
    judged = rk.synthesise(20, world=rk.World(features=3, documents=6, seed=1))
    log = rk.simulate_clicks(judged, judged.features[:, 0].astype(float), 900).data
    log = log.with_weights(np.arange(log.queries) % 2 + 1.0)
    levels = levels_of(log, np.ones(log.rows))
    rows, of_row = joined_rows(log, levels)
    counted = {}
    for row, weight in enumerate(np.repeat(log.weights, np.diff(log.offsets))):
        cell = counted.setdefault((log.features[row].tobytes(), int(levels.of_row[row]), weight), [0, 0])
        cell[0] += log.grades[row] > 0
        cell[1] += 1
    assert rows.rows == len(counted) < log.rows / 10
    for row in range(rows.rows):
        places = [key for key in counted if key[:2] == (rows.features[row].tobytes(), int(of_row[row]))]
        clicks, shown = counted[next(key for key in places if key[2] * counted[key][1] == rows.weights[row])]
        assert rows.grades[row] == np.float32(clicks / shown)


def test_neither_threads_nor_the_order_of_rows_and_queries_change_an_estimate(log):
    learner = rk.LambdaMART(trees=3, leaves=4)
    expected = estimated_examination(learner, log).to_dict()
    with threads(1):
        assert estimated_examination(learner, log).to_dict() == expected
    turned = np.random.default_rng(2).permutation(log.rows)
    other = rk.read(
        log.features[turned],
        grades=log.grades[turned],
        qid=np.repeat(log.qids, np.diff(log.offsets))[turned],
        positions=log.positions[turned],
    )
    assert estimated_examination(learner, other).to_dict() == expected


def test_with_few_different_rows_the_curve_is_that_of_clicks(log):
    few = log.select_queries(np.arange(11))
    found = estimated_examination(rk.LambdaMART(), few)
    np.testing.assert_array_equal(found.clicked, levels_of(few, np.ones(few.rows)).first_guess())


def test_a_curve_that_is_not_trusted_changes_no_bit(log, scores):
    plain = pushes(Lambdas(log, rk.NDCG()), scores)
    for mine, other in zip(pushes(pairwise(log, power=0.0), scores), plain, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("objective_of", [pairwise, lambda data: AdditiveDebiased(data, rk.NDCG(), 1.0, None, power=1.0)])
def test_threads_and_the_order_of_rows_and_queries_change_no_bit(log, scores, objective_of):
    def run(data, scores):
        objective = objective_of(data)
        for step in range(3):
            found = pushes(objective, scores * (1 + step))
        return *found, objective.examination.to_dict()

    expected = run(log, scores)
    with threads(1):
        assert run(log, scores)[2] == expected[2]
    turned = np.random.default_rng(2).permutation(log.rows)
    other = rk.read(
        log.features[turned],
        grades=log.grades[turned],
        qid=np.repeat(log.qids, np.diff(log.offsets))[turned],
        positions=log.positions[turned],
    )
    rows = other.from_input_order(turned)
    push, curvature, seen = run(other, scores[rows])
    assert seen == expected[2]
    np.testing.assert_array_equal(push, expected[0][rows])
    np.testing.assert_array_equal(curvature, expected[1][rows])


def test_biases_are_added_to_scores_and_take_a_newton_step(log, scores):
    objective = AdditiveDebiased(log, rk.NDCG(), 1.0, None, power=1.0)
    bias = objective.examination.bias
    found = pushes(objective, scores)
    plain = pushes(Lambdas(log, rk.NDCG()), scores + bias[log.positions - 1])
    np.testing.assert_array_equal(found[0], plain[0])
    sums = [np.asarray([values[log.positions == place].sum() for place in range(1, 6)]) for values in plain]
    moved = bias + 0.5 * np.clip((sums[0] - 0.001 * sums[1] * bias) / (1.001 * sums[1]), -1, 1)
    np.testing.assert_allclose(objective.examination.bias, moved - moved[0], rtol=1e-6, atol=1e-9)
    for _ in range(200):
        found = pushes(objective, scores)
    left = [abs(found[0][log.positions == place].sum()) for place in range(1, 6)]
    assert max(left) < 0.02 * np.abs(found[0]).sum()


def test_levels_have_enough_clicks_or_share_an_estimate(log):
    levels = levels_of(log, np.ones(log.rows))
    clicks = np.bincount(levels.of_row[log.grades > 0])
    assert (clicks >= FEWEST_CLICKS).all()
    few = log.select_queries(np.arange(60))
    assert levels_of(few, np.ones(few.rows)).first.tolist() == [1]
    none = replace(few, grades=np.zeros(few.rows))
    assert (levels_of(none, np.ones(few.rows)).first_guess() == 1).all()


def test_data_without_positions_or_clicks_are_refused(log):
    with refused(rk.DataError, place=log.source, value=None):
        pairwise(log.with_positions(None))
    with refused(rk.DataError, place=log.source):
        pairwise(replace(log, grades=np.zeros(log.rows)))


def test_curves_are_looked_up_by_position_and_come_back_from_json():
    seen = Examination(np.asarray([1, 2, 5]), np.asarray([1, 0.5, 0.1]), np.ones(3), rounds=7)
    assert seen.at(np.asarray([1, 2, 4, 5, 99])).tolist() == [1, 0.5, 0.5, 0.1, 0.1]
    assert Examination.from_dict(seen.to_dict()).to_dict() == seen.to_dict()
    assert [row[0] for row in seen.rows()] == ["1", "2–4", "5 on"]
    with refused(rk.ArgumentError, setting="positions", value=[2, 1]):
        Examination(np.asarray([2, 1]), np.ones(2), np.ones(2))
    with refused(rk.ArgumentError, setting="positions"):
        Examination(np.asarray([1, 2]), np.asarray([1.0, 0.0]), np.ones(2))
