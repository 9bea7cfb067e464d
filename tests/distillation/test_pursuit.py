"""Orthogonal matching pursuit against one in a few lines of NumPy, which solves all least squares from scratch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from rankinite.distillation.selection import centre_within_queries, pursue


def slow_pursuit(columns, target, most):
    chosen, rest = [], target
    squares = (columns**2).sum(axis=1)
    while len(chosen) < most:
        gains = np.where(squares > 0, (columns @ rest) ** 2 / np.where(squares > 0, squares, 1), -1)
        gains[chosen] = -1
        chosen.append(int(np.argmax(gains)))
        weights = np.linalg.lstsq(columns[chosen].T, target, rcond=None)[0]
        rest = target - weights @ columns[chosen]
    return chosen, weights, 1 - (rest**2).sum() / (target**2).sum()


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(20, 70))
@settings(max_examples=40, deadline=None)
def test_the_same_columns_and_weights_as_least_squares_from_scratch(seed, count, rows):
    random = np.random.default_rng(seed)
    columns = random.normal(size=(count, rows))
    target = random.normal(size=rows) + random.normal(size=count) @ columns
    most = min(count, 6)
    found = pursue(columns, target, most)
    chosen, weights, explained = slow_pursuit(columns, target, most)
    assert found.columns.tolist() == chosen
    np.testing.assert_allclose(found.weights, weights, rtol=1e-8, atol=1e-10)
    assert found.explained[-1] == pytest.approx(explained, abs=1e-10)
    assert (np.diff(found.explained) >= -1e-12).all()


def test_a_sum_of_columns_is_found_and_nothing_else():
    random = np.random.default_rng(0)
    columns = random.normal(size=(30, 200))
    target = 2.0 * columns[4] - 0.5 * columns[17] + columns[9]
    found = pursue(columns, target, 20)
    assert sorted(found.columns[:3].tolist()) == [4, 9, 17]
    weights = dict(zip(found.columns.tolist(), found.weights.tolist(), strict=True))
    assert weights[4] == pytest.approx(2.0)
    assert weights[17] == pytest.approx(-0.5)
    assert found.explained[2] == pytest.approx(1.0)
    assert len(found.columns) <= 4


def test_columns_that_repeat_or_are_empty_are_not_taken_twice():
    column = np.arange(10.0) - 4.5
    columns = np.stack([np.zeros(10), column, 3.0 * column, column])
    found = pursue(columns, column, 4)
    assert len(found.columns) == 1
    assert found.explained.tolist() == pytest.approx([1.0])
    assert len(pursue(columns, np.zeros(10), 4).columns) == 0


def test_columns_are_centred_within_queries():
    random = np.random.default_rng(1)
    columns, offsets = random.normal(size=(7, 20)), np.asarray([0, 3, 4, 20])
    expected = columns.copy()
    for first, last in pairwise(offsets):
        expected[:, first:last] -= expected[:, first:last].mean(axis=1, keepdims=True)
    centre_within_queries(columns, offsets)
    np.testing.assert_allclose(columns, expected, atol=1e-14)


def test_threads_change_no_bit():
    random = np.random.default_rng(2)
    columns, target = random.normal(size=(40, 500)), random.normal(size=500)
    found = []
    for count in (1, 2, 5):
        with rk.threads(count):
            found.append(pursue(columns, target, 15))
    for other in found[1:]:
        assert other.columns.tolist() == found[0].columns.tolist()
        assert other.weights.tobytes() == found[0].weights.tobytes()
