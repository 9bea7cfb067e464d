"""Bins and codes against counting, and the laws that tie thresholds to codes."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import bins as oracle
from oracles.columns import COLUMNS, by_feature, column, edges_of, mixed
from rankinite.errors import ArgumentError, DataError
from rankinite.trees._bin_kernels import sort_values
from rankinite.trees._state import MISSING
from rankinite.trees.bins import Bins, fit_bins
from refusals import refused

# ---- edges ----------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(values=COLUMNS, most=st.integers(2, 12))
def test_edges_are_those_of_counting(values, most):
    bins = fit_bins(column(values), most=most)
    assert edges_of(bins).tolist() == oracle.edges(np.asarray(values, np.float32), most)
    assert bins.has_missing.tolist() == [any(map(math.isnan, values))]


@settings(max_examples=150, deadline=None)
@given(values=st.lists(st.integers(0, 25).map(lambda n: float(n * n // 10)), min_size=1, max_size=200), most=st.integers(2, 15))
def test_edges_of_many_duplicates_are_those_of_counting(values, most):
    assert edges_of(fit_bins(column(values), most=most)).tolist() == oracle.edges(values, most)


@settings(max_examples=200, deadline=None)
@given(values=COLUMNS, most=st.sampled_from([2, 3, 7, 255]))
def test_edges_are_finite_rise_and_leave_no_bin_empty(values, most):
    bins = fit_bins(column(values), most=most)
    edges = edges_of(bins)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert len(edges) < most
    present = set(by_feature(bins.code(column(values))).ravel().tolist()) - {MISSING}
    assert present == (set() if all(map(math.isnan, values)) else set(range(len(edges) + 1)))


@settings(max_examples=100, deadline=None)
@given(values=COLUMNS)
def test_few_values_have_a_bin_each(values):
    codes = by_feature(fit_bins(column(values)).code(column(values))).ravel()
    truth = np.unique(np.asarray(values, np.float32), return_inverse=True)[1]
    missing = np.isnan(np.asarray(values))
    assert (codes[~missing] == truth[~missing]).all()
    assert (codes[missing] == MISSING).all()


def test_the_full_number_of_values_is_still_exact():
    values = np.random.default_rng(1).permutation(np.repeat(np.arange(255), 3))
    assert edges_of(fit_bins(column(values))).tolist() == [number + 0.5 for number in range(254)]
    assert len(edges_of(fit_bins(column([*values, 255.0])))) == 254


def test_constant_and_missing_features_have_no_edges():
    bins = fit_bins(mixed(300))
    assert [len(edges_of(bins, f)) for f in (7, 8)] == [0, 0]
    assert bins.has_missing.nonzero()[0].tolist() == [4, 8]
    assert set(by_feature(bins.code(mixed(300)))[:, 7]) == {0}
    assert set(by_feature(bins.code(mixed(300)))[:, 8]) == {MISSING}


@pytest.mark.parametrize("most", [2, 16, 100, 255])
def test_bins_of_continuous_data_have_about_equal_rows(most):
    values = np.random.default_rng(2).lognormal(size=(10_000, 1)).astype(np.float32)
    counts = np.bincount(by_feature(fit_bins(values, most=most).code(values)).ravel())
    assert len(counts) == most
    assert counts.min() >= 10_000 // most - 2
    assert counts.max() <= -(-10_000 // most) + 2


@pytest.mark.parametrize("heavy", [[0.0], [-5.0], [5.0], [-5.0, -3.999, 0.0, 0.25, 5.0]], ids=str)
def test_heavy_values_have_bins_of_their_own_and_the_rest_share_the_others(heavy):
    """Heavy at the ends and in the middle, one with hardly a light value before it."""
    light = np.random.default_rng(3).uniform(-4, 4, 4_000)
    values = np.concatenate((light, *(np.full(1_500 * (number + 1), value) for number, value in enumerate(heavy))))
    codes = by_feature(fit_bins(column(values), most=40).code(column(values))).ravel()
    for value in heavy:
        assert set(values[codes == codes[values == value][0]]) == {value}
    counts = np.bincount(codes[: len(light)], minlength=codes.max() + 1)
    assert codes.max() == 39
    assert (counts > 0).sum() == 40 - len(heavy)
    assert counts.max() < 1.5 * len(light) / (40 - len(heavy))


@settings(max_examples=200, deadline=None)
@given(data=st.data(), most=st.integers(3, 30))
def test_a_value_above_its_share_is_alone_whenever_there_are_bins_enough(data, most):
    counts = data.draw(st.lists(st.sampled_from([1, 1, 1, 2, 3, 40, 90]), min_size=most + 1, max_size=60))
    values = np.repeat(np.arange(len(counts)), counts)
    heavy = oracle.heavy_values(dict(enumerate(counts)), most)
    codes = by_feature(fit_bins(column(values), most=most).code(column(values))).ravel()
    if 2 * len(heavy) + 1 <= most:
        for value in heavy:
            assert set(values[codes == codes[values == value][0]]) == {value}
    assert codes.max() + 1 <= most


def test_the_order_of_rows_does_not_matter():
    features = mixed(2_000)
    bins, other = fit_bins(features), fit_bins(features[np.random.default_rng(4).permutation(2_000)])
    assert bins.edges.tobytes() == other.edges.tobytes()
    assert bins.starts.tolist() == other.starts.tolist()
    assert bins.has_missing.tolist() == other.has_missing.tolist()


def test_a_sample_is_drawn_by_content_whatever_the_order():
    features, turn = mixed(3_000), np.random.default_rng(4).permutation(3_000)
    bins, turned = fit_bins(features, sample=500), fit_bins(features[turn], sample=500)
    assert bins.edges.tobytes() == turned.edges.tobytes() != fit_bins(features).edges.tobytes()
    assert fit_bins(features, sample=3_000).edges.tobytes() == fit_bins(features, sample=9_999).edges.tobytes()


def test_a_sample_has_the_rows_of_the_lowest_keys_but_misses_no_missing_value():
    features, keys = np.arange(1_000, dtype=np.float32)[:, None] % 200, np.random.default_rng(1).permutation(1_000)
    chosen = np.flatnonzero(keys < 50)
    bins = fit_bins(features, sample=50, keys=keys.astype(np.uint64))
    assert bins.edges.tobytes() == fit_bins(features[chosen]).edges.tobytes()
    assert not bins.has_missing[0]
    features[np.flatnonzero(keys == 777)] = np.nan
    assert fit_bins(features, sample=50, keys=keys.astype(np.uint64)).has_missing[0]


@pytest.mark.parametrize(
    ("setting", "value"),
    [("most", 1), ("most", 256), ("sample", 0)],
)
def test_settings_outside_their_range_are_refused(setting, value):
    with refused(ArgumentError, owner="fit_bins", setting=setting, value=value):
        fit_bins(mixed(10), **{setting: value})


def test_rows_with_other_features_are_refused():
    bins = fit_bins(mixed(10))
    with refused(DataError, value=20):
        bins.code(mixed(10)[:, :20])
    with refused(DataError, value=(3,)):
        fit_bins(np.zeros(3, np.float32))


def test_kernels_mean_the_same_without_the_compiler():
    script = (
        "import sys, numpy as np; from rankinite.trees.bins import fit_bins\n"
        "features = np.frombuffer(sys.stdin.buffer.read(), np.float32).reshape(-1, 21)\n"
        "bins = fit_bins(features, most=9, sample=100)\n"
        "sys.stdout.buffer.write(bins.edges.tobytes() + bins.has_missing.tobytes() + bins.code(features).blocks.tobytes())"
    )
    features = mixed(120)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error::RuntimeWarning"}
    plain = subprocess.run(
        [sys.executable, "-c", script], input=features.tobytes(), env=environment, check=True, capture_output=True
    ).stdout
    bins = fit_bins(features, most=9, sample=100)
    assert isinstance(bins, Bins)
    assert plain == bins.edges.tobytes() + bins.has_missing.tobytes() + bins.code(features).blocks.tobytes()


@settings(deadline=None)
@given(st.lists(st.floats(width=32) | st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan]), max_size=300))
def test_values_are_sorted_as_numpy_does(values):
    given_values = np.asarray(values, np.float32)
    ordered, spare = given_values.copy(), np.empty_like(given_values)
    sort_values(ordered.view(np.uint32), spare.view(np.uint32), np.empty((4, 256), np.int64))
    np.testing.assert_array_equal(ordered, np.sort(given_values))
