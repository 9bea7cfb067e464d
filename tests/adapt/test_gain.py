"""The gain to expect: its density as it is defined, laws of the posterior, and the program that estimates the prior."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankinite.adapt.decision import RANKING, RANKING_SPREAD
from rankinite.adapt.gain import (
    AVERAGED,
    FEW,
    MANY,
    PICKED,
    SPREAD,
    SPREAD_QUERIES,
    UNKNOWN_SHIFT,
    GainEvidence,
    GainPosterior,
    Prior,
    Signs,
    prior_for,
)

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def made_up_prior(seed, kinds):
    random = np.random.default_rng(seed)
    return Prior(
        pairs=50,
        weights=random.normal(0.0, 0.7, (kinds, 5)),
        locations=random.normal(0.0, 0.3, (kinds, 5)),
        scales=np.exp(random.uniform(np.log(0.02), 0.0, kinds)),
        widening=random.uniform(-0.5, 0.5),
        noise=random.uniform(0.5, 3.0),
        lag=random.uniform(-0.5, 0.5),
    )


OTHERS = [made_up_prior(seed, kinds) for seed, kinds in enumerate((1, 2, 3, 4))]
priors = st.sampled_from([AVERAGED, PICKED, *OTHERS])
evidences = st.builds(
    lambda queries, effect, deviation: GainEvidence(queries, effect * deviation, deviation),
    st.sampled_from([1, 2, 3, 5, 12, 40, 300, 5000]),
    st.floats(-4.0, 4.0),
    st.sampled_from([0.01, 0.15, 30.0]),
)
signs = st.builds(
    Signs,
    st.none() | st.floats(0.0, 1.0),
    st.floats(-3.0, 3.0),
    st.none() | st.integers(1, 10_000),
    st.booleans(),
)


# ---- the model, written plainly ----------------------------------------------------------------------------------------


def seen_of(signs, queries):
    """x: a constant, the shift, the target's own ranker, and the logarithms of both numbers of queries."""
    shift = 0.35 if signs.shift is None else signs.shift
    trained_on = 1500 if signs.background_queries is None else signs.background_queries
    return [
        1.0,
        shift,
        sorted((-2.0, signs.target, 2.0))[1],
        math.log(queries / 40) / 2,
        math.log(sorted((15, trained_on, 1500))[1] / 200) / 2,
    ]


def kinds_of(signs, queries, prior):
    """The probability, the mean and the deviation of δ for every kind of domain pair."""
    x = seen_of(signs, queries)
    odds = [math.exp(sum(a * b for a, b in zip(row, x, strict=True))) for row in prior.weights.tolist()]
    means = [sum(a * b for a, b in zip(row, x, strict=True)) for row in prior.locations.tolist()]
    deviations = [scale * math.exp(prior.widening * x[1]) for scale in prior.scales.tolist()]
    return [(odd / sum(odds), mean, deviation) for odd, mean, deviation in zip(odds, means, deviations, strict=True)]


def density(delta, evidence, signs, prior):
    """P(δ) · P(d̄ | δ), but for a constant."""
    before = sum(share * stats.norm.pdf(delta, mean, own) for share, mean, own in kinds_of(signs, evidence.queries, prior))
    late = evidence.mean / evidence.deviation + prior.lag / math.sqrt(evidence.queries)
    error = math.sqrt(prior.noise / evidence.queries)
    return before * (0.9 * stats.norm.pdf(late, delta, error) + 0.1 * stats.norm.pdf(late, delta, 3.0 * error))


class Integrated:
    """Oracle: the density on a fine grid; no mixture of normals."""

    def __init__(self, evidence, signs, prior):
        kinds, error = kinds_of(signs, evidence.queries, prior), 3.0 * math.sqrt(prior.noise / evidence.queries)
        late = evidence.mean / evidence.deviation + prior.lag / math.sqrt(evidence.queries)
        middles = [(late, error), *((mean, own) for _, mean, own in kinds)]
        steps = np.linspace(-12.0, 12.0, 8001)
        narrow = min(error / 3.0, *(own for _, _, own in kinds))
        places = [middle + width * steps for middle, width in middles] + [middle + narrow * steps for middle, _ in middles]
        self.unit, grid = evidence.deviation, np.unique(np.concatenate(places))
        weights = density(grid, evidence, signs, prior)
        pieces = np.diff(grid) * (weights[1:] + weights[:-1]) / 2.0
        self.ends, self.below = grid[1:], np.cumsum(pieces) / pieces.sum()
        self.expected = self.unit * float(pieces @ ((grid[1:] + grid[:-1]) / 2.0) / pieces.sum())

    def chance_below(self, limit):
        return float(np.interp(limit / self.unit, self.ends, self.below))


