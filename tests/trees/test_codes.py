"""Codes are the numbers of edges below values, in blocks that every thread and layout of memory fills alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from oracles import bins as oracle
from oracles.columns import COLUMNS, LARGEST, by_feature, column, edges_of, mixed, threshold_of
from rankinite.engine.parallel import SMALLEST
from rankinite.trees._state import MISSING, WIDTH
from rankinite.trees.bins import fit_bins


@settings(max_examples=200, deadline=None)
@given(seen=COLUMNS, unseen=COLUMNS, most=st.sampled_from([2, 5, 255]))
def test_codes_count_the_edges_below(seen, unseen, most):
    bins = fit_bins(column(seen), most=most)
    beside = [
        np.nextafter(np.float32(edge), np.float32(9 * side)) for edge in bins.edges[:9] if edge > -1e38 for side in (-1, 1)
    ]
    rows = column(seen + unseen + beside)
    codes = bins.code(rows)
    assert by_feature(codes).ravel().tolist() == [oracle.code(float(value), edges_of(bins)) for value in rows.ravel()]


@pytest.mark.parametrize("columns", [1, 15, 16, 17, 21])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 1_000])
def test_codes_of_any_shape_are_those_of_searching(rows, columns):
    bins, features = fit_bins(mixed(2_500)[:, :columns]), mixed(rows, seed=5)[:, :columns]
    codes = bins.code(features)
    truth = np.stack([np.searchsorted(edges_of(bins, f), features[:, f].astype(float)) for f in range(columns)], axis=1)
    assert (by_feature(codes) == np.where(np.isnan(features), MISSING, truth)).all()
    assert codes.blocks.shape == (-(-columns // WIDTH), rows, WIDTH)
    assert (codes.rows, codes.features) == (rows, columns)
    padding = codes.blocks.transpose(1, 0, 2).reshape(rows, -1)[:, columns:]
    assert not padding.any()


def test_blocks_are_aligned_contiguous_and_read_only():
    blocks = fit_bins(mixed(300)).code(mixed(300)).blocks
    assert blocks.ctypes.data % 64 == 0
    assert blocks.flags.c_contiguous
    assert not blocks.flags.writeable
    assert blocks.dtype == np.uint8


@settings(max_examples=200, deadline=None)
@given(values=COLUMNS, others=COLUMNS, most=st.sampled_from([2, 5, 255]))
def test_a_threshold_parts_rows_as_codes_do_in_both_precisions(values, others, most):
    bins = fit_bins(column(values), most=most)
    rows = np.asarray(values + others, np.float32)
    codes = by_feature(bins.code(rows[:, None])).ravel()
    for code in range(len(bins.edges) + 1):
        threshold = threshold_of(bins, 0, code)
        with np.errstate(over="ignore"):
            single = np.float32(threshold)
        single = np.nextafter(single, np.float32(-np.inf)) if float(single) > threshold else single
        left = codes <= code
        assert (left == (rows.astype(np.float64) <= threshold)).all()
        assert (left == (rows <= single)).all()


def test_the_last_code_of_a_feature_parts_what_is_there_from_what_is_missing():
    bins = fit_bins(mixed(300))
    assert threshold_of(bins, 4, len(edges_of(bins, 4))) == math.inf
    assert threshold_of(bins, 7, 0) == math.inf


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([-np.inf, -LARGEST], [0, 1, 1, 1, 1]),
        ([LARGEST, np.inf], [0, 0, 0, 0, 1]),
        ([1, np.inf], [0, 0, 0, 0, 1]),
        ([-np.inf, 0, np.inf], [0, 1, 1, 1, 2]),
        ([-np.inf, np.inf], [0, 1, 1, 1, 1]),
    ],
    ids=str,
)
def test_an_infinity_is_parted_from_finite_values_seen_or_not(values, codes):
    assert by_feature(fit_bins(column(values)).code(column([-np.inf, -LARGEST, 0, LARGEST, np.inf]))).ravel().tolist() == codes


def test_more_threads_change_nothing():
    features = mixed(3 * SMALLEST + 5)
    results = []
    for count in (1, 2, 3):
        with rk.threads(count):
            bins = fit_bins(features, sample=SMALLEST)
            results.append((bins.edges.tobytes(), bins.has_missing.tobytes(), bins.code(features).blocks.tobytes()))
    assert results[0] == results[1] == results[2]


def test_other_layouts_of_memory_mean_the_same():
    features = mixed(500)
    bins, turned = fit_bins(features), fit_bins(np.asfortranarray(features))
    assert bins.edges.tobytes() == turned.edges.tobytes()
    assert bins.code(features[::2]).blocks.tobytes() == bins.code(features[::2].copy()).blocks.tobytes()


def test_no_rows_and_no_features_are_no_trouble():
    bins = fit_bins(np.zeros((0, 3), np.float32))
    assert bins.starts.tolist() == [0, 0, 0, 0]
    assert bins.code(np.zeros((0, 3), np.float32)).rows == 0
    none = fit_bins(np.zeros((4, 0), np.float32))
    assert (none.features, none.code(np.zeros((4, 0), np.float32)).rows) == (0, 4)
