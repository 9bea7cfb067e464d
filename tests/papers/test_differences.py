"""Differences of systems: means and intervals against SciPy's, with independent units as the sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from papers.differences import difference, mean_of
from papers.experiment import Case, Outcome, Outcomes

RANDOM = np.random.default_rng(0)


def outcome(first, second) -> Outcome:
    return Outcome({"test": {"a": {"m": np.asarray(first, float)}, "b": {"m": np.asarray(second, float)}}})


def results(*found) -> Outcomes:
    """Pieces (unit, test queries, settings, differences); system b is 0.2 everywhere."""
    return Outcomes(
        [
            (
                Case(f"{number}", unit, queries=queries, settings=settings),
                outcome(np.asarray(gains) + 0.2, np.full(len(gains), 0.2)),
            )
            for number, (unit, queries, settings, gains) in enumerate(found)
        ]
    )


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_the_queries_of_one_unit_are_the_sample(gains):
    found = difference(results(("u", "q", {}, gains)), "a", "b", "m")
    interval = stats.t.interval(0.95, len(gains) - 1, np.mean(gains), stats.sem(gains)) if np.ptp(gains) > 1e-9 else None
    assert found.mean == pytest.approx(np.mean(gains), abs=1e-12)
    if interval is not None:
        assert found.interval() == pytest.approx(interval, abs=1e-9)
        assert 2 * min(found.p_above(), found.p_below()) == pytest.approx(stats.ttest_1samp(gains, 0.0).pvalue, abs=1e-9)


def test_three_units_are_the_sample_whatever_their_sizes():
    units = [RANDOM.normal(0.1, 0.3, size) for size in (5, 50, 500)]
    found = difference(results(*((f"u{n}", "q", {}, gains) for n, gains in enumerate(units))), "a", "b", "m")
    means = [gains.mean() for gains in units]
    assert found.of_units
    assert found.sample == 3
    assert found.interval() == pytest.approx(stats.t.interval(0.95, 2, np.mean(means), stats.sem(means)))


def test_two_units_are_too_few_so_their_queries_are_joined():
    one, two = RANDOM.normal(0.1, 0.3, (2, 20))
    found = difference(results(("u", "q", {}, one), ("v", "q", {}, two)), "a", "b", "m")
    both = np.concatenate([one, two])
    assert not found.of_units
    assert found.interval() == pytest.approx(stats.t.interval(0.95, 39, both.mean(), stats.sem(both)))


def test_folds_add_queries_and_sizes_are_averaged():
    one, two = RANDOM.normal(0.1, 0.3, (2, 20))
    folds = difference(results(("u", "fold 1", {"fold": 1}, one), ("u", "fold 2", {"fold": 2}, two)), "a", "b", "m")
    assert folds.sample == 40
    sizes = difference(results(("u", "q", {"size": 5}, one), ("u", "q", {"size": 50}, two)), "a", "b", "m")
    mean = (one + two) / 2
    assert sizes.sample == 20
    assert sizes.interval() == pytest.approx(stats.t.interval(0.95, 19, mean.mean(), stats.sem(mean)))


def test_draws_widen_the_interval_by_their_own_error():
    queries = RANDOM.normal(0.0, 0.1, 200)
    same = [("u", "q", {"draw": draw}, queries) for draw in range(3)]
    apart = [("u", "q", {"draw": draw}, queries + 0.1 * draw) for draw in range(3)]
    first, second = (difference(results(*found), "a", "b", "m") for found in (same, apart))
    assert first.error == pytest.approx(stats.sem(queries))
    assert second.error**2 == pytest.approx(stats.sem(queries) ** 2 + 0.1**2 / 3)  # draws at 0, 0.1, 0.2: variance 0.01
    assert second.freedom < 3  # the error of three draws is what counts


def test_the_interval_covers_as_often_as_it_says():
    """Few draws and few queries, both with an effect of their own: at least 93 % of 400 intervals hold the truth."""
    held = 0
    for _ in range(400):
        queries = RANDOM.normal(0.0, 0.2, 30)
        found = [("u", "q", {"draw": d}, queries + RANDOM.normal(0.0, 0.05) + RANDOM.normal(0, 0.1, 30)) for d in range(4)]
        low, high = difference(results(*found), "a", "b", "m").interval()
        held += low <= 0.0 <= high
    assert held >= 0.93 * 400


def test_changing_places_mirrors_the_difference():
    own = results(("u", "q", {}, RANDOM.normal(0.1, 0.3, 20)))
    one, other = difference(own, "a", "b", "m"), difference(own, "b", "a", "m")
    assert (one.mean, one.error) == (pytest.approx(-other.mean), pytest.approx(other.error))
    assert one.p_above() == pytest.approx(other.p_below())


def test_queries_that_tell_nothing_are_left_out_and_systems_that_are_missing_are_none():
    own = Outcomes([(Case("c", "u"), outcome([0.5, np.nan, 0.7], [0.4, np.nan, 0.4]))])
    assert difference(own, "a", "b", "m").mean == pytest.approx(0.2)
    assert mean_of(own, "a", "m").mean == pytest.approx(0.6)
    assert difference(own, "a", "c", "m") is None
    assert difference(own, "a", "b", "other") is None
    assert difference(own, "a", "b", "m", "open") is None


def test_one_query_tells_nothing():
    found = difference(results(("u", "q", {}, [0.3])), "a", "b", "m")
    assert found.interval() == (-np.inf, np.inf)
    assert found.p_above() == found.p_below() == 1.0


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=9), min_size=3, max_size=6))
def test_three_worlds_are_compared_by_their_means_alone(worlds):
    """What is kept of worlds gives the same differences as every query's value."""
    cases = [(Case(f"{n}", f"w{n}"), outcome(values, np.full(len(values), 0.2))) for n, values in enumerate(worlds)]
    kept = [(case, Outcome.from_record(one.record(means=True))) for case, one in cases]
    by_query, by_mean = (difference(Outcomes(pairs), "a", "b", "m") for pairs in (cases, kept))
    assert by_mean.interval() == pytest.approx(by_query.interval(), abs=1e-8)
