"""Decision: which method is chosen and which recommended, from made-up values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankinite.adapt.decision import CLEARLY, decide

ZERO = np.zeros(8)
NOISE = np.asarray([0.1, -0.1, 0.2, -0.2, 0.05, -0.05, 0.15, -0.15])
"""Mean 0."""


def spread_about(mean):
    """Values whose mean is this many of their standard errors above 0."""
    return NOISE + mean * stats.sem(NOISE)


@pytest.mark.parametrize(("above", "chosen"), [(0.0, "simple"), (0.99, "simple"), (1.01, "complex"), (3.0, "complex")])
def test_without_an_average_the_simplest_near_the_best_is_chosen(above, chosen):
    verdict = decide({"background": ZERO, "simple": ZERO, "complex": spread_about(above)})
    assert verdict.name == chosen
    assert verdict.best == ("complex" if above > 0 else "simple")


def test_a_simpler_method_may_be_chosen_though_one_in_between_is_better():
    values = {"background": ZERO - 1, "simple": ZERO, "between": spread_about(0.2), "best": spread_about(0.5)}
    assert decide(values).name == "simple"
    assert decide({"best": values["best"], **values}).name == "best"  # the order decides what is simple


@pytest.mark.parametrize("confidence", [0.6, 0.8, 0.95])
def test_a_change_is_recommended_only_with_confidence(confidence):
    needed = stats.t.ppf(confidence, len(NOISE) - 1)
    for above, sure in ((-1.0, False), (0.0, False), (needed * 0.999, False), (needed * 1.001, True)):
        verdict = decide({"background": ZERO, "other": spread_about(above)}, confidence=confidence)
        assert (verdict.name, verdict.recommended) == ("other", "other" if sure else "background")
        assert verdict.confidence == confidence


def test_a_method_picked_from_many_is_not_recommended_by_chance_more_often_than_it_may():
    random = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):
        values = {name: random.normal(size=40) for name in ("background", "a", "b", "c", "d", "e")}
        wrong += decide(values, confidence=0.8).recommended != "background"
    assert wrong / 300 <= 0.2 + 2 * np.sqrt(0.2 * 0.8 / 300)


def test_the_average_is_taken_unless_one_is_clearly_better():
    needed = stats.t.ppf(CLEARLY, len(NOISE) - 1)
    for above, chosen in ((-1.0, "average"), (0.5, "average"), (needed * 0.999, "average"), (needed * 1.001, "one")):
        verdict = decide({"background": ZERO - 0.01 * NOISE - 1, "one": spread_about(above), "average": ZERO})
        assert verdict.name == verdict.recommended == chosen
        assert verdict.best == ("one" if above > 0 else "average")


def test_the_background_is_a_yardstick_and_never_the_method_chosen():
    verdict = decide({"background": ZERO + 1, "target": ZERO, "other": ZERO - 1, "average": ZERO - NOISE})
    assert (verdict.name, verdict.recommended) == ("average", "background")
    assert verdict.best in {"target", "average"}


def test_what_equals_the_background_is_not_recommended():
    verdict = decide({"background": NOISE, "other": NOISE, "average": NOISE})
    assert (verdict.name, verdict.recommended) == ("average", "background")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 20), st.booleans())
def test_neither_a_shift_nor_the_order_of_queries_matters(seed, queries, with_average):
    random = np.random.default_rng(seed)
    names = ["background", "target", "a", "b", *(["average"] if with_average else [])]
    values = {name: np.round(random.normal(size=queries), 3) for name in names}
    verdict, order = decide(values), random.permutation(queries)
    assert decide({name: array[order] for name, array in values.items()}) == verdict
    assert decide({name: array + 8.0 for name, array in values.items()}) == verdict
    assert verdict.recommended in {verdict.name, "background"}
    assert values[verdict.best].mean() == pytest.approx(max(values[name].mean() for name in names[1:]))
