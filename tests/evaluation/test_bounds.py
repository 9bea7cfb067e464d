"""Intervals stay within what a measure can be, and lose nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import rankinite as rk
from rankinite.errors import DataError, MeasureError
from rankinite.evaluation.significance import bootstrap, paired_differences
from rankinite.measures.registry import default_measures

UNIT = (0.0, 1.0)
BOUNDS = {
    rk.NDCG(3): UNIT,
    rk.NDCG(discount="letor", short="zero"): UNIT,
    rk.AveNDCG(2): UNIT,
    rk.ERR(): UNIT,
    rk.AP(): UNIT,
    rk.AP(2, of="reachable"): UNIT,
    rk.RR(): UNIT,
    rk.Precision(3): UNIT,
    rk.Precision(2, of="returned"): UNIT,
    rk.Recall(2): UNIT,
    rk.BalancedError(): UNIT,
    rk.Success(2): UNIT,
    rk.Rprec(): UNIT,
    rk.F1(2): UNIT,
    rk.RBP(): UNIT,
    rk.QMeasure(): UNIT,
    rk.Bpref(): UNIT,
    rk.AUC(): UNIT,
    rk.Judged(2): UNIT,
    rk.DCG(): (0.0, math.inf),
    rk.DCG(2, gains="linear"): (0.0, math.inf),
    rk.PairwiseErrors(): (0.0, math.inf),
    rk.DCG(gains=(0, 1, 3, 7, 10)): (0.0, math.inf),
    rk.NDCG(gains=(0, 1, 3, 7, 10)): UNIT,
    rk.AveNDCG(2, gains=(0, 1, 3, 7, 10)): UNIT,
    rk.AveNDCG(2, gains=(-1, 0, 1, 2, 3)): (-math.inf, 1.0),
    rk.DCG(gains=(-1, 0, 1, 2, 3)): (-math.inf, math.inf),
    rk.NDCG(gains=(-1, 0, 1, 2, 3)): (-math.inf, 1.0),
}
"""The least and the greatest mean that each can have, by its definition."""
LISTED = {measure.name for measure in BOUNDS}
BOUNDS |= {measure: measure.bounds for name, measure in default_measures() if name not in LISTED}
"""What is not listed has the bounds that it states, and must keep them."""
TINY = 1e-12
QUERY = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=5)
"""Grade, and one score of either system, for each document."""


def judged(queries, **reading):
    grades, first, second = np.concatenate([np.asarray(query, float) for query in queries]).T
    return rk.read(np.zeros((len(grades), 1)), grades=grades, group=[len(query) for query in queries], **reading), first, second


def intersection(interval, bounds):
    return max(interval[0], bounds[0]), min(interval[1], bounds[1])


def student(values):
    return stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))


@pytest.mark.parametrize(("measure", "bounds"), BOUNDS.items(), ids=str)
@settings(max_examples=15, deadline=None)
@given(st.lists(QUERY, min_size=1, max_size=6))
def test_intervals_are_students_within_the_bounds_and_hold_the_mean(measure, bounds, queries):
    data, first, second = judged(queries)
    try:
        found = rk.compare({"first": first, "second": second}, data, measure, resamples=20)
    except (DataError, MeasureError):
        assume(condition=False)  # nothing to judge by
        raise
    assert measure.bounds == bounds
    width = bounds[1] - bounds[0]
    counted = [found[name][measure].per_query for name in ("first", "second")]
    counted = [values[~np.isnan(values)] for values in counted]
    pair = found.pairs[0]
    means = [found["first"][measure].mean, found["second"][measure].mean, pair.difference]
    intervals = [found["first"][measure].interval, found["second"][measure].interval, pair.interval]
    for values, mean, (low, high), own in zip(
        (*counted, counted[0] - counted[1]), means, intervals, (bounds, bounds, (-width, width)), strict=True
    ):
        assert own[0] - TINY <= low <= mean <= high <= own[1] + TINY
        if len(values) == 1:
            assert (low, high) == pytest.approx(own)
        elif np.ptp(values) > TINY:
            assert (low, high) == pytest.approx(intersection(student(values), own), abs=1e-9)
    booted = bootstrap(paired_differences(*counted), 20).interval
    assert pair.bootstrap_interval == pytest.approx(intersection(booted, (-width, width)), abs=1e-9)


@pytest.mark.parametrize(("measure", "bounds"), BOUNDS.items(), ids=str)
@settings(max_examples=25, deadline=None)
@given(st.lists(QUERY, min_size=1, max_size=6))
def test_no_value_is_beyond_the_bounds(measure, bounds, queries):
    data, scores, _ = judged(queries)
    try:
        result = rk.evaluate(scores, data, measure)[measure]
    except (DataError, MeasureError):
        assume(condition=False)
        raise
    values = [result.mean] if measure.pooled else result.per_query[~np.isnan(result.per_query)]
    assert np.min(values) >= bounds[0] - TINY
    assert np.max(values) <= bounds[1] + TINY


def test_every_measure_that_has_a_name_has_bounds():
    for name in rk.measures.known_measures():
        assert isinstance(rk.parse_measure(name), rk.BoundedMeasure)


def test_a_bound_that_a_value_is_beyond_cuts_nothing():
    """Grades below 0, where they are kept, make NDCG negative."""
    queries = [[(-1 + 0, 3, 0), (0, 2, 0), (2, 1, 0)], [(4, 3, 0), (0, 2, 0)]]
    data, scores, _ = judged(queries, unjudged="keep")
    result = rk.evaluate(scores, data, rk.NDCG(1, gains="linear")).results[0]
    assert result.per_query[0] < 0.0
    assert result.interval == pytest.approx((student(result.per_query)[0], 1.0))


def test_a_function_may_say_its_bounds_and_has_none_otherwise():
    data, scores, _ = judged([[(4, 1, 0), (0, 0, 0)], [(0, 1, 0), (1, 0, 0)]])
    free, bounded = (
        rk.FunctionMeasure("top", lambda grades: float(grades[0]), **options) for options in ({}, {"bounds": (0.0, 4.0)})
    )
    wide, narrow = (rk.evaluate(scores, data, measure).results[0].interval for measure in (free, bounded))
    assert wide == pytest.approx(student([4.0, 0.0]))
    assert narrow == (0.0, 4.0)
    assert not isinstance(object(), rk.BoundedMeasure)


def test_gains_of_the_learning_curve_stay_within_the_bounds():
    values = {"background": np.asarray([[0.0, 0.1], [0.0, 0.1]]), "smart": np.asarray([[1.0, 0.2], [0.6, 0.1]])}
    curve = rk.adapt.LearningCurve(rk.NDCG(10), (4, 8), values)
    for (_, gain, (low, high)), own in zip(curve.gains("smart"), values["smart"] - values["background"], strict=True):
        assert (low, high) == pytest.approx(intersection(student(own), (-1.0, 1.0)))
        assert -1.0 <= low <= gain <= high <= 1.0


def test_printed_ends_are_those_of_the_cut_interval():
    data, first, second = judged([[(1, a, b), (0, 1, 1)] for a, b in ((2, 2), (2, 0), (2, 2), (0, 2))])
    found = rk.compare({"first": first, "second": second}, data, "rr")
    for row, name in zip(found.grid().rows, found.systems, strict=True):
        result = found[name].results[0]
        half = student(result.per_query)[1] - result.mean
        assert result.mean + half > 1.0
        assert row[2].startswith(f"{result.mean:.4f} ({result.mean - half:.4f} to 1.0000)")
