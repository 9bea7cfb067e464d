"""Gain: what a method is expected to bring on new queries, from the target's own queries and from other pairs of domains.

Notation: n judged queries have differences dᵢ between the method and the background, with mean d̄ and standard deviation σ. The
true gain, the mean over all queries of the target's kind, is γ, and δ = γ/σ: a method that changes little can neither gain nor
lose much, and a number without a unit holds for every measure.

Before d̄ is looked at, δ is a mixture of normal distributions, one for each kind of domain pair: on some pairs there is next to
nothing to gain, on others much. How likely each kind is, and what it brings, depends on signs x that can be seen (``Signs``):

    P(kind k) ∝ exp(aₖ·x)        δ | k ~ N(bₖ·x, sₖ² exp(2c·shift))
    d̄/σ + l/√n | δ ~ N(δ, κ/n), or, one time in ten, N(δ, 9κ/n)

The rankers judged by folds are not the one that is deployed: they have learnt from fewer queries, so d̄ lags behind (l), its
variance is larger than that of a mean of n (κ > 1), and sometimes much larger. All coefficients are estimated from pairs of
domains whose true gain is known (``benchmarks/gain_prior.py``, ADR 33). The posterior of a normal mixture is one again: every
kind's weight is multiplied by how well it explains d̄, and its mean moves towards d̄.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from rankinite.engine.kernel import Floats
from rankinite.evaluation.significance import NOISE, exact_mean, exact_sum, paired_differences

SPREAD = 0.5
"""The usual standard deviation of the differences, in those of the background's values (0.30 to 0.75 on the benchmark)."""
SPREAD_QUERIES = 2.0
"""How many queries this counts as much as; few, as the background's deviation is itself known from few queries."""

OFF, OFF_TIMES = 0.1, 9.0
"""How often the queries mislead by more than sampling explains, and by how much then; set so that intervals cover."""
UNKNOWN_SHIFT = 0.35
"""The mean shift of the pairs that the prior is estimated from, for a shift that is not known."""
FEW, MANY = 15, 1500
"""The fewest and the most queries of a background among these pairs."""


@dataclass(frozen=True, eq=False)
class Prior:
    """What adapting has brought on pairs of domains whose true gain is known, as ``benchmarks/gain_prior.py`` prints it.

    One row of coefficients for each kind of domain pair; one column for each of :class:`Signs`, after a constant.
    """

    pairs: int
    """How many pairs of domains it is estimated from."""
    weights: Floats
    """aₖ: how likely each kind is."""
    locations: Floats
    """bₖ: what it brings, in standard deviations between queries."""
    scales: Floats
    """sₖ: how unlike the pairs of a kind are."""
    widening: float
    """c: how much more unlike they are where the shift is large."""
    noise: float
    """κ: the variance of the mean difference, in that of the mean of independent differences."""
    lag: float
    """l: how far the mean difference of folds lags behind the gain, in standard errors of independent differences."""


AVERAGED = Prior(
    pairs=1206,
    weights=np.asarray(
        [
            [0.000, 0.000, 0.000, 0.000, 0.000],
            [0.439, 0.486, 0.617, -0.914, -1.354],
            [1.332, 0.530, 1.561, 0.200, -0.119],
        ]
    ),
    locations=np.asarray(
        [
            [0.045, 0.000, 0.000, 0.000, 0.000],
            [0.115, 0.233, 0.011, 0.090, -0.121],
            [0.765, 0.278, -0.221, 0.222, 0.082],
        ]
    ),
    scales=np.asarray([0.041, 0.098, 0.473]),
    widening=0.346,
    noise=1.541,
    lag=0.269,
)
"""Where the average of unlike methods is among the candidates."""

PICKED = Prior(
    pairs=1163,
    weights=np.asarray(
        [
            [0.000, 0.000, 0.000, 0.000, 0.000],
            [0.935, 0.557, 0.878, -0.370, -0.471],
            [0.066, 0.370, 0.993, 0.581, 0.676],
        ]
    ),
    locations=np.asarray(
        [
            [-0.001, 0.000, 0.000, 0.000, 0.000],
            [0.058, 0.276, 0.094, 0.364, -0.151],
            [1.123, 0.133, -0.400, 0.208, -0.133],
        ]
    ),
    scales=np.asarray([0.015, 0.286, 0.513]),
    widening=0.259,
    noise=1.711,
    lag=0.328,
)
"""Where it is not, and the method was picked as the best."""


