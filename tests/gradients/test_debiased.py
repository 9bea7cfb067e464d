"""Debiased λ against a loop over pairs, their estimates against the equations they solve, and the laws both keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from oracles.clicks import balance
from oracles.gradients import lambdas, measure_changes
from rankinite.engine.parallel import threads
from rankinite.gradients.debiased import LEAST, AdditiveDebiased, PairwiseDebiased
from rankinite.gradients.examination import FEWEST_CLICKS, Examination, levels_of
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.pair_balance import PairBalance, asked_queries
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


def estimating(data):
    return PairBalance(data, rk.NDCG(), 1.0, None)


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


def learnt(log):
    """Rows of the queries that are learnt from at once."""
    return ~np.repeat(asked_queries(log), np.diff(log.offsets))


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


def test_an_estimate_learns_nothing_from_the_queries_it_is_made_from(log, scores):
    objective = estimating(log)
    found = pushes(objective, scores)
    seen = objective.examination
    assert (seen.skipped[1:] > 1).all()
    expected = pushes(Lambdas(log, rk.NDCG()), scores + np.log(seen.clicked / np.sqrt(seen.skipped))[log.positions - 1])
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine[learnt(log)], other[learnt(log)], rtol=1e-9, atol=1e-12)
        assert not mine[~learnt(log)].any()


def test_estimates_balance_the_pairs_of_queries_that_are_not_learnt_from(log, scores):
    objective = estimating(log)
    pushes(objective, scores)
    theta = objective.examination.clicked
    assert 0 < asked_queries(log).sum() < log.queries
    sums = balance(log.select_queries(asked_queries(log)), scores[~learnt(log)])
    places = range(1, 6)
    assert (theta > LEAST).all()
    for i in places[1:]:
        sides = [
            (theta[j - 1] * sums[i, j][0] - sums[i, j][1], theta[i - 1] * sums[j, i][0] - sums[j, i][1])
            for j in places
            if j != i
        ]
        left, right = map(sum, zip(*sides, strict=True))
        assert left == pytest.approx(right, rel=1e-9)


def test_skipped_follow_from_clicked_and_the_rate_of_clicks(log, scores):
    objective = estimating(log)
    pushes(objective, scores)
    seen = objective.examination
    rates = np.asarray([log.grades[log.positions == place].mean() for place in range(1, 6)])
    np.testing.assert_allclose(seen.skipped, (1 - rates) / (1 - rates / seen.clicked), rtol=1e-6)


def test_the_true_curve_is_found_where_scores_are_the_true_log_odds():
    """Few users click, so that log-odds of attraction are those of pairs; examination is 1/position."""
    log = click_log(sessions=20_000)
    attraction = 0.8 / (1 + np.exp(-2 * log.features[:, 0].astype(float)))
    scores = np.log(attraction / (1 - attraction))
    objective = estimating(log)
    for _ in range(3):
        pushes(objective, scores)
    np.testing.assert_allclose(objective.examination.clicked, 1 / np.arange(1, 6), rtol=0.1)
    nearer = estimating(log)
    for _ in range(7):
        pushes(nearer, 0.25 * scores)  # the slope makes up for scores that are too near each other
    assert nearer.examination.slope == pytest.approx(4.0, rel=0.1)
    np.testing.assert_allclose(nearer.examination.clicked, 1 / np.arange(1, 6), rtol=0.1)


def test_a_curve_that_is_not_trusted_changes_no_bit(log, scores):
    plain = pushes(Lambdas(log, rk.NDCG()), scores)
    for mine, other in zip(pushes(pairwise(log, power=0.0), scores), plain, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    "objective_of", [pairwise, estimating, lambda data: AdditiveDebiased(data, rk.NDCG(), 1.0, None, power=1.0)]
)
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
    assert (levels_of(none, np.ones(few.rows)).first_guess(0.01, 10) == 1).all()


def test_data_without_positions_or_clicks_are_refused(log):
    with refused(rk.DataError, place=log.source, value=None):
        pairwise(log.with_positions(None))
    with refused(rk.DataError, place=log.source):
        pairwise(replace(log, grades=np.zeros(log.rows)))


def test_curves_are_looked_up_by_position_and_come_back_from_json():
    seen = Examination(np.asarray([1, 2, 5]), np.asarray([1, 0.5, 0.1]), np.ones(3), slope=2.5, rounds=7)
    assert seen.at(np.asarray([1, 2, 4, 5, 99])).tolist() == [1, 0.5, 0.5, 0.1, 0.1]
    assert Examination.from_dict(seen.to_dict()).to_dict() == seen.to_dict()
    assert [row[0] for row in seen.rows()] == ["1", "2–4", "5 on"]
    with refused(rk.ArgumentError, setting="positions", value=[2, 1]):
        Examination(np.asarray([2, 1]), np.ones(2), np.ones(2))
    with refused(rk.ArgumentError, setting="positions"):
        Examination(np.asarray([1, 2]), np.asarray([1.0, 0.0]), np.ones(2))
