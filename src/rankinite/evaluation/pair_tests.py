"""Two systems on the same queries: the difference, its interval, and the outcome of three paired tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, get_args

import numpy as np

from rankinite.choices import Test
from rankinite.engine.kernel import Strings
from rankinite.errors import MeasureError, quoted
from rankinite.evaluation.evaluate import Evaluation, Result
from rankinite.evaluation.significance import (
    bootstrap,
    difference_bounds,
    exact_mean,
    holm,
    paired_differences,
    paired_t,
    randomisation,
    randomisation_floor,
    t_interval,
    within_bounds,
)
from rankinite.grid import at_floor, p_value
from rankinite.measures.base import Measure, sign_of

TESTS: tuple[Test, ...] = get_args(Test)


@dataclass(frozen=True, slots=True)
class PValue:
    """The outcome of one test of one pair."""

    raw: float
    """As the test gives it."""
    holm: float
    """Corrected for the number of pairs compared by this measure."""
    floor: float = 0.0
    """The least that ``raw`` can be with this number of resamples; 0 where nothing was resampled."""
    holm_floor: float = 0.0
    """The least that ``holm`` can be."""

    @property
    def limited(self) -> bool:
        """Whether more resamples could make ``holm`` smaller."""
        return at_floor(self.holm, self.holm_floor)

    @property
    def raw_text(self) -> str:
        """As it is printed: one at its floor is only known to be smaller, as in ``< 0.0001``."""
        return p_value(self.raw, self.floor)

    @property
    def holm_text(self) -> str:
        """As it is printed: one at its floor is only known to be smaller, as in ``< 0.0024``."""
        return p_value(self.holm, self.holm_floor)

    def record(self, test: Test) -> dict[str, float]:
        """All of it, for CSV and JSON."""
        names = (f"p_{test}", f"p_{test}_holm", f"p_{test}_floor", f"p_{test}_holm_floor")
        return dict(zip(names, (self.raw, self.holm, self.floor, self.holm_floor), strict=True))


@dataclass(frozen=True, slots=True)
class PairTest:
    """Two systems compared by one measure, query by query."""

    measure: Measure
    first: str
    second: str
    difference: float
    """Mean of ``first`` minus mean of ``second``."""
    interval: tuple[float, float]
    """Student's confidence interval of the difference, cut where no difference can be."""
    bootstrap_interval: tuple[float, float]
    """The bootstrap's percentile interval of the difference."""
    wins: int
    """Queries on which ``first`` is better (for an error: lower)."""
    ties: int
    losses: int
    t: PValue
    randomisation: PValue
    bootstrap: PValue

    def p(self, test: Test) -> PValue:
        """The outcome of the test of that name."""
        return {"randomisation": self.randomisation, "t": self.t, "bootstrap": self.bootstrap}[test]

    @property
    def better(self) -> str | None:
        """The system with the better mean; None when the means are equal."""
        if self.difference == 0.0:
            return None
        return self.first if (self.difference > 0.0) == self.measure.higher_is_better else self.second

    def record(self) -> dict[str, Any]:
        """The outcome as one flat record, for CSV and JSON."""
        record: dict[str, Any] = {
            "measure": str(self.measure),
            "first": self.first,
            "second": self.second,
            "difference": self.difference,
            "low": self.interval[0],
            "high": self.interval[1],
            "bootstrap_low": self.bootstrap_interval[0],
            "bootstrap_high": self.bootstrap_interval[1],
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
        }
        for test in TESTS:
            record |= self.p(test).record(test)
        return record

    def mirrored(self) -> PairTest:
        """The same outcome with the systems in the other order."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=-self.difference,
            interval=(-self.interval[1], -self.interval[0]),
            bootstrap_interval=(-self.bootstrap_interval[1], -self.bootstrap_interval[0]),
            wins=self.losses,
            losses=self.wins,
        )


def floor_note(found: Iterable[PValue]) -> str:
    """What ``<`` means, for the note of a table of p-values that has one."""
    return "; <: smaller than this number of resamples can show" if any(p.limited for p in found) else ""


def compare_pairs(
    evaluations: Mapping[str, Evaluation],
    measure: Measure,
    resamples: int,
    seed: int,
    confidence: float,
    against: Collection[str] | None = None,
) -> list[PairTest]:
    """All pairs of systems by one measure, or those with one of ``against``; their p-values are corrected together."""
    tested = [
        _test_pair(measure, (first, a[measure]), (second, b[measure]), a.qids, resamples, seed, confidence)
        for (first, a), (second, b) in combinations(evaluations.items(), 2)
        if against is None or first in against or second in against
    ]
    for test in TESTS:
        corrected = _corrected([pair.p(test) for pair in tested])
        tested = [replace(pair, **{test: p}) for pair, p in zip(tested, corrected, strict=True)]
    return tested


def _corrected(found: Sequence[PValue]) -> list[PValue]:
    """The p-values of one test, corrected together.

    Holm multiplies the smallest of m by m and makes no other smaller than that. So where one of them is at its floor, all that
    come out at m times the floor might be smaller with more resamples.
    """
    floor = min(1.0, len(found) * max((p.floor for p in found), default=0.0))
    values = holm([p.raw for p in found]).tolist()
    return [replace(p, holm=value, holm_floor=floor) for p, value in zip(found, values, strict=True)]


def _test_pair(
    measure: Measure,
    one: tuple[str, Result],
    other: tuple[str, Result],
    qids: Strings,
    resamples: int,
    seed: int,
    confidence: float,
) -> PairTest:
    """One pair, not yet corrected; refuses a measure that is undefined for one of the two systems only."""
    (first, a), (second, b) = one, other
    counted = ~np.isnan(a.per_query)
    unlike = np.flatnonzero(counted == np.isnan(b.per_query))
    if len(unlike):
        raise MeasureError(
            f"the measure is undefined for one of {first!r} and {second!r} only",
            place=f"{measure}: query {quoted(str(qids[unlike[0]]))}",
            value=(first, second),
            rule="Whether it is defined must depend on the grades alone",
            remedy="Let it give a number, or NaN for every ranking of the query",
        )
    a_values, b_values = a.per_query[counted], b.per_query[counted]
    d = paired_differences(a_values, b_values)
    difference, bounds = exact_mean(d), difference_bounds(measure, a_values, b_values)
    booted = bootstrap(d, resamples, seed, confidence=confidence)
    t, flips = paired_t(a_values, b_values), randomisation(d, resamples, seed)
    gains = sign_of(measure) * d
    wins, losses = int(np.count_nonzero(gains > 0.0)), int(np.count_nonzero(gains < 0.0))
    return PairTest(
        measure=measure,
        first=first,
        second=second,
        difference=difference,
        interval=within_bounds(t_interval(d, confidence), difference, bounds),
        bootstrap_interval=within_bounds(booted.interval, difference, bounds),
        wins=wins,
        ties=len(d) - wins - losses,
        losses=losses,
        t=PValue(t, t),
        randomisation=PValue(flips, flips, randomisation_floor(d, resamples)),
        bootstrap=PValue(booted.p, booted.p, booted.floor),
    )