@settings(max_examples=40, deadline=None)
@given(evidences, signs, priors, st.sampled_from([-0.5, -0.05, -0.01, 0.0, 0.2]))
def test_the_posterior_is_that_of_integrals(evidence, signs, prior, limit):
    found, oracle = GainPosterior.of(evidence, signs, prior), Integrated(evidence, signs, prior)
    assert found.expected == pytest.approx(oracle.expected, rel=2e-4, abs=2e-4 * evidence.deviation)
    assert found.chance_below(limit * evidence.deviation) == pytest.approx(
        oracle.chance_below(limit * evidence.deviation), abs=1e-3
    )
    for confidence in (0.95, 0.5):
        low, high = found.interval(confidence)
        assert oracle.chance_below(high) - oracle.chance_below(low) == pytest.approx(confidence, abs=2e-3)


@pytest.mark.parametrize("prior", [AVERAGED, PICKED, OTHERS[2]])
@pytest.mark.parametrize(("queries", "mean"), [(5, 0.03), (40, -0.01), (40, 0.08)])
def test_the_posterior_is_that_of_random_draws(prior, queries, mean):
    """Gains are drawn from the prior, and count as much as they make the queries seen likely."""
    random, evidence, signs = np.random.default_rng(0), GainEvidence(queries, mean, 0.12), Signs(0.5, 0.2, 300)
    shares, means, deviations = map(np.asarray, zip(*kinds_of(signs, queries, prior), strict=True))
    kind = random.choice(len(shares), 400_000, p=shares)
    deltas = random.normal(means[kind], deviations[kind])
    error = np.sqrt(prior.noise / queries) * np.where(random.random(len(deltas)) < 0.1, 3.0, 1.0)
    weights = stats.norm.pdf(mean / 0.12, deltas - prior.lag / np.sqrt(queries), error)
    found, gains = GainPosterior.of(evidence, signs, prior), 0.12 * deltas
    assert found.expected == pytest.approx((weights * gains).sum() / weights.sum(), abs=1e-3)
    for limit in (-0.01, 0.0, 0.02):
        assert found.chance_below(limit) == pytest.approx(weights[gains < limit].sum() / weights.sum(), abs=0.01)


# ---- what it comes down to ---------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(evidences, signs, priors)
def test_queries_that_show_nothing_leave_the_prior(evidence, signs, prior):
    found = GainPosterior.of(evidence, signs, replace(prior, noise=1e12))
    kinds, unit = kinds_of(signs, evidence.queries, prior), evidence.deviation
    assert found.expected == pytest.approx(unit * sum(share * mean for share, mean, _ in kinds), rel=1e-4, abs=1e-5 * unit)
    for limit in (-0.1, 0.0, 0.3):
        below = sum(share * stats.norm.cdf(limit, mean, own) for share, mean, own in kinds)
        assert found.chance_below(unit * limit) == pytest.approx(below, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.floats(-1.0, 1.0), signs, priors)
def test_many_queries_leave_the_evidence(effect, signs, prior):
    queries = 10**9
    found = GainPosterior.of(GainEvidence(queries, 0.2 * effect, 0.2), signs, prior)
    error = 0.2 / math.sqrt(queries)
    assert found.expected == pytest.approx(0.2 * effect, abs=20.0 * error)
    low, high = found.interval()
    assert high - low < 30.0 * error


