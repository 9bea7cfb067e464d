"""Difference: how two systems compare over all cases that have both, with an interval whose units are independent.

Notation: d, the difference of the two systems on one test query, in one draw.

With three units (pairs of domains, data sets, worlds) or more, the units are the sample: t over their means. With fewer,
queries and draws are: d is averaged over the draws of each query, and the squared error of the mean is that of queries plus
that of draws, var_q / n_q + var_d / n_d, with the degrees of freedom of Satterthwaite. The error of draws includes a little of
that of queries, so the interval is rather too wide than too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from papers.experiment import Floats, Outcome, Outcomes
from rankinite.grid import number

FEWEST_UNITS = 3
"""Units that make a sample by themselves."""
SURE = 0.05
"""The p-value, corrected where there are several, below which something is taken as shown."""


@dataclass(frozen=True)
class Difference:
    """A mean difference, its standard error, and what it is an average of."""

    mean: float
    error: float
    freedom: float
    """Degrees of freedom of the error."""
    sample: int
    """How many units there are, or, where these are too few, queries."""
    of_units: bool
    """Whether the units are the sample."""

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Student's interval of the mean."""
        if self.freedom <= 0.0:
            return -math.inf, math.inf
        half = float(special.stdtrit(self.freedom, 0.5 + confidence / 2)) * self.error
        return self.mean - half, self.mean + half

    def p_above(self, threshold: float = 0.0) -> float:
        """The one-sided p-value against the mean being at most the threshold."""
        if self.freedom <= 0.0:
            return 1.0
        if self.error == 0.0:
            return 0.0 if self.mean > threshold else 1.0
        return float(special.stdtr(self.freedom, -(self.mean - threshold) / self.error))

    def p_below(self, threshold: float = 0.0) -> float:
        """The one-sided p-value against the mean being at least the threshold."""
        return Difference(-self.mean, self.error, self.freedom, self.sample, self.of_units).p_above(-threshold)

    def p_either(self) -> float:
        """The two-sided p-value against a mean of 0."""
        return min(1.0, 2.0 * min(self.p_above(), self.p_below()))

    def __str__(self) -> str:
        return self._text(signed=True)

    def unsigned(self) -> str:
        """The mean of one system: ``0.6512 ±0.0104``."""
        return self._text(signed=False)

    def _text(self, *, signed: bool) -> str:
        low, high = self.interval()
        margin = f" ±{number((high - low) / 2)}" if math.isfinite(high) else ""
        return f"{number(self.mean, signed=signed)}{margin}"


def difference(results: Outcomes, first: str, second: str, measure: str, test: str = "test") -> Difference | None:
    """How two systems differ; None where no case has both. An empty second name compares with 0."""
    units = [_by_draw(results.where(unit=unit), first, second, measure, test) for unit in results.units]
    units = [draws for draws in units if draws.size]
    if not units:
        return None
    if len(units) >= FEWEST_UNITS:
        return _of_units([float(draws.mean()) for draws in units])
    fewest = min(len(draws) for draws in units)
    return _of_queries(np.concatenate([draws[:fewest] for draws in units], axis=1))


def mean_of(results: Outcomes, system: str, measure: str, test: str = "test") -> Difference | None:
    """The mean of one system, with its error: how it differs from 0."""
    return difference(results, system, "", measure, test)


def mean_text(results: Outcomes, system: str, measure: str, test: str = "test") -> str:
    """The mean of one system with half its 95 % interval."""
    mean = mean_of(results, system, measure, test)
    return "–" if mean is None else mean.unsigned()


def _by_draw(results: Outcomes, first: str, second: str, measure: str, test: str) -> Floats:
    """The differences of a unit, shape (draws, queries).

    Cases with other test queries add queries, those with another ``draw`` draws; all others, such as numbers of target queries,
    are no sample, and are averaged.
    """
    parts: dict[str, dict[Any, list[Floats]]] = {}
    for case, outcome in results:
        values = _per_query(outcome, first, second, measure, test)
        if values is not None:
            draws = parts.setdefault(case.queries or case.name, {})
            draws.setdefault(case.settings.get("draw", 0), []).append(values)
    if not parts:
        return np.empty((0, 0))
    fewest = min(map(len, parts.values()))
    averaged = [[np.mean(cases, axis=0) for cases in draws.values()][:fewest] for draws in parts.values()]
    return np.concatenate([np.asarray(draws) for draws in averaged], axis=1)


def _per_query(outcome: Outcome, first: str, second: str, measure: str, test: str) -> Floats | None:
    """One difference per query that tells something."""
    systems = outcome.tests.get(test, {})
    if first not in systems or measure not in systems[first] or (second and second not in systems):
        return None
    values = systems[first][measure] - (systems[second][measure] if second else 0.0)
    return values[~np.isnan(values)]


def _of_units(values: Sequence[float]) -> Difference:
    known = np.asarray(values, float)
    return Difference(float(known.mean()), _error(known), len(known) - 1, len(known), of_units=True)


def _of_queries(draws: Floats) -> Difference:
    """The mean over draws × queries, with the errors of both."""
    queries = draws.mean(axis=0)
    of_queries = _error(queries) ** 2
    of_draws = _error(draws.mean(axis=1)) ** 2 if len(draws) > 1 else 0.0
    both = of_queries + of_draws
    freedom = 0.0
    if len(queries) > 1:
        parts = of_queries**2 / (len(queries) - 1) + (of_draws**2 / (len(draws) - 1) if len(draws) > 1 else 0.0)
        freedom = both**2 / parts if parts > 0.0 else len(queries) - 1.0
    return Difference(float(queries.mean()), math.sqrt(both), freedom, len(queries), of_units=False)


def _error(values: Floats) -> float:
    """The standard error of the mean; of a single value nothing is known, and it counts as none."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0


def contrast(results: Outcomes, value: Callable[[Outcomes], float | None]) -> tuple[str, bool | None]:
    """Whether the mean over units of something lies above 0: by real data, and where these decide nothing, by artificial ones.

    For what no pair of systems on one test gives, such as closed against open tests. ``value`` is what a unit says, None where
    it says nothing.
    """
    means: dict[str, Difference] = {}
    for kind, real in (("real", True), ("artificial", False)):
        chosen = results.where(real=real)
        values = [value(chosen.where(unit=unit)) for unit in chosen.units]
        known = [one for one in values if one is not None]
        if len(known) >= FEWEST_UNITS:
            means[kind] = _of_units(known)
    verdicts = [mean.mean > 0.0 for mean in means.values() if mean.p_either() <= SURE]
    text = "; ".join(f"{kind} {mean}" for kind, mean in means.items()) or "too few units"
    return text, verdicts[0] if verdicts else None
