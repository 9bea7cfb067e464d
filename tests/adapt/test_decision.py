"""Decision: which method is chosen and what is to be done with it, from made-up values."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankinite as rk
from oracles.adapting import shuffled
from rankinite.adapt.decision import (
    ALPHA,
    CLEARLY,
    NOISE_AFTER,
    NOISE_BEFORE,
    ORDERS,
    RANKING,
    RANKING_SPREAD,
    chance_of_noise,
    decide,
    decision_of,
    random_orders,
)
from rankinite.adapt.gain import GainEvidence, GainPosterior, Signs

ZERO = np.zeros(8)
NOISE = np.asarray([0.1, -0.1, 0.2, -0.2, 0.05, -0.05, 0.15, -0.15])
"""Mean 0."""


def spread_about(mean):
    """Values whose mean is this many of their standard errors above 0."""
    return NOISE + mean * stats.sem(NOISE)


# ---- which method is chosen ----------------------------------------------------------------------------------------------


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


def test_the_average_is_taken_unless_one_is_clearly_better():
    needed = stats.t.ppf(CLEARLY, len(NOISE) - 1)
    for above, chosen in ((-1.0, "average"), (0.5, "average"), (needed * 0.999, "average"), (needed * 1.001, "one")):
        verdict = decide({"background": ZERO - 0.01 * NOISE - 1, "one": spread_about(above), "average": ZERO})
        assert verdict.name == verdict.recommended == chosen
        assert verdict.best == ("one" if above > 0 else "average")


def test_the_background_is_a_yardstick_and_never_the_method_chosen():
    verdict = decide({"background": ZERO + 1, "target": ZERO, "other": ZERO - 1, "average": ZERO - NOISE})
    assert (verdict.name, verdict.decision, verdict.recommended) == ("average", "keep", "background")
    assert verdict.best in {"target", "average"}


def test_what_equals_the_background_is_not_recommended():
    verdict = decide({"background": NOISE, "other": NOISE, "average": NOISE}, shift=1.0, risk=1.0)
    assert (verdict.name, verdict.decision, verdict.recommended) == ("average", "keep", "background")


# ---- three verdicts ------------------------------------------------------------------------------------------------------


def normal(mean, deviation):
    """A gain that is known up to a normal error."""
    return GainPosterior((1.0,), (mean,), (deviation,))


@settings(max_examples=200, deadline=None)
@given(
    st.floats(-0.1, 0.1),
    st.floats(0.001, 0.1),
    st.floats(0.01, 1.0),
    st.sampled_from([0.0, 0.002, 0.01, 0.1]),
    st.booleans(),
)
def test_the_verdict_follows_from_the_expected_gain_two_chances_of_a_loss_and_the_queries(mean, spread, risk, tolerate, clear):
    """Oracle: SciPy's normal distribution."""
    too_much, any_loss = (stats.norm.cdf(limit, mean, spread) for limit in (-tolerate, 0.0))
    if min(abs(chance - risk) for chance in (too_much, any_loss)) < 1e-9:
        return  # the boundaries have a test of their own
    takes = mean > 0.0 and too_much < risk
    expected = "keep" if not takes else "deploy" if clear or any_loss < risk else "try online"
    assert decision_of(normal(mean, spread), risk, tolerate, clear=clear) == expected


@pytest.mark.parametrize("clear", [False, True])
def test_a_chance_of_a_loss_that_equals_the_risk_is_accepted(clear):
    gain = normal(0.01, 0.02)
    too_much, any_loss = gain.chance_below(-0.01), gain.chance_below(0.0)
    assert 0.0 < too_much < any_loss
    accepted = "deploy" if clear else "try online"
    assert decision_of(gain, too_much, 0.01, clear=clear) == accepted
    assert decision_of(gain, np.nextafter(too_much, 0.0), 0.01, clear=clear) == "keep"
    assert decision_of(gain, any_loss, 0.01, clear=clear) == "deploy"
    assert decision_of(gain, np.nextafter(any_loss, 0.0), 0.01, clear=clear) == accepted