@settings(max_examples=40, deadline=None)
@given(evidences, signs, priors, st.sampled_from([1e-6, 7.0, 1e3]))
def test_the_unit_of_the_measure_does_not_matter(evidence, signs, prior, unit):
    found = GainPosterior.of(evidence, signs, prior)
    scaled = GainEvidence(evidence.queries, unit * evidence.mean, unit * evidence.deviation)
    other, close = GainPosterior.of(scaled, signs, prior), {"rel": 1e-9, "abs": 1e-9 * scaled.deviation}
    assert other.expected == pytest.approx(unit * found.expected, **close)
    for limit in (-0.1, 0.0, 0.02):
        assert other.chance_below(unit * limit) == pytest.approx(found.chance_below(limit), rel=1e-9, abs=1e-12)
    assert other.interval() == pytest.approx(tuple(unit * end for end in found.interval()), **close)


@settings(max_examples=40, deadline=None)
@given(evidences, signs, priors)
def test_expected_chances_and_intervals_are_of_one_distribution(evidence, signs, prior):
    """A mean is the area above the distribution function right of 0, less the one below it left of 0."""
    found, unit = GainPosterior.of(evidence, signs, prior), evidence.deviation
    intervals = [found.interval(confidence) for confidence in (0.999, 0.95, 0.8, 0.5, 0.01)]
    for (low, high), confidence in zip(intervals, (0.999, 0.95, 0.8, 0.5, 0.01), strict=True):
        assert found.chance_below(low) == pytest.approx((1.0 - confidence) / 2.0, abs=1e-6)
        assert found.chance_below(high) == pytest.approx((1.0 + confidence) / 2.0, abs=1e-6)
    ends = [low for low, _ in intervals] + [high for _, high in reversed(intervals)]
    assert ends == sorted(ends)
    far = max(abs(mean) + 9.0 * own for mean, own in zip(found.means, found.deviations, strict=True))
    grid = np.linspace(-far, far, 4001)
    below = np.asarray([found.chance_below(limit) for limit in grid])
    assert (np.diff(below) >= -1e-12).all()
    assert (below[0], below[-1]) == (pytest.approx(0.0, abs=1e-9), pytest.approx(1.0, abs=1e-9))
    areas = np.where(grid > 0.0, 1.0 - below, -below)
    assert found.expected == pytest.approx(np.trapezoid(areas, grid), rel=0.01, abs=0.01 * unit)
    assert sum(found.weights) == pytest.approx(1.0)


@settings(max_examples=30, deadline=None)
@given(evidences, signs, priors)
def test_gains_and_losses_mirror_each_other(evidence, signs, prior):
    found = GainPosterior.of(evidence, signs, prior)
    turned = replace(prior, locations=-prior.locations, lag=-prior.lag)
    mirrored = GainPosterior.of(replace(evidence, mean=-evidence.mean), signs, turned)
    assert mirrored.expected == pytest.approx(-found.expected, abs=1e-12 * evidence.deviation)
    assert mirrored.chance_below(0.0) == pytest.approx(1.0 - found.chance_below(0.0))


# ---- on domains as the model has them ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    """The true gains of 4,000 pairs drawn from the model, and what is said of each; half of them with a small shift."""
    random, found = np.random.default_rng(20_261_119), []
    for place in range(4000):
        shift = float(random.uniform(0.0, 0.35) if place % 2 else random.uniform(0.35, 1.0))
        signs = Signs(shift, float(random.normal(0.0, 0.7)), int(random.integers(15, 1500)), bool(random.random() < 0.5))
        queries, prior = int(random.choice([5, 20, 80, 300])), prior_for(signs)
        shares, means, deviations = zip(*kinds_of(signs, queries, prior), strict=True)
        kind = random.choice(len(shares), p=shares)
        delta = random.normal(means[kind], deviations[kind])
        error = math.sqrt(prior.noise / queries) * (3.0 if random.random() < 0.1 else 1.0)
        seen = random.normal(delta - prior.lag / math.sqrt(queries), error)
        found.append((shift, 0.15 * delta, GainPosterior.of(GainEvidence(queries, 0.15 * seen, 0.15), signs)))
    return found


