"""The factored gradient is minus the slope of the cost, and one step is the sum over single pairs (paper 002 §2.1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.nets import (
    Follower,
    all_of,
    climb,
    cost,
    downhill,
    forward,
    graded_pairs,
    lambda_pairs,
    pair_by_pair,
    preferred_pairs,
    random_frame,
    standardised,
)
from rankinite.engine.kernel import frozen
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.pointwise import Differences
from rankinite.gradients.ranknet import PreferencePairs, RankNetPairs
from rankinite.nets import _net_kernels
from rankinite.nets._net_kernels import RowArrays, Steps

SIZES = [(3, 1), (3, 4, 1), (3, 4, 2, 1)]
MEASURES = [rk.NDCG(3), rk.NDCG(), rk.ERR(), rk.AP(), rk.RR()]
SEEDS, NETS, SIGMAS = st.integers(0, 10**6), st.sampled_from(SIZES), st.sampled_from([1.0, 0.5, 3.0])


def graded(seed, queries=7):
    """Judged queries without preferences; the first surely has pairs."""
    data = replace(random_dataset(seed, queries, most=9), preferences=None)
    grades = data.grades.copy()
    if data.offsets[1] > 1:
        grades[:2] = 0, 4
    weights = data.weights + 0.1
    return replace(data, grades=grades, weights=weights)


def inconsistent(seed):
    """Judgements of the same pairs both ways round, and one of a document against itself."""
    data = graded(seed)
    random = np.random.default_rng(seed)
    query_of = data.query_of_row()
    pairs = [(a, b) for a in range(data.rows) for b in range(data.rows) if query_of[a] == query_of[b] and a != b]
    chosen = np.asarray(pairs)[random.integers(0, len(pairs), 25)]
    better, worse = np.append(chosen[:, 0], [chosen[0, 1], 0]), np.append(chosen[:, 1], [chosen[0, 0], 0])
    probability = np.append(random.random(25), [1.0, 0.7])
    probability[0] = 1.0
    return data.with_preferences(rk.Preferences(better, worse, probability))


def without_itself(data, scores=None):
    """A document against itself teaches nothing."""
    return {query: [pair for pair in own if pair.better != pair.worse] for query, own in preferred_pairs(data).items()}


def uphill(frame, weights, data, objective):
    """What ``backward`` makes of the pushes at the scores that the weights give, and these scores."""
    sizes, rows = frame.sizes, data.rows
    units = np.zeros((sizes.sum(), _net_kernels.whole_blocks(rows)))
    _net_kernels.take_rows(frame, data.features, np.arange(rows), units)
    _net_kernels.forward(sizes, weights, units)
    scores, push, curvature = units[-1:, :rows].copy(), np.zeros((1, rows)), np.zeros((1, rows))
    objective.gradients(scores, push, curvature)
    pulls, lines, gradient = np.full_like(units, np.nan), np.full(units.size, np.nan), np.full(len(weights), np.nan)
    pulls[-1] = 0.0
    pulls[-1, :rows] = push[0]
    _net_kernels.backward(sizes, weights, units, pulls, lines, gradient)
    return gradient, scores[0]


def check_slope(objective, data, pairs_of, sizes, sigma, seed):
    frame, weights = random_frame(np.random.default_rng(seed), sizes)
    inputs = standardised(frame, data.features)
    gradient, scores = uphill(frame, weights, data, objective)
    pairs = all_of(pairs_of(data, scores))  # worth what they are now, whatever the weights become
    slope = downhill(lambda moved: cost(pairs, forward(sizes, moved, inputs), sigma), weights)
    size = np.abs(slope).max()
    assert size > 0
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-8 * size)
    np.testing.assert_allclose(gradient, pair_by_pair(sizes, weights, inputs, pairs, sigma), rtol=1e-9, atol=1e-12 * size)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, sizes=NETS, sigma=SIGMAS)
def test_pairs_of_grades(seed, sizes, sigma):
    data = graded(seed)
    check_slope(RankNetPairs(data, sigma), data, graded_pairs, sizes, sigma, seed)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, sizes=NETS, sigma=SIGMAS)
def test_preferences_inconsistent_ones_included(seed, sizes, sigma):
    data = inconsistent(seed)
    check_slope(PreferencePairs(data, sigma), data, without_itself, sizes, sigma, seed)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, sizes=NETS, sigma=SIGMAS)
def test_lambdas_with_the_changes_as_they_stand(measure, seed, sizes, sigma):
    data = graded(seed)
    check_slope(Lambdas(data, measure, sigma), data, lambda_pairs(measure), sizes, sigma, seed)


def test_a_step_uphill_lowers_the_cost():
    """The sign: a push is up."""
    data = graded(3)
    frame, weights = random_frame(np.random.default_rng(3), (3, 4, 1))
    inputs, pairs = standardised(frame, data.features), all_of(graded_pairs(data))
    gradient, _ = uphill(frame, weights, data, RankNetPairs(data))
    costs = [cost(pairs, forward((3, 4, 1), weights + step * gradient, inputs)) for step in (-1e-3, 0.0, 1e-3)]
    assert costs[0] > costs[1] > costs[2]


# ---- steps ------------------------------------------------------------------------------------------------------------

OBJECTIVES = {
    "grades": (graded, RankNetPairs, graded_pairs),
    "preferences": (inconsistent, PreferencePairs, without_itself),
    "ndcg@3": (graded, lambda data: Lambdas(data, rk.NDCG(3)), lambda_pairs(rk.NDCG(3))),
    "err": (graded, lambda data: Lambdas(data, rk.ERR()), lambda_pairs(rk.ERR())),
}
EACH = pytest.mark.parametrize("name", OBJECTIVES)


def epoch(objective, frame, steps, data, queries, start, weights):
    """The kernels' way through the queries: the weights after it, and what they return."""
    rows = RowArrays(frozen(start), np.zeros(data.rows), np.zeros(data.rows), np.zeros(data.rows))
    weights, queries = weights.copy(), frozen(np.asarray(queries, np.int64))
    if isinstance(objective, PreferencePairs):
        strange = _net_kernels.climb_preferences(objective.pairs, frame, steps, data.features, queries, rows, weights)
    elif isinstance(objective, Differences):
        strange = _net_kernels.climb_differences(objective.pairs, frame, steps, data.features, queries, rows, weights)
    else:
        arrays = objective.pairs
        strange = _net_kernels.climb_grades(arrays, frame, steps, data.features, queries, rows, weights)
    return weights, strange