def test_where_no_gain_is_expected_the_background_is_kept_whatever_the_risk():
    for mean, decision in ((-1e-9, "keep"), (0.0, "keep"), (1e-9, "deploy")):
        assert decision_of(normal(mean, 0.01), 1.0, 0.5, clear=True) == decision
    both = GainPosterior((0.5, 0.5), (-0.1, 0.1), (0.01, 0.01))
    assert decision_of(both, 1.0, 0.5, clear=True) == "keep"
    certain = GainPosterior((1.0,), (0.02,), (0.0,))
    assert decision_of(certain, 0.01, 0.0, clear=False) == "deploy"


made_up = st.builds(
    lambda seed, queries, gain: _made_up(np.random.default_rng(seed), queries, gain),
    st.integers(0, 10_000),
    st.sampled_from([3, 5, 20, 80]),
    st.sampled_from([-0.2, -0.02, 0.0, 0.02, 0.2]),
)


def _made_up(random, queries, gain):
    background = random.uniform(0.3, 0.9, queries)
    target = background + random.normal(gain, 0.3, queries)
    return {"background": background, "target": target, "average": background + random.normal(gain, 0.15, queries)}


@settings(max_examples=60, deadline=None)
@given(
    made_up,
    st.sampled_from([0.01, 0.1, 0.5, 1.0]),
    st.sampled_from([0.0, 0.01, 0.1, np.inf]),
    st.sampled_from([None, 0.0, 0.6]),
    st.sampled_from([None, 30]),
)
def test_the_verdict_is_of_the_posterior_given_all_signs(values, risk, tolerate, shift, background_queries):
    """The target's own ranker counts in pooled standard deviations: half the background's deviation counts as two queries."""
    verdict = decide(values, shift=shift, background_queries=background_queries, risk=risk, tolerate=tolerate)
    background, target, chosen = (values[name] for name in ("background", "target", verdict.name))
    alone, queries = target - background, len(background)
    squares = (queries - 1) * alone.var(ddof=1) + 2 * (0.5 * background.std(ddof=1)) ** 2
    sign = alone.mean() / math.sqrt(squares / (queries + 1))
    assert verdict.signs == Signs(shift, pytest.approx(sign), background_queries)
    assert verdict.gain == GainPosterior.of(GainEvidence.of(chosen, background), verdict.signs)
    assert (verdict.expected, verdict.loss_chance) == (verdict.gain.expected, verdict.gain.chance_below(-tolerate))
    assert (verdict.risk, verdict.tolerate, verdict.noise_chance, verdict.ranks) == (risk, tolerate, 0.0, True)
    assert verdict.decision == decision_of(verdict.gain, risk, tolerate, clear=verdict.clear)
    assert verdict.recommended == ("background" if verdict.decision == "keep" else verdict.name)


@settings(max_examples=60, deadline=None)
@given(made_up)
def test_whoever_takes_any_risk_takes_every_gain_that_is_expected(values):
    certain = decide(values, risk=1.0, tolerate=0.0)
    tolerant = decide(values, risk=1e-12, tolerate=np.inf)
    assert (certain.decision == "deploy") == (certain.expected > 0.0) == (tolerant.decision != "keep")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 11), st.sampled_from([-0.1, 0.0, 0.1, 0.2]))
def test_a_gain_is_clear_where_few_flips_of_signs_make_as_large_a_one(seed, queries, gain):
    """Oracle: all patterns of signs."""
    random = np.random.default_rng(seed)
    background, differences = random.uniform(0.3, 0.9, queries), np.round(random.normal(gain, 0.15, queries), 2)
    sums = np.asarray([abs(np.dot(signs, differences)) for signs in product((-1.0, 1.0), repeat=queries)])
    p = np.mean(sums >= abs(differences.sum()) - 1e-9)
    verdict = decide({"background": background, "average": background + differences})
    assert verdict.clear == (differences.sum() > 1e-9 and p <= ALPHA)