@pytest.mark.parametrize("is_kind", [lambda _: True, lambda shift: shift < 0.35, lambda shift: shift >= 0.35])
def test_on_domains_as_the_model_has_them_the_promises_are_kept(drawn, is_kind):
    """Within three standard errors: how often intervals cover, the mean gain, and how often more is lost than is tolerated."""
    chosen = [(gain, found) for shift, gain, found in drawn if is_kind(shift)]
    gaps = np.asarray([found.expected - gain for gain, found in chosen])
    assert abs(gaps.mean()) <= 3.0 * stats.sem(gaps)
    places = np.asarray([found.chance_below(gain) for gain, found in chosen])
    for confidence in (0.95, 0.8, 0.5):
        inside = np.mean(np.abs(places - 0.5) <= confidence / 2.0)
        assert abs(inside - confidence) <= 3.0 * math.sqrt(confidence * (1.0 - confidence) / len(chosen))
    for tolerate in (0.0, 0.002, 0.01):
        apart = np.asarray([found.chance_below(-tolerate) - (gain < -tolerate) for gain, found in chosen])
        assert abs(apart.mean()) <= 3.0 * stats.sem(apart)
    low, high = chosen[0][1].interval(0.8)
    assert (low < chosen[0][0] < high) == (abs(places[0] - 0.5) < 0.4)


# ---- what the queries show -----------------------------------------------------------------------------------------------


def test_the_deviation_is_pooled_with_the_usual_one():
    background, gains = np.asarray([0.1, 0.9, 0.4, 0.6]), np.asarray([0.1, -0.1, 0.2, 0.1])
    evidence = GainEvidence.of(background + gains, background)
    squares = 3 * gains.var(ddof=1) + SPREAD_QUERIES * (SPREAD * background.std(ddof=1)) ** 2
    assert (evidence.queries, evidence.mean) == (4, pytest.approx(gains.mean()))
    assert evidence.deviation == pytest.approx(np.sqrt(squares / (3 + SPREAD_QUERIES)))


def test_queries_that_happen_to_agree_do_not_feign_certainty():
    background = np.asarray([0.1, 0.9, 0.4])
    agreeing = GainPosterior.of(GainEvidence.of(background - 0.02, background), Signs(0.9, 0.0, None))
    assert 0.05 < agreeing.chance_below(-0.01) < 0.6


@pytest.mark.parametrize("difference", [0.3, -0.3])
def test_where_nothing_varies_the_difference_is_the_gain(difference):
    found = GainPosterior.of(GainEvidence.of(np.full(6, 0.4 + difference), np.full(6, 0.4)), Signs(None, 0.0, None))
    assert found.expected == pytest.approx(difference)
    assert found.chance_below(0.0) == float(difference < 0.0)
    assert found.interval() == (pytest.approx(difference), pytest.approx(difference))


@pytest.mark.parametrize("rounding", [0.0, 1e-16, -1e-16])
def test_a_method_that_changes_nothing_promises_nothing(rounding):
    values = np.asarray([0.1, 0.9, 0.4])
    found = GainPosterior.of(GainEvidence.of(values + rounding, values), Signs(0.9, 0.5, 200))
    assert (found.expected, found.chance_below(0.0), found.interval()) == (0.0, 0.0, (0.0, 0.0))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 30))
def test_the_order_of_queries_does_not_change_a_bit(seed, queries):
    random = np.random.default_rng(seed)
    method, background = random.random((2, queries))
    order = random.permutation(queries)
    evidence = GainEvidence.of(method[order], background[order])
    assert evidence == GainEvidence.of(method, background)
    seen = Signs(0.2, 0.1, 100)
    assert GainPosterior.of(evidence, seen) == GainPosterior.of(GainEvidence.of(method, background), seen)


@settings(max_examples=30, deadline=None)
@given(evidences, signs, priors)
def test_signs_that_are_not_known_count_as_the_usual_ones_and_extreme_ones_as_the_most_that_was_seen(evidence, signs, prior):
    usual = replace(signs, shift=UNKNOWN_SHIFT, background_queries=MANY)
    assert GainPosterior.of(evidence, replace(signs, shift=None, background_queries=None), prior) == GainPosterior.of(
        evidence, usual, prior
    )
    for extreme, most in (
        ({"background_queries": 10**6}, {"background_queries": MANY}),
        ({"background_queries": 1}, {"background_queries": FEW}),
        ({"target": 50.0}, {"target": 2.0}),
        ({"target": -50.0}, {"target": -2.0}),
    ):
        assert GainPosterior.of(evidence, replace(signs, **extreme), prior) == GainPosterior.of(
            evidence, replace(signs, **most), prior
        )


