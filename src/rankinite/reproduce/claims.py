"""Claims: what a table or figure of a paper is said to show, and whether it holds here.

A claim about two systems is settled by their paired :class:`Difference`, first on real data, and where that decides nothing on
artificial data, unless the real data point the other way before correction. Two things are tested: that the difference lies on
the side the paper says, and that it is smaller than what matters (``MARGIN``). "Not significantly different" is neither. Within
an item all p-values are corrected together (Holm).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rankinite.evaluation.significance import holm
from rankinite.grid import number
from rankinite.reproduce.differences import Difference, difference, mean_of
from rankinite.reproduce.experiment import Outcomes

Verdict = Literal["holds", "does not hold", "cannot be decided here", "not run"]
Kind = Literal["real", "artificial"]
UNDECIDED: Verdict = "cannot be decided here"
MARGIN = 0.005
"""Differences below half a point of a measure that ends at 1 matter to nobody; of others, half a percent of the mean."""
SURE = 0.05
"""The corrected p-value below which something is taken as shown."""
Says = Literal["better", "worse", "alike"]
BETTER: Says = "better"
WORSE: Says = "worse"
ALIKE: Says = "alike"


@dataclass(frozen=True)
class Finding:
    """What became of a claim."""

    claim: str
    """The paper's claim in one line."""
    ours: str
    """What was found here."""
    verdict: Verdict
    why: str = ""
    """Where it does not hold or is open: why, and what would decide it."""
    decided_by: Kind | None = None
    """The data that settled a comparison of two systems."""

    @property
    def shown_verdict(self) -> str:
        """The verdict, and on which data it rests where that is known: ``holds (artificial data)``."""
        return self.verdict if self.decided_by is None else f"{self.verdict} ({self.decided_by} data)"


@dataclass(frozen=True)
class Compared:
    """The claim that one system is better than another, worse, or as good."""

    text: str
    first: str
    second: str
    says: Says = BETTER
    measure: str = "ndcg@10"
    test: str = "test"
    at: dict[str, Any] = field(default_factory=dict)
    """Only cases with these settings."""
    why: str = ""
    matters: float = MARGIN
    """Differences that are shown to be smaller count as none; not more than the paper's own difference, where it has one."""

    def seen(self, results: Outcomes, *, real: bool) -> Difference | None:
        """The difference on real or on artificial data."""
        return difference(results.where(real=real, **self.at), self.first, self.second, self.measure, self.test)

    def margin(self, results: Outcomes, *, real: bool) -> float:
        """What matters, on the scale of the measure."""
        if not self.measure.startswith("dcg"):
            return self.matters
        level = mean_of(results.where(real=real, **self.at), self.second, self.measure, self.test)
        return self.matters * (abs(level.mean) if level else 1.0)


@dataclass(frozen=True)
class Measured:
    """A claim that is no comparison of two systems' means: a function of the results says what was found."""

    text: str
    judge: Callable[[Outcomes], tuple[str, bool | None]]
    """What was found in words, and whether the claim holds; None where that cannot be told."""
    why: str = ""


@dataclass(frozen=True)
class Undecidable:
    """A claim about data or events that nobody can repeat here."""

    text: str
    why: str


Claim = Compared | Measured | Undecidable


def findings(claims: Sequence[Claim], results: Outcomes) -> list[Finding]:
    """What became of an item's claims."""
    compared = [claim for claim in claims if isinstance(claim, Compared)]
    settled = dict(zip(map(id, compared), _settled(compared, results), strict=True))
    return [settled[id(claim)] if isinstance(claim, Compared) else _other(claim, results) for claim in claims]


def _other(claim: Measured | Undecidable, results: Outcomes) -> Finding:
    if isinstance(claim, Undecidable):
        return Finding(claim.text, "–", UNDECIDED, claim.why)
    if not results:
        return Finding(claim.text, "–", "not run")
    ours, holds = claim.judge(results)
    verdict: Verdict = UNDECIDED if holds is None else "holds" if holds else "does not hold"
    return Finding(claim.text, ours, verdict, "" if holds else claim.why)


def _settled(claims: Sequence[Compared], results: Outcomes) -> list[Finding]:
    """The comparisons, settled by real data where these decide, else by artificial ones."""
    kinds = [[_signs(claim, results, real=real) for claim in claims] for real in (True, False)]
    real, artificial = map(_corrected, kinds)
    found: list[Finding] = []
    for place, claim in enumerate(claims):
        shown = {"real": kinds[0][place], "artificial": kinds[1][place]}
        told = [f"{kind} {one.seen}" for kind, one in shown.items() if one is not None]
        if not told:
            found.append(Finding(claim.text, "–", "not run"))
            continue
        verdict = real[place] or _unless_contradicted(artificial[place], shown["real"])
        by: Kind | None = "real" if real[place] else "artificial" if verdict else None
        found.append(Finding(claim.text, "; ".join(told), verdict or UNDECIDED, "" if verdict == "holds" else claim.why, by))
    return found


@dataclass(frozen=True)
class _Signs:
    """A difference with the p-values of what it could show."""

    seen: Difference
    holds: float
    """The p-value against the claim's opposite."""
    fails: float
    """The p-value against the claim."""


def _unless_contradicted(verdict: Verdict | None, real: _Signs | None) -> Verdict | None:
    """The verdict of artificial data; none where the real data, uncorrected, point the other way."""
    against = None if real is None else real.fails if verdict == "holds" else real.holds
    return None if against is not None and against <= SURE else verdict


def _signs(claim: Compared, results: Outcomes, *, real: bool) -> _Signs | None:
    seen = claim.seen(results, real=real)
    if seen is None:
        return None
    margin = claim.margin(results, real=real)
    above, below = 2.0 * seen.p_above(), 2.0 * seen.p_below()
    small = max(seen.p_above(-margin), seen.p_below(margin))
    large = 2.0 * min(seen.p_above(margin), seen.p_below(-margin))
    if claim.says == ALIKE:
        return _Signs(seen, small, min(1.0, large))
    holds, fails = (above, below) if claim.says == BETTER else (below, above)
    return _Signs(seen, min(1.0, holds), min(1.0, fails, small))


def _corrected(signs: Sequence[_Signs | None]) -> list[Verdict | None]:
    """Verdicts with p-values corrected for all comparisons of the item; None where nothing is shown."""
    known = [one for one in signs if one is not None]
    if not known:
        return [None] * len(signs)
    holds, fails = (holm([getattr(one, side) for one in known]).tolist() for side in ("holds", "fails"))
    verdicts: list[Verdict | None] = []
    for yes, no in zip(holds, fails, strict=True):
        verdicts.append("holds" if yes <= SURE else "does not hold" if no <= SURE else None)
    given = iter(verdicts)
    return [None if one is None else next(given) for one in signs]


def half(value: Difference | None) -> str:
    """A mean with half its 95 % interval: ``0.6512 ±0.0104``."""
    if value is None:
        return "–"
    low, high = value.interval()
    return f"{number(value.mean)} ±{number((high - low) / 2)}" if high < float("inf") else number(value.mean)
