"""The tests of significance against brute force, SciPy, and their own laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from oracles.significance import all_bootstraps, all_sign_flips, holm_by_definition
from rankinite.engine.parallel import threads
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation._resampling_kernels import sign_flip_sums
from rankinite.evaluation.significance import (
    bootstrap,
    holm,
    paired_differences,
    paired_t,
    randomisation,
    randomisation_floor,
    t_interval,
)
from rankinite.grid import p_value
from refusals import refused

# Tenths: their sums tie often, and are not exact in binary, which is what a tie must survive.
tenths = st.lists(st.integers(-10, 10), min_size=1, max_size=10)
reals = st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=40)


def gaussian(n: int, shift: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, 1.0, n)


# ---- randomisation ------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(tenths)
def test_enumeration_equals_brute_force(values: list[int]) -> None:
    assert randomisation([v / 10 for v in values], resamples=1024) == float(all_sign_flips([Fraction(v, 10) for v in values]))


@pytest.mark.parametrize("seed", range(4))
def test_drawn_signs_estimate_the_enumeration(seed: int) -> None:
    values = np.random.default_rng(seed).integers(-10, 12, 13).tolist()
    exact = float(all_sign_flips([Fraction(v, 10) for v in values]))
    drawn = randomisation([v / 10 for v in values], resamples=8000, seed=seed)
    assert abs(drawn - exact) < 5 * math.sqrt(exact * (1 - exact) / 8000) + 1 / 8000


@pytest.mark.parametrize(("n", "begin"), [(7, 0), (8, 0), (9, 0), (50, 0), (100, 40), (130, 85)])
def test_signs_are_fair_and_independent(n: int, begin: int) -> None:
    """With powers of two as magnitudes a sum tells every sign; a window of them is looked at, the rest are zero."""
    size, resamples = min(45, n - begin), 4000
    magnitudes = np.zeros(n)
    magnitudes[begin : begin + size] = 2.0 ** np.arange(size)
    sums = np.empty(resamples)
    with np.errstate(over="ignore"):
        sign_flip_sums(magnitudes, np.uint64(5), 0, sums)
    patterns = ((sums + magnitudes.sum()) / 2).astype(np.int64)
    signs = ((patterns[:, None] >> np.arange(size)) & 1) * 2.0 - 1.0
    np.testing.assert_array_equal(signs @ magnitudes[begin : begin + size], sums)
    covariance = signs.T @ signs / resamples
    # Five standard deviations of a mean of ±1.
    assert np.abs(signs.mean(axis=0)).max() < 5 / math.sqrt(resamples)
    assert np.abs(covariance - np.eye(size)).max() < 5 / math.sqrt(resamples)


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.1, 0.15])
def test_randomisation_agrees_with_t_on_gaussian_differences(shift: float) -> None:
    d = gaussian(1000, shift, seed=7)
    t = stats.ttest_1samp(d, 0.0).pvalue
    assert abs(randomisation(d, 20_000) - t) < 5 * math.sqrt(t * (1 - t) / 20_000) + 2e-3


def test_p_values_are_uniform_when_nothing_differs() -> None:
    rng = np.random.default_rng(3)
    draws = [rng.normal(size=40) for _ in range(400)]
    for ps in (
        [randomisation(d, 500, seed=i) for i, d in enumerate(draws)],
        [bootstrap(d, 500, seed=i).p for i, d in enumerate(draws)],
        [paired_t(d, np.zeros(40)) for d in draws],
    ):
        assert stats.kstest(ps, "uniform").pvalue > 0.01


# ---- laws of all resampling tests ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(reals, st.integers(-8, 8), st.randoms(use_true_random=False))
def test_sign_scale_and_query_order_do_not_matter(values: list[float], power: int, random) -> None:
    d = np.asarray(values)
    shuffled = values.copy()
    random.shuffle(shuffled)
    p, boot = randomisation(d, 200), bootstrap(d, 200)
    low, high = boot.interval
    assert randomisation(-d, 200) == p
    assert bootstrap(-d, 200).p == boot.p
    assert bootstrap(-d, 200).interval == (-high, -low)
    scale = 2.0**power
    assert randomisation(d * scale, 200) == p
    assert bootstrap(d * scale, 200).p == boot.p
    assert bootstrap(d * scale, 200).interval == (low * scale, high * scale)
    assert randomisation(shuffled, 200) == p
    assert bootstrap(shuffled, 200) == boot
    assert t_interval(shuffled) == t_interval(d)


def test_threads_do_not_matter() -> None:
    d = gaussian(333, 0.05, seed=1)
    with threads(1):
        alone = randomisation(d, 5000, 9), bootstrap(d, 5000, 9)
    with threads(3):
        assert (randomisation(d, 5000, 9), bootstrap(d, 5000, 9)) == alone


def test_the_seed_matters() -> None:
    d = gaussian(333, 0.05, seed=1)
    assert len({randomisation(d, 2000, seed) for seed in range(8)}) > 1
    assert len({bootstrap(d, 2000, seed) for seed in range(8)}) > 1


def test_equal_systems_have_p_one() -> None:
    a = gaussian(50, 0.3, seed=0)
    same = paired_differences(a, a + 1e-15)
    assert not same.any()
    assert (paired_t(a, a), randomisation(same), bootstrap(same).p) == (1.0, 1.0, 1.0)
    assert bootstrap(same).interval == (0.0, 0.0)


def test_one_query_proves_nothing() -> None:
    assert paired_t([0.9], [0.1]) == 1.0
    assert randomisation([0.8]) == 1.0
    assert t_interval([0.8]) == (-math.inf, math.inf)


def test_drawn_p_is_never_zero() -> None:
    d = np.full(100, 0.5)
    assert randomisation(d, 999) == 1 / 1000
    assert bootstrap(d, 999).p == 1 / 1000


# ---- bootstrap ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[1, 2, 3, -1, 4], [5, -2, 0, 0, 1], [3, 3, -3, 9]])
def test_bootstrap_estimates_all_resamples(values: list[int]) -> None:
    exact = float(all_bootstraps([Fraction(v, 10) for v in values]))
    p = bootstrap([v / 10 for v in values], 40_000).p
    assert abs(p - exact) < 5 * math.sqrt(exact * (1 - exact) / 40_000) + 1 / 40_000


def test_bootstrap_interval_covers_the_mean() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for trial in range(400):
        low, high = bootstrap(rng.exponential(1.0, 60) - 1.0, 400, trial, confidence=0.9).interval
        covered += low <= 0.0 <= high
    assert 0.83 < covered / 400 < 0.94


def test_bootstrap_draws_every_value() -> None:
    """Each of n values, odd or even in number, is as likely as the others."""
    for n in (2, 5, 64):
        for heavy in range(0, n, max(1, n // 4)):
            d = np.zeros(n)
            d[heavy] = 1.0
            low, high = bootstrap(d, 4000, confidence=0.999).interval
            assert low == 0.0 < high
            # Drawn exactly once, the centred sum is 0; else it is as far from 0 as the observed 1.
            not_once = 1 - (1 - 1 / n) ** (n - 1)
            assert abs(bootstrap(d, 4000).p - not_once) < 0.04


# ---- t and Holm ---------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 200), st.floats(-1, 1), st.integers(0, 1000))
def test_t_equals_scipy(n: int, shift: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.random(n) + shift, rng.random(n)
    expected = stats.ttest_rel(a, b)
    assert paired_t(a, b) == pytest.approx(expected.pvalue, rel=1e-9)
    assert paired_t(b, a) == paired_t(a, b)
    interval = expected.confidence_interval(0.9)
    assert t_interval(a - b, 0.9) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_a_constant_difference_is_certain() -> None:
    assert paired_t([0.5, 0.75, 1.0], [0.25, 0.5, 0.75]) == 0.0
    assert t_interval([0.25] * 3) == (0.25, 0.25)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_equals_its_definition(ps: list[float]) -> None:
    corrected = holm(ps)
    assert corrected.tolist() == pytest.approx(holm_by_definition(ps))
    assert (corrected >= np.asarray(ps)).all()
    assert (corrected <= 1.0).all()
    assert (np.diff(corrected[np.argsort(ps, kind="stable")]) >= 0.0).all()


def test_holm_on_a_known_case() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


# ---- bad input ----------------------------------------------------------------------------------------------------


def test_bad_input_is_explained() -> None:
    with refused(DataError, place="the differences", value=1):
        randomisation([0.0, math.nan])
    with refused(DataError, value=(0,)):
        bootstrap([])
    with refused(DataError, value=(2, 1)):
        paired_t([1, 2], [1])
    with refused(DataError, value=["x", "y"]):
        t_interval(["x", "y"])
    with refused(DataError, value=1.5):
        holm([0.5, 1.5])
    with refused(ArgumentError, setting="resamples", value=0):
        randomisation([1.0], resamples=0)
    with refused(ArgumentError, setting="seed", value=-1):
        bootstrap([1.0], seed=-1)
    with refused(ArgumentError, setting="confidence", value=95):
        t_interval([1.0, 2.0], confidence=95)


# ---- floors of resampling --------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-3, 30), min_size=1, max_size=40), st.sampled_from([15, 200, 1024]), st.integers(0, 5))
def test_p_is_at_its_floor_where_no_resample_is_as_extreme_and_exact_ones_have_none(values, resamples, seed):
    d = np.asarray(values, float)
    p, floor = randomisation(d, resamples, seed), randomisation_floor(d, resamples)
    moved = d[d != 0.0]
    if 2 ** len(moved) <= resamples:
        assert floor == 0.0
        assert p == float(all_sign_flips([Fraction(int(v)) for v in moved]))
        assert "<" not in p_value(p, floor)
        return
    sums = np.empty(resamples)
    with np.errstate(over="ignore"):
        sign_flip_sums(np.sort(np.abs(moved)), np.uint64(seed), 0, sums)
    reached = int((np.abs(sums) >= abs(moved.sum()) - 1e-9).sum())
    assert floor == 1 / (resamples + 1)
    assert p == (1 + reached) / (resamples + 1)
    assert p_value(p, floor).startswith("<") == (reached == 0)


def test_a_bootstrap_has_the_same_floor_unless_there_is_one_query_only():
    for d in (np.arange(1.0, 20.0), np.asarray([0.5, 0.4])):
        assert bootstrap(d, 99).floor == 0.01
    assert (bootstrap([0.8]).p, bootstrap([0.8]).floor) == (1.0, 0.0)
