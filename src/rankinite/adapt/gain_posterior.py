"""GainPosterior: what to expect of a change on new queries, by the prior and the target's own queries together.

Notation: the n differences dᵢ between the method and the background, one per judged query, have the mean γ, the true gain, and
the standard deviation σ; δ = γ / σ is the gain in standard deviations. A few queries that happen to agree would feign
certainty, so σ is pooled with the usual deviation; then it is taken as known, and the mean of the dᵢ is N(γ, σ²/n). The prior
of δ is Student's t, that is δ | λ ~ N(location, scale² / λ) with λ ~ Γ(ν/2, ν/2): given λ the gain is normal, and over log λ,
where the weights are smooth and vanish at both ends, the trapezoidal rule is as good as exact. Thanks to the tails of the
prior, evidence that is far from it prevails.

The differences come from rankers that were trained on fewer queries than the one deployed, so they may be a little pessimistic.
The benchmark's cells do not show it (docs/adr/0027), and nothing is corrected for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from rankinite.adapt.gain_prior import SPREAD, SPREAD_QUERIES, GainPrior
from rankinite.engine.kernel import Floats
from rankinite.evaluation.significance import NOISE, exact_mean, exact_sum, paired_differences

_LOG_MIXING = np.linspace(-40.0, 5.0, 1501)
"""Points on the axis of log λ."""


@dataclass(frozen=True, slots=True)
class GainEvidence:
    """The differences between a method and the background on unseen target queries, summed up."""

    queries: int
    mean: float
    deviation: float
    """The standard deviation between queries, pooled with the usual one; 0: nothing varies, and the mean is all there is."""

    @classmethod
    def of(cls, method: Floats, background: Floats) -> Self:
        """From one value per query of both, higher being better; the same to the bit for any order of queries."""
        differences = paired_differences(method, background)
        mean = exact_mean(differences)
        return cls.pooled(len(differences), mean, _variance(differences), _variance(background))

    @classmethod
    def pooled(cls, queries: int, mean: float, variance: float, background_variance: float) -> Self:
        """From the variance of the differences between queries and that of the background's values.

        A method that never differs from the background has no deviation.
        """
        if variance == mean == 0.0:
            return cls(queries, 0.0, 0.0)
        squares = (queries - 1) * variance + SPREAD_QUERIES * SPREAD**2 * background_variance
        return cls(queries, mean, math.sqrt(squares / (queries - 1 + SPREAD_QUERIES)))


@dataclass(frozen=True, slots=True)
class GainPosterior:
    """The gain to expect on new queries, and the risk."""

    expected: float
    """The expected gain, in the unit of the measure; above 0 is better."""
    loss_chance: float
    """The chance that the true gain is a loss larger than the tolerance."""

    @classmethod
    def of(cls, evidence: GainEvidence, prior: GainPrior, tolerate: float) -> Self:
        """From the target's queries and the prior."""
        if evidence.deviation == 0.0:
            return cls(evidence.mean, float(evidence.mean < -tolerate))
        queries, seen, mixing = evidence.queries, evidence.mean / evidence.deviation, np.exp(_LOG_MIXING)
        wider = 1.0 + queries * prior.scale**2 / mixing  # the variance of the mean of the dᵢ, in that of one whose δ is known
        fit = -0.5 * np.log(wider) - queries * (seen - prior.location) ** 2 / (2.0 * wider)
        weights = fit + prior.freedom / 2.0 * (_LOG_MIXING - mixing)
        weights = np.exp(weights - weights.max())
        weights /= weights.sum()
        precision = mixing / prior.scale**2 + queries
        centre = (mixing * prior.location / prior.scale**2 + queries * seen) / precision
        loses = special.ndtr((-tolerate / evidence.deviation - centre) * np.sqrt(precision))
        return cls(evidence.deviation * float(weights @ centre), float(weights @ loses))


def _variance(values: Floats) -> float:
    """The variance between queries; 0 where it is only rounding noise."""
    deviations = values - exact_mean(values)
    deviations = np.where(np.abs(deviations) <= NOISE * np.maximum(1.0, np.abs(values)), 0.0, deviations)
    return exact_sum(deviations**2) / max(1, len(values) - 1)
