"""Scores of nets, and the exp and tanh under them, against NumPy and Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.nets import activations, forward, random_frame, standardised
from rankinite.engine._math_kernels import exponential, hyperbolic_tangent
from rankinite.engine.kernel import frozen
from rankinite.nets import _net_kernels as kernels

SIZES = [(5, 1), (5, 10, 1), (5, 7, 3, 1)]
ROWS = [1, 7, 8, 9, 119, 120, 121, 250]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("rows", ROWS)
def test_forward_fills_the_units_of_all_layers(sizes, rows):
    random = np.random.default_rng(rows)
    frame, weights = random_frame(random, sizes)
    inputs = random.normal(size=(rows, sizes[0]))
    units = np.full((sum(sizes), kernels.whole_blocks(rows)), np.nan)
    units[: sizes[0], :rows] = inputs.T
    kernels.forward(frame.sizes, weights, units)
    np.testing.assert_allclose(units[:, :rows].T, np.hstack(activations(sizes, weights, inputs)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_get_the_scores_of_the_net_added(sizes, rows, dtype):
    random = np.random.default_rng(rows)
    frame, weights = random_frame(random, sizes)
    features = random.normal(1.0, 2.0, (rows + 5, sizes[0])).astype(dtype)
    features[random.random(features.shape) < 0.1] = np.nan
    before = random.normal(size=rows + 5)
    scores = before.copy()
    kernels.score_rows(frame, frozen(weights), frozen(features), 2, rows + 2, scores)
    expected = before.copy()
    expected[2 : rows + 2] += forward(sizes, weights, standardised(frame, features))[2 : rows + 2]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)


def test_a_row_has_one_score_wherever_it_stands():
    random = np.random.default_rng(0)
    frame, weights = random_frame(random, (5, 7, 3, 1))
    features = random.normal(size=(250, 5)).astype(np.float32)
    whole, apart = np.zeros(250), np.zeros(250)
    kernels.score_rows(frame, frozen(weights), frozen(features), 0, 250, whole)
    for row in range(250):
        kernels.score_rows(frame, frozen(weights), frozen(features), row, row + 1, apart)
    assert np.array_equal(whole, apart)


# ---- exp and tanh -----------------------------------------------------------------------------------------------------


def check_exponential(x):
    assert abs(exponential(x) - math.exp(x)) <= 2 * math.ulp(math.exp(x))


@settings(max_examples=500, deadline=None)
@given(st.floats(-699.9, 699.9))
def test_exponentials_are_right_to_two_units_in_the_last_place(x):
    check_exponential(x)


def test_exponentials_over_their_whole_range():
    for x in [0.0, -0.0, 5e-324, -5e-324, 1e-17, 699.999, -699.999, *np.linspace(-699.9, 699.9, 20_001).tolist()]:
        check_exponential(x)
    for n in range(-1000, 1001):  # where the power of two changes
        for x in (n * math.log(2), (n + 0.5) * math.log(2)):
            check_exponential(x)
            check_exponential(math.nextafter(x, math.inf))
    assert exponential(0.0) == exponential(-0.0) == 1.0


@settings(max_examples=500, deadline=None)
@given(st.floats(allow_nan=False) | st.floats(-25, 25))
def test_tanh_is_right_to_the_last_place(x):
    assert abs(hyperbolic_tangent(x) - math.tanh(x)) <= 1e-15
    assert hyperbolic_tangent(-x) == -hyperbolic_tangent(x)


def test_tanh_of_small_and_large_numbers():
    for x in (0.0, 5e-324, 1e-300, 1e-16, 1e-8, 18.9, 19.1, 20.0, math.nextafter(20.0, 21.0), 700.0, 1e308, math.inf):
        assert abs(hyperbolic_tangent(x) - math.tanh(x)) <= 1e-15
        assert abs(hyperbolic_tangent(-x) - math.tanh(-x)) <= 1e-15
        assert 0.0 <= hyperbolic_tangent(x) <= 1.0
    for x in np.linspace(-21, 21, 20_001).tolist():
        assert abs(hyperbolic_tangent(x) - math.tanh(x)) <= 1e-15
