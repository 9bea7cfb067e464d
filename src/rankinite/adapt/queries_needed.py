"""QueriesNeeded: how many more target queries to judge until a gain that is expected, but not clear, is likely to be deployed.

Notation: n queries are judged. γ is the gain that is expected of the candidate, and σ the standard deviation of its differences
from the background between queries. If γ is the true gain, the mean difference of m queries is distributed as in ``gain``: it
lags lσ/√m behind γ, and its variance is κσ²/m, or now and then 9κσ²/m. So in nine of ten cases it exceeds

    γ(m) − (z + l) σ/√m,

z being the 90% quantile of that distribution for σ = m = 1. The rule that decides (``decision``) says *deploy* for every mean
above the least one for which it does. So the change is deployed with a probability of 90% or more if the rule says so at this
mean, and the number needed is the least m > n for which it does.

γ(m) = γ + b log₂(m/n): with more queries the ranker is better, too. b is the gain's slope in the learning curve, by least
squares for each query, then averaged; it counts only where it is at least twice its standard error, else it is 0.

What cannot be known is not stated: where no gain is expected, where the grades may be noise, or where more than ten times the
queries would be needed, so far beyond those judged that the number would mean little. The number itself is uncertain, as γ is:
where the true gain is half of γ, up to four times as many queries are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from rankinite.adapt.decision import ALPHA, Verdict, decision_of
from rankinite.adapt.gain import OFF, OFF_TIMES, GainEvidence, GainPosterior, Signs, prior_for
from rankinite.adapt.held_out import standard_error
from rankinite.adapt.learning_curve import LearningCurve
from rankinite.engine.kernel import Floats
from rankinite.evaluation.significance import exact_mean
from rankinite.measures.base import sign_of

SURE = 0.9
"""The probability with which the change is deployed after as many queries, if the gain is as expected."""
MOST_TIMES = 10
"""The most queries that are looked at, as a multiple of those judged."""
CLEAR = float(special.ndtri(1.0 - ALPHA / 2.0))
"""The standard errors that a mean difference must be above 0 to be clear on the queries alone."""
CLEAR_SLOPE = 2.0
"""The standard errors that the slope of the learning curve must be away from 0 to count."""


@dataclass(frozen=True, slots=True)
class QueriesNeeded:
    """How many more queries to judge until the change is deployed with a probability of 90%, if the gain is as expected."""

    judged: int
    """How many queries there are."""
    more: int | None
    """How many more are needed; None: more than ten times as many as there are."""

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return {"judged": self.judged, "more": self.more, "sure": SURE}


def queries_needed(verdict: Verdict, method: Floats, background: Floats, curve: LearningCurve | None) -> QueriesNeeded | None:
    """The number for the candidate of a verdict; None where it is deployed already, or nothing can be said.

    ``method`` and ``background``: one value per query, higher being better.
    """
    evidence = GainEvidence.of(method, background)
    if verdict.decision == "deploy" or not verdict.ranks or verdict.expected <= 0.0 or evidence.deviation == 0.0:
        return None
    effect = Effect(verdict.expected, evidence.deviation, 0.0 if curve is None else slope_of(curve, verdict.name))
    total = least_queries(effect, evidence.queries, verdict.signs, verdict.risk, verdict.tolerate)
    return QueriesNeeded(evidence.queries, None if total is None else total - evidence.queries)


@dataclass(frozen=True, slots=True)
class Effect:
    """A gain as it is assumed to be."""

    gain: float
    """The mean difference, trained on the queries that are judged now."""
    deviation: float
    """The standard deviation of the differences between queries."""
    slope: float = 0.0
    """How much the gain grows where the queries are doubled."""


def least_queries(effect: Effect, judged: int, signs: Signs, risk: float, tolerate: float) -> int | None:
    """The least number of queries, above ``judged``, with which the change is deployed with probability ``SURE``."""
    prior = prior_for(signs)
    off = GainPosterior((1.0 - OFF, OFF), (0.0, 0.0), (math.sqrt(prior.noise), math.sqrt(OFF_TIMES * prior.noise)))
    below = off.quantile(SURE) + prior.lag

    def enough(queries: int) -> bool:
        gain = effect.gain + effect.slope * math.log2(queries / judged)
        seen = gain - below * effect.deviation / math.sqrt(queries)
        clear = seen * math.sqrt(queries) >= CLEAR * effect.deviation
        found = GainPosterior.of(GainEvidence(queries, seen, effect.deviation), signs)
        return decision_of(found, risk, tolerate, clear=clear) == "deploy"

    low = judged
    for high in _growing(judged):
        if enough(high):
            break
        low = high
    else:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def slope_of(curve: LearningCurve, method: str) -> float:
    """How much the gain grows where the queries are doubled; 0 where the curve does not show it clearly."""
    doublings = np.log2(np.asarray(curve.sizes, np.float64))
    away = doublings - doublings.mean()
    if not away.any():
        return 0.0
    gains = sign_of(curve.measure) * (curve.values[method] - curve.values["background"])
    slopes = away @ gains / (away @ away)
    mean = exact_mean(slopes)
    return mean if len(slopes) > 1 and abs(mean) >= CLEAR_SLOPE * standard_error(slopes) else 0.0


def _growing(judged: int) -> list[int]:
    """Numbers of queries from one more than are judged to the most, each about a tenth larger than the one before."""
    steps = judged * np.geomspace(1.0, MOST_TIMES, 26)[1:]
    return sorted({judged + 1, *np.ceil(steps).astype(int).tolist()})
