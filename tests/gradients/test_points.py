"""Losses of single rows against finite differences of their costs, and the constants they start from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles.datasets import random_dataset
from oracles.gradients import downhill, logistic_cost, multiclass_cost, row_weights, squared_cost
from rankinite.gradients.pointwise import Differences, Logistic, Multiclass, SquaredLoss

SEEDS = st.integers(0, 10_000)


def pushes(objective, scores):
    push, curvature = np.full_like(scores, np.nan), np.full_like(scores, np.nan)
    objective.gradients(scores, push, curvature)
    return push, curvature


def at(objective, data, seed):
    return np.random.default_rng(seed).normal(size=(objective.outputs, data.rows))


def assert_start_is_lowest(objective, cost, rows):
    """No constant near the start costs less."""

    def constant(start):
        return cost(np.repeat(np.asarray(start)[:, None], rows, axis=1))

    lowest = constant(objective.start)
    for output in range(objective.outputs):
        for step in (-1e-3, 1e-3):
            moved = objective.start.copy()
            moved[output] += step
            assert constant(moved) > lowest


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_squared_loss(seed):
    data = random_dataset(seed)
    loss = SquaredLoss(data)
    scores = at(loss, data, seed)
    push, curvature = pushes(loss, scores)
    np.testing.assert_allclose(push, downhill(lambda s: squared_cost(data, s), scores), atol=1e-7)
    np.testing.assert_allclose(curvature[0], row_weights(data))
    assert_start_is_lowest(loss, lambda s: squared_cost(data, s), data.rows)


def difference_cost(data, scores):
    """½((g_i − g_j) − (s_i − s_j))² of every pair, divided by the documents of its query."""
    total, weights, left = 0.0, row_weights(data), data.grades.astype(float) - scores[0]
    for first, last in pairwise(data.offsets.tolist()):
        pairs = [(i, j) for i in range(first, last) for j in range(first, i)]
        total += sum(0.5 * weights[first] * (left[i] - left[j]) ** 2 for i, j in pairs) / (last - first)
    return total


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_squared_loss_of_differences(seed):
    data = random_dataset(seed)
    loss = Differences(data)
    scores = at(loss, data, seed)
    push, curvature = pushes(loss, scores)
    np.testing.assert_allclose(push, downhill(lambda s: difference_cost(data, s), scores), atol=1e-7)
    np.testing.assert_allclose(curvature, bent(lambda s: pushes(loss, s)[0], scores), atol=1e-7)
    np.testing.assert_allclose(np.add.reduceat(push[0], data.offsets[:-1]), 0.0, atol=1e-12)
    shifted = scores + 3.0 * data.query_of_row()  # what no ranking sees
    np.testing.assert_allclose(pushes(loss, shifted)[0], push, atol=1e-12)


def test_the_order_of_rows_changes_no_bit_of_differences():
    random = np.random.default_rng(2)
    features, grades, qids = random.random((20_000, 2)), random.normal(size=20_000), np.repeat(np.arange(2000), 10)
    rows = random.permutation(20_000)
    ours = rk.read(features, grades=grades, qid=qids, unjudged="keep")
    theirs = rk.read(features[rows], grades=grades[rows], qid=qids[rows], unjudged="keep")
    scores = random.normal(size=20_000)
    with rk.threads(1):
        alone = pushes(Differences(ours), scores[None])
    with rk.threads(2):
        other = pushes(Differences(theirs), theirs.from_input_order(scores[rows])[None])
    for a, b in zip(alone, other, strict=True):
        assert a[0][rows].tobytes() == theirs.to_input_order(b[0]).tobytes()


def bent(push_at, scores, step=1e-5):
    """−∂push/∂score of each score by itself."""
    curvature = np.empty_like(scores)
    for place in np.ndindex(*scores.shape):
        moved = scores.copy()
        moved[place] += step
        up = push_at(moved)[place]
        moved[place] -= 2 * step
        curvature[place] = -(up - push_at(moved)[place]) / (2 * step)
    return curvature


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, sigma=st.sampled_from([1.0, 0.5, 2.0]), targets=st.sampled_from(["graded", "binary"]))
def test_logistic_loss(seed, sigma, targets):
    data = random_dataset(seed)
    loss = Logistic(data, targets, sigma, relevant=2.0)
    scores = at(loss, data, seed)
    chances = (2.0**data.grades - 1) / 16 if targets == "graded" else (data.grades >= 2).astype(float)

    def cost(s):
        return logistic_cost(data, s, chances, sigma)

    push, curvature = pushes(loss, scores)
    np.testing.assert_allclose(push, downhill(cost, scores), atol=1e-8)
    np.testing.assert_allclose(curvature, bent(lambda s: pushes(loss, s)[0], scores), atol=1e-7)
    assert_start_is_lowest(loss, cost, data.rows)


def test_balanced_classes_count_alike():
    data = rk.read(np.zeros((8, 1)), grades=[1, 0, 0, 0, 0, 0, 0, 2], group=[4, 4])
    loss = Logistic(data, "binary", balanced=True)
    push, curvature = pushes(loss, np.zeros((1, 8)))
    assert loss.start.tolist() == [0.0]
    np.testing.assert_allclose(push[0], np.where(data.grades > 0, 8 / 4, -8 / 12))  # 2(P̄ − ½) · n/2n±
    np.testing.assert_allclose(curvature[0], np.where(data.grades > 0, 8 / 4, 8 / 12))
    weighted = data.with_weights([1.0, 3.0])
    push, _ = pushes(Logistic(weighted, "binary", balanced=True), np.zeros((1, 8)))
    assert push[push > 0].sum() == pytest.approx(-push[push < 0].sum())


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_multiclass_loss(seed):
    data = random_dataset(seed)
    loss = Multiclass(data)
    scores = at(loss, data, seed)
    levels = sorted(set(data.grades.tolist()))
    push, curvature = pushes(loss, scores)
    assert loss.grades.tolist() == levels
    np.testing.assert_allclose(push, downhill(lambda s: multiclass_cost(data, s), scores), atol=1e-8)
    np.testing.assert_allclose(push.sum(axis=0), 0, atol=1e-12)
    redundant = len(levels) / (len(levels) - 1)
    np.testing.assert_allclose(curvature, redundant * bent(lambda s: pushes(loss, s)[0], scores), atol=1e-7)
    assert_start_is_lowest(loss, lambda s: multiclass_cost(data, s), data.rows)


def test_two_classes_are_the_logistic_loss():
    """Scores ±s of two classes, where 2s is the log-odds, get Friedman's two-class leaves."""
    data = rk.read(np.zeros((6, 1)), grades=[0, 1, 1, 0, 1, 0], group=[6])
    scores = np.random.default_rng(0).normal(size=(1, 6))
    push, curvature = pushes(Logistic(data, "binary"), scores)
    both, bends = pushes(Multiclass(data), np.concatenate((-scores, scores)))
    np.testing.assert_allclose(both[1] / bends[1], push[0] / curvature[0])


