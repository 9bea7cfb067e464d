"""Curves: which weight is best, smoothing, pictures; and the sorting of records they are made of."""

from __future__ import annotations

import io
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankinite as rk
from rankinite.sweep import _record_kernels as kernels
from rankinite.sweep.curve import COLUMNS, Curve
from refusals import refused

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt


def curve(edges, values, **settings):
    return Curve(np.asarray(edges, float), np.asarray(values, float), "ndcg@10", **settings)


def test_values_between_edges():
    made = curve([-1, 0, 2], [0.3, 0.5])
    assert [made.value_at(alpha) for alpha in (-1, -0.5, 0, 1, 2)] == [0.3, 0.3, 0.5, 0.5, 0.5]
    for outside in (-1.1, 2.1, np.nan):
        with refused(rk.ArgumentError, setting="alpha") as caught:
            made.value_at(outside)
        assert "from -1 to 2" in caught.value.rule


def test_the_best_is_the_middle_of_an_interval():
    assert curve([1, 2, 4, 5], [0.3, 0.5, 0.4]).best() == (3.0, 0.5)
    assert curve([1, 2, 4, 5], [0.3, 0.5, 0.2], higher_is_better=False).best() == (4.5, 0.2)
    assert curve([-2, -1, 4], [0.5, 0.4], at_zero=0.4).best() == (-1.5, 0.5)
    assert curve([-1e308, 1e308], [0.5]).best() == (0.0, 0.5)


def test_of_equally_good_ones_zero_then_the_widest_then_the_nearest_to_zero():
    assert curve([-2, -1, 4, 5], [0.5, 0.4, 0.5], at_zero=0.5 - 1e-14).best() == (0.0, 0.5 - 1e-14)
    assert curve([1, 2, 4, 7], [0.5, 0.4, 0.5 - 1e-14]).best() == (5.5, 0.5 - 1e-14)
    assert curve([1, 2, 3, 4], [0.5, 0.4, 0.5]).best() == (1.5, 0.5)
    assert curve([-4, -3, -2, -1], [0.5, 0.4, 0.5]).best() == (-1.5, 0.5)


def test_smoothing_is_the_mean_over_a_window():
    made = curve([0, 1, 1.1, 2, 4], [0.2, 0.9, 0.3, 0.5], at_zero=0.2)
    smooth = made.smoothed(0.5)
    assert smooth.edges is made.edges
    fine = np.linspace(0, 4, 400_001)
    values = made.values[np.clip(made.edges.searchsorted(fine, side="right") - 1, 0, 3)]
    for number, middle in enumerate((made.edges[1:] + made.edges[:-1]) / 2):
        inside = np.abs(fine - middle) <= 0.25
        assert smooth.values[number] == pytest.approx(values[inside].mean(), abs=1e-4)
    assert smooth.at_zero == 0.2
    assert made.best()[0] == pytest.approx(1.05)
    assert smooth.best() == (3.0, 0.5)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=9), st.floats(0.01, 100.0))
def test_smoothing_stays_within_the_curve(widths, width):
    values = np.sin(np.arange(len(widths)))
    smooth = curve([0, *np.cumsum(widths)], values).smoothed(width)
    assert (smooth.values >= values.min() - 1e-9).all()
    assert (smooth.values <= values.max() + 1e-9).all()
    flat = curve([0, *np.cumsum(widths)], np.full(len(widths), 0.1)).smoothed(width)
    assert (flat.values == 0.1).all()


@pytest.mark.parametrize("width", [0, -1, np.inf, np.nan])
def test_a_window_needs_a_width(width):
    with refused(rk.ArgumentError, owner="smoothed", setting="width"):
        curve([0, 1], [0.5]).smoothed(width)


# ---- pictures -----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_the_curve_is_drawn_step_by_step_with_its_best_weight():
    axes = curve([0, 1, 3], [0.25, 0.5]).plot()
    steps, best = axes.get_lines()
    assert steps.get_xydata().tolist() == [[0, 0.25], [1, 0.25], [1, 0.5], [3, 0.5]]
    assert best.get_xydata().tolist() == [[2, 0.5]]
    assert axes.get_xlabel() == "α in s + αt"
    assert "(1−α)s" in curve([0, 1], [0.5], form="convex").plot().get_xlabel()
    canvas = io.BytesIO()
    axes.figure.savefig(canvas, format="png")
    assert canvas.getvalue().startswith(b"\x89PNG")
    _, given_axes = plt.subplots()
    assert curve([0, 1], [0.5]).plot(given_axes) is given_axes


def test_of_very_many_steps_each_column_keeps_its_lowest_and_highest():
    values = np.random.default_rng(1).normal(size=100_000)
    edges = np.linspace(0, 1, 100_001)
    line = curve(edges, values).plot().get_lines()[0]
    assert len(line.get_xdata()) <= 2 * COLUMNS
    assert (np.diff(line.get_xdata()) > 0).all()
    drawn = set(line.get_ydata().tolist())
    for column in range(100):  # of 50 intervals each
        part = values[column * 50 : column * 50 + 50]
        assert {part.min(), part.max()} <= drawn


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with refused(rk.ArgumentError, value="matplotlib") as caught:
        curve([0, 1], [0.5]).plot()
    assert "rankinite[plots]" in caught.value.remedy


# ---- records ------------------------------------------------------------------------------------------------------

numbers = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, 1.0, -1.0, 5e-324, -5e-324]))


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, max_size=40), st.lists(numbers, max_size=40))
def test_records_are_sorted_and_merged_by_weight(one, other):
    runs = []
    for part in (one, other):
        alphas = np.asarray(part, float) + 0.0
        values = np.arange(1.0, len(part) + 1)
        keys, steps = np.empty(len(part), np.int64), np.empty(len(part), np.int64)
        # One record a query: each is a step from nothing.
        counts = np.ones(len(part), np.int64)
        kernels.count_in_units(alphas.view(np.int64), values, counts, 4.0, keys, steps)
        kernels.sort_by_key(keys, steps, np.empty_like(keys), np.empty_like(keys))
        order = np.argsort(alphas, kind="stable")
        assert (steps == 4 * values[order]).all()
        runs.append((keys, steps))
    total = len(one) + len(other)
    keys, steps = np.empty(total, np.int64), np.empty(total, np.int64)
    kernels.merge(*runs[0], *runs[1], keys, steps)
    assert (keys[:-1] <= keys[1:]).all()
    bits = np.asarray([kernels.key_of(key) for key in keys.tolist()], np.int64)
    assert bits.view(np.float64).tolist() == sorted([*one, *other])
    assert sorted(steps.tolist()) == sorted([*runs[0][1].tolist(), *runs[1][1].tolist()])


def test_steps_add_up_to_a_curve():
    alphas = np.asarray([0.0, 1.0, 1.0, 2.0, 2.0 + 1e-13, 3.0, 3.0, 4.0 - 1e-13])
    steps = np.asarray([10, 1, 2, -1, 5, 3, -3, 7])
    edges, totals = np.empty(10), np.empty(9, np.int64)
    count = kernels.add_up(alphas.view(np.int64), steps, 0.0, 4.0, edges, totals)
    assert edges[: count + 1].tolist() == [0, 1, 2, 3, 4]
    assert totals[:count].tolist() == [10, 13, 17, 17]