def steps_of(optimiser, rate, l2, weights):
    return Steps(rate, l2, optimiser == "adam", np.zeros((2, len(weights))), np.zeros(1, np.int64))


@EACH
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, sizes=NETS)
def test_one_step_is_the_rate_times_the_sum_over_single_pairs(name, seed, sizes):
    made, bound, pairs_of = OBJECTIVES[name]
    data, rate = made(seed), 0.05
    frame, weights = random_frame(np.random.default_rng(seed), sizes)
    inputs, objective = standardised(frame, data.features), bound(data)
    for query in range(data.queries):
        steps = steps_of("sgd", rate, 0.0, weights)
        moved, strange = epoch(objective, frame, steps, data, [query], np.zeros(data.rows), weights)
        query_pairs = pairs_of(data, forward(sizes, weights, inputs))[query]
        assert strange == -1
        expected = weights + rate * pair_by_pair(sizes, weights, inputs, query_pairs)
        np.testing.assert_allclose(moved, expected, rtol=1e-10, atol=1e-12)
        assert (moved == weights).all() == (not query_pairs or not pair_by_pair(sizes, weights, inputs, query_pairs).any())


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, sizes=NETS)
def test_one_step_towards_differences_is_the_rate_times_the_slope_of_their_squared_loss(seed, sizes):
    data, rate = graded(seed), 0.05
    frame, weights = random_frame(np.random.default_rng(seed), sizes)
    inputs, start = standardised(frame, data.features), np.random.default_rng(seed).normal(size=data.rows)
    for query in range(data.queries):
        rows = slice(data.offsets[query], data.offsets[query + 1])

        def squared(moved, rows=rows, query=query):
            left = data.grades[rows] - start[rows] - forward(sizes, moved, inputs[rows])
            return 0.5 * data.weights[query] * ((left - left.mean()) ** 2).sum()

        steps = steps_of("sgd", rate, 0.0, weights)
        moved, strange = epoch(Differences(data), frame, steps, data, [query], start, weights)
        assert strange == -1
        np.testing.assert_allclose(moved, weights + rate * downhill(squared, weights), rtol=1e-7, atol=1e-8)
        assert (moved == weights).all() == (rows.stop - rows.start == 1)


def test_differences_skip_queries_without_weight_and_name_those_that_are_not_finite():
    data = graded(5).with_weights([0.0, *graded(5).weights[1:]])
    frame, weights = random_frame(np.random.default_rng(5), (3, 4, 1))
    steps, start = steps_of("adam", 0.1, 0.0, weights), np.zeros(data.rows)
    assert (epoch(Differences(data), frame, steps, data, [0], start, weights)[0] == weights).all()
    long = int(np.flatnonzero(np.diff(data.offsets)[1:] > 1)[0]) + 1
    start[data.offsets[long]] = np.nan
    assert epoch(Differences(data), frame, steps, data, [long], start, weights)[1] == long


@EACH
@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, sizes=NETS, l2=st.sampled_from([0.0, 0.3]))
def test_epochs_follow_the_plain_optimiser(name, optimiser, seed, sizes, l2):
    made, bound, pairs_of = OBJECTIVES[name]
    data = made(seed)
    data = data.with_weights(np.where(np.arange(data.queries) == 2, 0.0, data.weights))  # a query that does not count
    random = np.random.default_rng(seed)
    frame, weights = random_frame(random, sizes)
    inputs, objective, start = standardised(frame, data.features), bound(data), random.normal(size=data.rows)
    follower, expected = Follower(optimiser, 0.05, l2), weights
    steps = steps_of(optimiser, 0.05, l2, weights)
    for _ in range(2):
        queries = random.permutation(data.queries)
        weights, strange = epoch(objective, frame, steps, data, queries, start, weights)
        expected = climb(sizes, expected, inputs, data, pairs_of, queries, follower, start=start)
        assert strange == -1
    np.testing.assert_allclose(weights, expected, rtol=1e-8, atol=1e-9)
    assert optimiser == "sgd" or steps.taken[0] == len(follower.gradients)


@EACH
def test_a_query_whose_scores_are_not_finite_is_named(name):
    made, bound, _ = OBJECTIVES[name]
    data = made(5)
    query = int(data.query_of_row()[data.preferences.better[0]]) if name == "preferences" else 0
    frame, weights = random_frame(np.random.default_rng(5), (3, 4, 1))
    for value in (np.nan, np.inf):
        start = np.zeros(data.rows)
        start[data.offsets[query] : data.offsets[query + 1]] = value
        objective, steps = bound(data), steps_of("sgd", 0.1, 0.0, weights)
        assert epoch(objective, frame, steps, data, [query], start, weights)[1] == query