@pytest.mark.parametrize("make", [SquaredLoss, Logistic, Multiclass])
def test_threads_and_row_order_change_no_bit(make):
    random = np.random.default_rng(2)
    grades, weights = random.integers(0, 5, 30_000), random.random(3000)
    data = rk.read(random.random((30_000, 2)), grades=grades, group=[10] * 3000).with_weights(weights)
    queries = random.permutation(3000)
    rows = (10 * queries[:, None] + random.permuted(np.tile(np.arange(10), (3000, 1)), axis=1)).ravel()
    other = rk.read(data.features[rows], grades=grades[rows], group=[10] * 3000).with_weights(weights[queries])
    ours, theirs = make(data), make(other)
    assert ours.start.tobytes() == theirs.start.tobytes()
    scores = random.normal(size=(ours.outputs, 30_000))
    with rk.threads(1):
        alone = pushes(ours, scores)
    with rk.threads(2):
        for a, b, c in zip(alone, pushes(ours, scores), pushes(theirs, scores[:, rows].copy()), strict=True):
            assert a.tobytes() == b.tobytes()
            assert a[:, rows].tobytes() == c.tobytes()


@pytest.mark.parametrize("make", [SquaredLoss, Logistic, Multiclass, Differences])
def test_scores_far_apart_stay_finite(make):
    data = random_dataset(1)
    loss = make(data)
    push, curvature = pushes(loss, 1e6 * at(loss, data, 1))
    assert np.isfinite(push).all()
    assert np.isfinite(curvature).all()
    assert (curvature >= 0).all()