def test_a_clear_gain_is_deployed_and_an_unclear_one_tried_or_kept():
    """The risk is the same; only the queries' own evidence differs."""
    background = 0.5 + np.resize(NOISE, 40)
    for gain, decision in ((0.1, "deploy"), (-0.1, "keep")):
        verdict = decide({"background": background, "average": background + gain + np.resize(NOISE[::-1], 40)})
        assert (verdict.decision, verdict.clear) == (decision, gain > 0.0)


def test_few_queries_cannot_refute_what_other_domains_have_shown_and_many_can():
    """On these queries a seventh of a standard deviation is lost; elsewhere such pairs of domains have brought much."""
    expected = []
    for queries in (4, 40, 400, 4000):
        background = 0.5 + np.resize(NOISE, queries)
        values = {"background": background, "average": background - 0.02 + np.resize(NOISE[::-1], queries)}
        expected.append(decide(values, shift=1.0, background_queries=30).expected)
    assert expected[0] > 0.0
    assert expected == sorted(expected, reverse=True)
    assert expected[-1] == pytest.approx(-0.02, abs=0.005)


def test_a_method_is_picked_by_its_own_values_only_where_there_is_no_average():
    values = {"background": 0.5 + NOISE, "smart": 0.6 + NOISE[::-1]}
    assert decide(values).signs.picked
    assert not decide({**values, "average": 0.55 + NOISE}).signs.picked
    assert not decide(values, average="smart").signs.picked
    evidence = GainEvidence.of(values["smart"], values["background"])
    flattered, plain = (GainPosterior.of(evidence, Signs(None, 0.0, None, picked)).expected for picked in (True, False))
    assert flattered < plain


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 20), st.booleans())
def test_neither_a_constant_nor_the_order_of_queries_matters(seed, queries, with_average):
    random = np.random.default_rng(seed)
    names = ["background", "target", "a", "b", *(["average"] if with_average else [])]
    values = {name: np.round(random.normal(size=queries), 3) for name in names}
    verdict, order = decide(values), random.permutation(queries)
    assert decide({name: array[order] for name, array in values.items()}) == verdict
    raised = decide({name: array + 8.0 for name, array in values.items()})
    assert (raised.name, raised.best, raised.decision, raised.clear) == (
        verdict.name,
        verdict.best,
        verdict.decision,
        verdict.clear,
    )
    assert raised.expected == pytest.approx(verdict.expected)
    assert raised.loss_chance == pytest.approx(verdict.loss_chance)
    assert verdict.recommended in {verdict.name, "background"}
    assert values[verdict.best].mean() == pytest.approx(max(values[name].mean() for name in names[1:]))


# ---- grades that mean nothing --------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([3, 5, 20, 80, 300]), st.floats(-5.0, 60.0), st.sampled_from([0.01, 1.0, 50.0]))
def test_the_chance_that_grades_mean_nothing_follows_by_bayes_rule(queries, above, unit):
    """Densities by SciPy; what is far below random orders is as likely noise as what equals them."""
    orders = unit * np.asarray([-1.0, 0.0, 1.0])  # their standard deviation is the unit
    found = chance_of_noise(np.full(queries, unit * above), orders)
    high = max(above, 0.0)
    noise = NOISE_BEFORE * stats.norm.pdf(high)
    meaning = (1.0 - NOISE_BEFORE) * stats.norm.pdf(high, RANKING * queries**0.5, (1.0 + RANKING_SPREAD**2 * queries) ** 0.5)
    assert found == pytest.approx(noise / (noise + meaning), rel=1e-6, abs=1e-12)


def test_where_all_orders_are_alike_nothing_is_said_of_the_grades():
    assert chance_of_noise(np.full(5, 0.7), np.full(100, 0.7)) == 0.0


