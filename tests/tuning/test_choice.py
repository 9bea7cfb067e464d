"""The setting taken, the settings dropped, and what the best of many is worth, against slow and obvious computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rankinite.tuning.result import choose_setting, corrected_estimate
from rankinite.tuning.trials import CHANCE, LEAST, losers


def by_hand(values, sizes):
    """The rule, spelled out: of those whose shortfall is at most its standard error, the smallest, then the best."""
    means = [row.mean() for row in values]
    best = values[means.index(max(means))]
    near = []
    for place, row in enumerate(values):
        short = best - row
        error = short.std(ddof=1) / np.sqrt(len(short))
        if short.mean() <= error * (1 + 1e-12):
            near.append(place)
    return min(near, key=lambda place: (sizes[place], -means[place], place))


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_model_within_one_standard_error_is_taken(seed):
    drawing = np.random.default_rng(seed)
    values = drawing.normal(size=(6, 40)) * 0.1 + drawing.normal(size=(6, 1)) * 0.03 + drawing.normal(size=40)
    sizes = drawing.integers(1, 4, 6).tolist()
    assert choose_setting(values, sizes) == by_hand(values, sizes)


@pytest.mark.parametrize("seed", range(5))
def test_counting_a_query_twice_is_having_it_twice(seed):
    drawing = np.random.default_rng(seed)
    values, sizes = drawing.normal(size=(5, 30)), [3, 1, 2, 2, 1]
    drawn = drawing.integers(0, 30, 30)
    counts = np.bincount(drawn, minlength=30).astype(float)
    assert choose_setting(values, sizes, counts) == choose_setting(values[:, drawn], sizes)


def test_among_settings_that_differ_by_chance_alone_the_best_looks_good_and_the_estimate_does_not():
    optimism, estimates = [], []
    for seed in range(30):
        values = np.random.default_rng(seed).normal(size=(40, 100))
        optimism.append(values.mean(axis=1).max())
        estimates.append(corrected_estimate(values, [1.0] * 40, seed=seed, resamples=60).mean)
    spread = np.std(estimates) / np.sqrt(30)
    assert np.mean(optimism) > 0.2  # two standard errors of a mean of 100
    assert abs(np.mean(estimates)) < 4 * spread
    assert np.mean(estimates) < np.mean(optimism) / 4


def test_a_setting_that_is_better_everywhere_is_worth_what_it_shows():
    values = np.vstack([np.full(50, 0.2), np.linspace(0.5, 0.7, 50)])
    found = corrected_estimate(values, [1.0, 9.0])
    assert found.mean == pytest.approx(0.6, abs=0.005)
    assert found.low < 0.6 < found.high


def test_an_estimate_needs_more_than_one_query():
    assert corrected_estimate(np.ones((3, 1)), [1.0, 1.0, 1.0]) is None


@pytest.mark.parametrize("seed", range(10))
def test_losers_are_those_that_a_paired_test_finds_worse_than_the_leader(seed):
    drawing = np.random.default_rng(seed)
    done = {number: [drawing.normal(number * 0.1, 1, 40), drawing.normal(number * 0.1, 1, 30)] for number in range(6)}
    joined = {number: np.concatenate(values) for number, values in done.items()}
    leader = max(joined.values(), key=np.mean)
    expected = set()
    for number, values in joined.items():
        if values is not leader:
            z = (leader - values).mean() / stats.sem(leader - values)
            if stats.norm.sf(z) < CHANCE / 6:
                expected.add(number)
    assert losers(done, None) == expected


def test_an_earlier_best_counts_on_the_folds_done_and_few_queries_drop_nobody():
    good, bad = np.linspace(0.8, 1.0, LEAST + 5), np.linspace(0.0, 0.3, LEAST + 5)
    assert losers({4: [bad]}, [good, good]) == {4}
    assert losers({4: [bad]}, None) == set()
    assert losers({4: [bad[: LEAST - 1]]}, [good]) == set()
    assert losers({3: [good], 4: [good]}, None) == set()  # equals stay
    assert losers({}, [good]) == set()
