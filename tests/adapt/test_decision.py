"""Decision: which method is chosen and which recommended, from made-up values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankinite.adapt.decision import CLEARLY, RANKING, decide
from rankinite.adapt.gain_posterior import GainEvidence, GainPosterior
from rankinite.adapt.gain_prior import AVERAGE, SINGLE, TARGET_ALONE

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


def test_of_those_near_the_best_one_that_is_preferred_is_chosen():
    values = {
        "background": ZERO - 1,
        "far": ZERO - 0.5,
        "simple": ZERO,
        "between": spread_about(0.2)[::-1],
        "best": spread_about(0.5),
    }
    assert decide(values, preferred=["best", "between"]).name == "between"
    assert decide(values, preferred=["far"]).name == "simple"  # no preference for what is clearly worse
    assert decide({**values, "average": ZERO}, preferred=["simple"]).name == "average"


# ---- whether it is recommended -------------------------------------------------------------------------------------------

made_up = st.builds(
    lambda seed, queries, gain: _made_up(np.random.default_rng(seed), queries, gain),
    st.integers(0, 10_000),
    st.sampled_from([3, 5, 20, 80]),
    st.sampled_from([-0.2, -0.02, 0.0, 0.02, 0.2]),
)


def _made_up(random, queries, gain):
    background = random.uniform(0.3, 0.9, queries)
    return {"background": background, "average": background + random.normal(gain, 0.15, queries)}


@settings(max_examples=100, deadline=None)
@given(made_up, st.sampled_from([0.01, 0.1, 0.5, 1.0]), st.sampled_from([0.0, 0.01, 0.1, np.inf]))
def test_a_change_is_recommended_if_a_gain_is_expected_and_a_loss_unlikely(values, risk, tolerate):
    verdict = decide(values, risk=risk, tolerate=tolerate)
    found = GainPosterior.of(GainEvidence.of(values["average"], values["background"]), AVERAGE, tolerate)
    assert (verdict.expected, verdict.loss_chance) == (found.expected, found.loss_chance)
    assert (verdict.risk, verdict.tolerate, verdict.ranks) == (risk, tolerate, True)
    wanted = found.expected > 0.0 and found.loss_chance <= risk
    assert (verdict.name, verdict.recommended) == ("average", "average" if wanted else "background")


@settings(max_examples=60, deadline=None)
@given(made_up)
def test_whoever_takes_any_risk_takes_every_gain_that_is_expected(values):
    certain = decide(values, risk=1.0, tolerate=0.0)
    tolerant = decide(values, risk=1e-12, tolerate=np.inf)
    assert (certain.recommended == "average") == (certain.expected > 0.0) == (tolerant.recommended == "average")


def test_few_queries_cannot_refute_what_other_domains_have_shown_and_many_can():
    """A seventh of a standard deviation is lost, on average over these queries."""
    for queries, recommended in ((4, "average"), (8, "average"), (80, "background")):
        background = 0.5 + np.resize(NOISE, queries)
        values = {"background": background, "average": background - 0.02 + np.resize(NOISE[::-1], queries)}
        assert decide(values).recommended == recommended
        assert decide(values, risk=0.01).recommended == "background"


def test_each_kind_of_method_has_its_own_prior():
    """The same queries promise less where the method is a single one, and less still where it forgets the background."""
    background = 0.5 + NOISE
    after = background + 0.02 + NOISE[::-1]
    expected = [decide({"background": background, name: after}).expected for name in ("average", "smart", "target")]
    assert expected == sorted(expected, reverse=True)
    assert expected == [
        GainPosterior.of(GainEvidence.of(after, background), prior, 0.01).expected for prior in (AVERAGE, SINGLE, TARGET_ALONE)
    ]


def test_what_ranks_no_better_than_random_orders_is_not_recommended():
    """However it compares with the background: no gain of other domains is counted on then."""
    orders = np.asarray([NOISE - 0.1, NOISE, NOISE + 0.1])
    for above, ranks in ((-1.0, False), (0.1 * RANKING * 0.999, False), (0.1 * RANKING * 1.001, True)):
        values = {"background": ZERO - 1.0 + NOISE[::-1], "average": NOISE + above}
        verdict = decide(values, random_orders=orders, risk=1.0)
        prior = AVERAGE if ranks else AVERAGE.without_expectation()
        assert (verdict.ranks, verdict.recommended) == (ranks, "average" if ranks else "background")
        assert verdict.expected == GainPosterior.of(GainEvidence.of(*reversed(values.values())), prior, 0.01).expected


@pytest.mark.parametrize("queries", [5, 20, 80, 300])
def test_where_the_grades_are_shuffled_the_background_is_kept(queries):
    """Every ranker is then a random order, but for luck."""
    random, changed = np.random.default_rng(queries), 0
    for _ in range(200):
        orders = random.gamma(0.5, 0.1, (100, queries))  # most queries have their relevant documents far below
        background, other = random.gamma(0.5, 0.1, (2, queries))
        values = {"background": background, "average": np.where(random.random(queries) < 0.5, background, other)}
        changed += decide(values, random_orders=orders).recommended != "background"
    assert changed / 200 <= 0.05


# ---- which method is chosen ----------------------------------------------------------------------------------------------


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
    shifted = decide({name: array + 8.0 for name, array in values.items()})
    numbers = {"expected": pytest.approx(verdict.expected), "loss_chance": pytest.approx(verdict.loss_chance)}
    assert shifted == replace(verdict, **numbers)
    assert verdict.recommended in {verdict.name, "background"}
    assert values[verdict.best].mean() == pytest.approx(max(values[name].mean() for name in names[1:]))