def test_what_may_rank_no_better_than_random_orders_is_kept_however_it_compares_with_the_background():
    """At the distance where the chance is just above and just below what is allowed."""
    orders, background = np.asarray([-1.0, 0.0, 1.0]), np.full(40, -9.0)
    distances = np.linspace(0.0, 8.0, 8001)
    chances = np.asarray([chance_of_noise(np.full(40, above), orders) for above in distances])
    assert chances[0] > NOISE_AFTER > chances[-1]
    last = int(np.flatnonzero(chances > NOISE_AFTER)[-1])
    for above, ranks in ((distances[last], False), (distances[last + 1], True)):
        verdict = decide({"background": background, "average": np.full(40, above)}, random_orders=orders, risk=1.0)
        assert (verdict.ranks, verdict.decision) == (ranks, "deploy" if ranks else "keep")


def means_of_orders(random, queries):
    """The means of 100 random orders, and the values of one more; most queries have their relevant documents far below."""
    orders = random.gamma(0.5, 0.1, (ORDERS + 2, queries))
    return orders[:ORDERS].mean(axis=1), orders[ORDERS:]


@pytest.mark.parametrize("queries", [20, 40, 80, 300])
def test_where_the_grades_are_shuffled_the_background_is_kept(queries):
    """Every ranker is then a random order, but for luck."""
    random, changed = np.random.default_rng(queries), 0
    for _ in range(200):
        orders, (background, other) = means_of_orders(random, queries)
        values = {"background": background, "average": np.where(random.random(queries) < 0.5, background, other)}
        changed += decide(values, random_orders=orders, shift=0.9).decision != "keep"
    assert changed / 200 <= 0.05


@pytest.mark.parametrize("queries", [5, 8])
def test_few_queries_that_are_ranked_well_are_enough_to_show_that_grades_mean_something(queries):
    """A gain of half the range was refused when three standard deviations of random orders were asked for."""
    random = np.random.default_rng(queries)
    orders, (background, _) = means_of_orders(random, queries)
    verdict = decide({"background": background, "average": background + 0.4 + 0.05 * NOISE[:queries]}, random_orders=orders)
    assert verdict.ranks
    assert verdict.recommended == "average"


# ---- random orders -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [rk.NDCG(10), rk.ERR(), rk.PairwiseErrors()])
def test_random_orders_have_the_mean_of_all_orders_and_vary_as_means_of_so_many_queries(measure):
    """Oracle: every order of four documents."""
    grades = [2, 1, 0, 0]
    one = rk.read(np.zeros((4, 1)), grades=grades, group=[4])
    every = [rk.evaluate(np.asarray(order, float), one, measure)[measure].mean for order in permutations(range(4))]
    data = rk.read(np.zeros((4 * 60, 1)), grades=grades * 60, group=[4] * 60)
    found = random_orders(data, measure, 0)
    assert found.shape == (ORDERS,)
    side, error = (1.0 if measure.higher_is_better else -1.0), np.std(every) / math.sqrt(60)
    assert side * found.mean() == pytest.approx(np.mean(every), abs=4 * error / math.sqrt(ORDERS))
    assert found.std(ddof=1) == pytest.approx(error, rel=0.25)


def test_queries_that_nobody_can_rank_do_not_count_among_random_orders():
    """A query of one grade, and one without a relevant document, change no order's mean but by the numbers drawn."""
    data = rk.read(np.zeros((12, 1)), grades=[1, 0, 0, 1, 0, 0, 0, 0, 0, 2, 2, 2], group=[3] * 4)
    values = [
        rk.evaluate(np.asarray(order, float), data.select_queries([0]), "ndcg")["ndcg"].mean for order in permutations(range(3))
    ]
    found = random_orders(data, rk.NDCG(), 0)
    assert found.mean() == pytest.approx(np.mean(values), abs=4 * np.std(values) / math.sqrt(2 * ORDERS))


def test_the_same_seed_draws_the_same_orders_whatever_the_order_of_rows():
    data = rk.synthesise(5, world=rk.World(features=3, documents=8))
    assert random_orders(shuffled(data)[0], rk.NDCG(10), 0).tobytes() == random_orders(data, rk.NDCG(10), 0).tobytes()
    first, again, other = (random_orders(data, rk.NDCG(10), seed) for seed in (0, 0, 1))
    assert first.tobytes() == again.tobytes() != other.tobytes()
