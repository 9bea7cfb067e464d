"""The gain to expect and the chance of a loss: laws, closed forms, and slow oracles."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from rankinite.adapt.gain_posterior import GainEvidence, GainPosterior
from rankinite.adapt.gain_prior import AVERAGE, SINGLE, SPREAD, SPREAD_QUERIES, TARGET_ALONE, GainPrior

PRIORS = (AVERAGE, SINGLE, TARGET_ALONE)
evidences = st.builds(
    lambda queries, effect, deviation: GainEvidence(queries, effect * deviation, deviation),
    st.sampled_from([1, 2, 3, 5, 12, 40, 300]),
    st.floats(-4.0, 4.0),
    st.sampled_from([0.01, 0.15, 30.0]),
)


def by_integration(evidence, prior, tolerate):
    """Oracle: the density of δ as it is defined, integrated by SciPy; no mixture of normals."""
    seen, error = evidence.mean / evidence.deviation, evidence.queries**-0.5

    def density(delta):
        return stats.t.pdf(delta, prior.freedom, prior.location, prior.scale) * stats.norm.pdf(seen, delta, error)

    def integral(of, low, high):
        places = sorted(
            {place for middle, width in ((seen, error), (prior.location, prior.scale)) for place in middle + width * STEPS}
        )
        ends = [low, *(place for place in places if low < place < high), high]
        return sum(integrate.quad(of, *piece, epsabs=0.0, epsrel=1e-9)[0] for piece in itertools.pairwise(ends))

    low, high = (side * (40.0 + abs(seen) + 40.0 * error) for side in (-1.0, 1.0))
    whole = integral(density, low, high)
    expected = integral(lambda delta: delta * density(delta), low, high) / whole
    return evidence.deviation * expected, integral(density, low, max(low, -tolerate / evidence.deviation)) / whole


STEPS = np.arange(-8.0, 9.0, 2.0)


@settings(max_examples=30, deadline=None)
@given(evidences, st.sampled_from(PRIORS), st.sampled_from([0.0, 0.01, 0.1]))
def test_both_numbers_are_those_of_integrals(evidence, prior, tolerate):
    found = GainPosterior.of(evidence, prior, tolerate)
    expected, loss = by_integration(evidence, prior, tolerate)
    assert found.expected == pytest.approx(expected, rel=1e-5, abs=1e-6 * evidence.deviation)
    assert found.loss_chance == pytest.approx(loss, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("prior", PRIORS)
def test_both_numbers_are_those_of_random_draws(prior):
    """Gains are drawn from the prior, and count as much as they make the queries seen likely."""
    random = np.random.default_rng(0)
    evidence = GainEvidence(5, 0.03, 0.12)
    gains = 0.12 * (prior.location + prior.scale * random.standard_t(prior.freedom, 400_000))
    weights = stats.norm.pdf(0.03, gains, 0.12 / np.sqrt(5))
    found = GainPosterior.of(evidence, prior, 0.01)
    assert found.expected == pytest.approx((weights * gains).sum() / weights.sum(), abs=5e-4)
    assert found.loss_chance == pytest.approx(weights[gains < -0.01].sum() / weights.sum(), abs=5e-3)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("tolerate", [0.0, 0.01, 0.1])
def test_without_queries_the_prior_is_all_there_is(prior, tolerate):
    found = GainPosterior.of(GainEvidence(0, 0.0, 0.15), prior, tolerate)
    assert found.expected == pytest.approx(0.15 * prior.location, rel=1e-9)
    below = stats.t.cdf(-tolerate / 0.15, prior.freedom, prior.location, prior.scale)
    assert found.loss_chance == pytest.approx(below, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(evidences, st.floats(0.0, 0.2))
def test_a_prior_that_says_nothing_leaves_the_evidence(evidence, tolerate):
    found, error = GainPosterior.of(evidence, GainPrior(0.0, 1e6), tolerate), evidence.deviation * evidence.queries**-0.5
    assert found.expected == pytest.approx(evidence.mean, abs=1e-6 * error)
    assert found.loss_chance == pytest.approx(stats.norm.cdf(-tolerate, evidence.mean, error), abs=1e-6)


@pytest.mark.parametrize("above", [-3.0, -1.0, -0.1, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("prior", PRIORS)
def test_more_queries_and_a_wider_prior_move_the_expectation_to_the_evidence(prior, above):
    """Which is this many standard deviations above what the prior expects."""

    def way(queries, scale=prior.scale):
        evidence = GainEvidence(queries, 0.1 * (prior.location + above), 0.1)
        expected = GainPosterior.of(evidence, replace(prior, scale=scale), 0.01).expected
        return (expected / 0.1 - prior.location) / above

    by_queries = [way(queries) for queries in (1, 5, 20, 80, 320, 100_000)]
    by_scale = [way(12, scale) for scale in (0.05, 0.1, 0.3, 1.0, 10.0, 1e5)]
    for shares in (by_queries, by_scale):
        assert all(after > before for before, after in itertools.pairwise(shares))
        assert 0.0 < shares[0] < shares[-1]
        assert shares[-1] == pytest.approx(1.0, abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(evidences, st.sampled_from(PRIORS), st.floats(0.0, 0.1), st.sampled_from([1e-3, 7.0, 1e3]))
def test_the_unit_of_the_measure_does_not_matter(evidence, prior, tolerate, unit):
    found = GainPosterior.of(evidence, prior, tolerate)
    scaled = GainEvidence(evidence.queries, unit * evidence.mean, unit * evidence.deviation)
    other = GainPosterior.of(scaled, prior, unit * tolerate)
    assert other.expected == pytest.approx(unit * found.expected, rel=1e-9, abs=1e-12 * scaled.deviation)
    assert other.loss_chance == pytest.approx(found.loss_chance, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(evidences, st.sampled_from(PRIORS))
def test_gains_and_losses_mirror_each_other(evidence, prior):
    found = GainPosterior.of(evidence, prior, 0.0)
    mirrored = GainPosterior.of(replace(evidence, mean=-evidence.mean), replace(prior, location=-prior.location), 0.0)
    assert mirrored.expected == pytest.approx(-found.expected)
    assert mirrored.loss_chance == pytest.approx(1.0 - found.loss_chance)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_chance_of_a_loss_falls_as_more_is_tolerated_or_gained(prior):
    evidence = GainEvidence(20, 0.0, 0.15)
    tolerant = [GainPosterior.of(evidence, prior, tolerate).loss_chance for tolerate in (0.0, 0.01, 0.1, np.inf)]
    gaining = [GainPosterior.of(replace(evidence, mean=mean), prior, 0.01).loss_chance for mean in (-0.1, 0.0, 0.1)]
    for chances in (tolerant, gaining):
        assert all(after < before for before, after in itertools.pairwise(chances))
    assert tolerant[-1] == 0.0


# ---- what the queries say ------------------------------------------------------------------------------------------------


def test_the_deviation_is_pooled_with_the_usual_one():
    background, gains = np.asarray([0.1, 0.9, 0.4, 0.6]), np.asarray([0.1, -0.1, 0.2, 0.1])
    evidence = GainEvidence.of(background + gains, background)
    squares = 3 * gains.var(ddof=1) + SPREAD_QUERIES * (SPREAD * background.std(ddof=1)) ** 2
    assert (evidence.queries, evidence.mean) == (4, pytest.approx(gains.mean()))
    assert evidence.deviation == pytest.approx(np.sqrt(squares / (3 + SPREAD_QUERIES)))


def test_queries_that_happen_to_agree_do_not_feign_certainty():
    background = np.asarray([0.1, 0.9, 0.4])
    agreeing = GainPosterior.of(GainEvidence.of(background - 0.02, background), AVERAGE, 0.01)
    assert 0.05 < agreeing.loss_chance < 0.5


@pytest.mark.parametrize("difference", [0.3, -0.3])
def test_where_nothing_varies_the_difference_is_the_gain(difference):
    found = GainPosterior.of(GainEvidence.of(np.full(6, 0.4 + difference), np.full(6, 0.4)), AVERAGE, 0.01)
    assert found == GainPosterior(pytest.approx(difference), float(difference < 0.0))


def test_a_method_that_changes_nothing_promises_nothing():
    values = np.asarray([0.1, 0.9, 0.4])
    for rounding in (0.0, 1e-16):
        assert GainPosterior.of(GainEvidence.of(values + rounding, values), AVERAGE, 0.01) == GainPosterior(0.0, 0.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 30))
def test_the_order_of_queries_does_not_change_a_bit(seed, queries):
    random = np.random.default_rng(seed)
    method, background = random.random((2, queries))
    order = random.permutation(queries)
    assert GainEvidence.of(method[order], background[order]) == GainEvidence.of(method, background)


@pytest.mark.parametrize("prior", PRIORS)
def test_on_domains_as_the_prior_has_them_the_promises_are_kept(prior):
    """Expected and true gains agree on average, and of the changes recommended no more lose than the risk allows."""
    random, expected, true, lost = np.random.default_rng(1), [], [], []
    for _ in range(3000):
        queries = int(random.choice([5, 20, 80]))
        gain = 0.15 * (prior.location + prior.scale * random.standard_t(prior.freedom))
        found = GainPosterior.of(GainEvidence(queries, random.normal(gain, 0.15 / np.sqrt(queries)), 0.15), prior, 0.01)
        expected.append(found.expected)
        true.append(gain)
        if found.expected > 0.0 and found.loss_chance <= 0.1:
            lost.append(gain < -0.01)
    gaps = np.subtract(expected, true)
    assert abs(gaps.mean()) <= 3.0 * stats.sem(gaps)
    assert len(lost) > 100
    assert np.mean(lost) <= 0.1