# ---- the prior that is estimated -----------------------------------------------------------------------------------------


@pytest.fixture
def program(monkeypatch):
    """The program that estimates the prior."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("gain_prior")


def test_constants_are_what_the_problems_say_that_settle_them(program):
    """The usual shift, the backgrounds' sizes, and how far methods rank above random orders."""
    every = list(program.problems("settling"))
    assert np.mean([problem["shift_seen"] or 0.0 for problem in every]) == pytest.approx(UNKNOWN_SHIFT, abs=0.03)
    sizes = [problem["background_queries"] for problem in every]
    assert (min(sizes), max(sizes)) == (pytest.approx(FEW, rel=0.1), pytest.approx(MANY, rel=0.1))
    apart = []
    for problem in every:
        values, (mean, spread) = problem["unseen"][problem["chosen"]], problem["random_orders"]
        apart.append((np.mean(values) - mean) / spread / math.sqrt(len(values)))
    assert np.mean(apart) == pytest.approx(RANKING, abs=0.2)
    assert np.std(apart) == pytest.approx(RANKING_SPREAD, abs=0.2)


def test_a_prior_is_printed_as_code_that_makes_it_again(program):
    columns = AVERAGED.weights.shape[1]
    numbers = np.random.default_rng(0).normal(size=2 * (program.KINDS - 1) * columns + program.KINDS + 4)
    made = program.unpacked(numbers, 77)
    known = {"np": np, "Prior": Prior}
    exec(program.as_code("MADE", made), known)
    again = known["MADE"]
    assert made.weights.shape == made.locations.shape == (program.KINDS, columns)
    assert not made.weights[0].any()
    assert not made.locations[0, 1:].any()
    assert again.pairs == made.pairs == 77
    for name in ("weights", "locations", "scales", "widening", "noise", "lag"):
        assert getattr(again, name) == pytest.approx(getattr(made, name), abs=5.1e-4), name


def test_the_estimate_finds_the_mean_gain_that_a_known_prior_has_drawn(program, monkeypatch):
    """Where little is seen and where much, with a shift and without."""
    monkeypatch.setattr(program, "KINDS", 2)
    random = np.random.default_rng(4)
    locations = np.zeros((2, 5))
    locations[1, :2] = 0.2, 0.5
    weights = np.zeros((2, 5))
    weights[1, 1] = 2.0
    true = Prior(100, weights, locations, np.asarray([0.03, 0.2]), 0.0, 1.5, 0.2)
    rows = []
    for place in range(240):
        signs, queries = Signs(float(random.random()), 0.0, 200), int(random.choice([10, 40, 160]))
        shares, means, deviations = zip(*kinds_of(signs, queries, true), strict=True)
        kind = random.choice(2, p=shares)
        delta = random.normal(means[kind], deviations[kind])
        error = math.sqrt(true.noise / queries) * (3.0 if random.random() < 0.1 else 1.0)
        seen = random.normal(delta - true.lag / math.sqrt(queries), error)
        rows.append(program.Row(str(place), GainEvidence(queries, 0.2 * seen, 0.2), signs, 0.2 * delta, 0.002))
    found = program.estimate(rows)
    for shift in (0.1, 0.9):
        for queries in (10, 160):
            signs = Signs(shift, 0.0, 200)
            expected = [sum(share * mean for share, mean, _ in kinds_of(signs, queries, prior)) for prior in (true, found)]
            assert expected[1] == pytest.approx(expected[0], abs=0.1)
            for mean in (0.0, 0.1):
                evidence = GainEvidence(queries, mean, 0.2)
                gains = [GainPosterior.of(evidence, signs, prior).expected for prior in (true, found)]
                assert gains[1] == pytest.approx(gains[0], abs=0.02)