@dataclass(frozen=True, slots=True)
class GainEvidence:
    """The differences between a method and the background on unseen target queries, summed up."""

    queries: int
    mean: float
    deviation: float
    """The standard deviation between queries, pooled with the usual one; 0: nothing varies, and the mean is all there is."""

    @classmethod
    def of(cls, method: Floats, background: Floats) -> Self:
        """From one value per query of both, higher being better; the same to the bit for any order of queries.

        A few queries that happen to agree would feign certainty, so their deviation is pooled with the usual one.
        """
        differences = paired_differences(method, background)
        queries, mean, variance = len(differences), exact_mean(differences), _variance(differences)
        if variance == mean == 0.0:  # a method that never differs from the background has no deviation
            return cls(queries, 0.0, 0.0)
        squares = (queries - 1) * variance + SPREAD_QUERIES * SPREAD**2 * _variance(background)
        return cls(queries, mean, math.sqrt(squares / (queries - 1 + SPREAD_QUERIES)))


@dataclass(frozen=True, slots=True)
class Signs:
    """What can be seen of a pair of domains without the method's own gain."""

    shift: float | None
    """How far the target's rows are from the background's, 0 to 1 (``shift``); None: not known."""
    target: float
    """The gain of a ranker trained on the target alone, in standard deviations between queries."""
    background_queries: int | None
    """How many queries the background was trained on; None: not known, so many."""
    picked: bool = False
    """Whether the method was picked without an average, as the best on these queries, which flatters it."""

    def values(self, queries: int) -> Floats:
        """The signs as the prior counts them."""
        shift = UNKNOWN_SHIFT if self.shift is None else self.shift
        trained_on = MANY if self.background_queries is None else min(MANY, max(FEW, self.background_queries))
        target = min(2.0, max(-2.0, self.target))
        return np.asarray([1.0, shift, target, math.log(queries / 40) / 2, math.log(trained_on / 200) / 2])


@dataclass(frozen=True, slots=True)
class GainPosterior:
    """The true gain as far as it is known, in the unit of the measure; above 0 is better."""

    weights: tuple[float, ...]
    """How likely every kind of domain pair is, in each case of how much the queries mislead."""
    means: tuple[float, ...]
    """The gain to expect of each kind."""
    deviations: tuple[float, ...]
    """How uncertain that is."""

    @classmethod
    def of(cls, evidence: GainEvidence, signs: Signs, prior: Prior | None = None) -> Self:
        """From the target's queries and the prior; if none is given, that for how the method was chosen."""
        prior = prior or prior_for(signs)
        if evidence.deviation == 0.0:
            return cls((1.0,), (evidence.mean,), (0.0,))
        counted, queries = signs.values(evidence.queries), evidence.queries
        seen = evidence.mean / evidence.deviation + prior.lag / math.sqrt(queries)
        errors = prior.noise / queries * np.asarray([[1.0], [OFF_TIMES]])
        chances = np.log([[1.0 - OFF], [OFF]])
        places = prior.locations @ counted
        variances = (prior.scales * math.exp(prior.widening * counted[1])) ** 2
        explains = -0.5 * (seen - places) ** 2 / (variances + errors) - 0.5 * np.log(variances + errors)
        weights = special.softmax(prior.weights @ counted + chances + explains)
        means = (places * errors + seen * variances) / (variances + errors)
        spreads = np.sqrt(variances * errors / (variances + errors))
        unit = evidence.deviation
        return cls(
            tuple(weights.ravel().tolist()), tuple((unit * means).ravel().tolist()), tuple((unit * spreads).ravel().tolist())
        )

    @property
    def expected(self) -> float:
        """The mean."""
        return float(np.dot(self.weights, self.means))

    def chance_below(self, limit: float) -> float:
        """The chance that the true gain is below ``limit``."""
        if self.deviations == (0.0,):
            return float(self.means[0] < limit)
        return float(np.dot(self.weights, special.ndtr((limit - np.asarray(self.means)) / self.deviations)))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The limits that the true gain is below and above with equal chances."""
        return self.quantile((1.0 - confidence) / 2.0), self.quantile((1.0 + confidence) / 2.0)

    def quantile(self, chance: float) -> float:
        """The limit that the true gain is below with this chance."""
        far = 10.0 * np.asarray(self.deviations)
        low, high = float(np.min(self.means - far)), float(np.max(self.means + far))
        for _ in range(100):  # by halves, until the ends meet
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.chance_below(middle) < chance else (low, middle)
        return high


def prior_for(signs: Signs) -> Prior:
    """The prior for how a method was chosen."""
    return PICKED if signs.picked else AVERAGED


def _variance(values: Floats) -> float:
    """The variance between queries; 0 where it is only rounding noise."""
    deviations = values - exact_mean(values)
    deviations = np.where(np.abs(deviations) <= NOISE * np.maximum(1.0, np.abs(values)), 0.0, deviations)
    return exact_sum(deviations**2) / max(1, len(values) - 1)
