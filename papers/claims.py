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

from papers.differences import SURE, Difference, difference, mean_of
from papers.experiment import Outcomes
from rankinite.evaluation.significance import holm

Verdict = Literal["holds", "does not hold", "cannot be decided here", "not run"]
Kind = Literal["real", "artificial"]
UNDECIDED: Verdict = "cannot be decided here"
MARGIN = 0.005
"""Differences below half a point of a measure that ends at 1 matter to nobody; of others, half a percent of the mean."""
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

    def p_values(self, results: Outcomes, *, real: bool) -> _PValues | None:
        """What the difference on real or on artificial data shows; None where there are no such data."""
        results = results.where(real=real, **self.at)
        measured = difference(results, self.first, self.second, self.measure, self.test)
        if measured is None:
            return None
        margin = self.matters
        if self.measure.startswith("dcg"):
            level = mean_of(results, self.second, self.measure, self.test)
            margin *= abs(level.mean) if level else 1.0
        above, below = 2.0 * measured.p_above(), 2.0 * measured.p_below()
        small = max(measured.p_above(-margin), measured.p_below(margin))
        if self.says == ALIKE:
            large = 2.0 * min(measured.p_above(margin), measured.p_below(-margin))
            return _PValues(measured, small, min(1.0, large))
        holds, fails = (above, below) if self.says == BETTER else (below, above)
        return _PValues(measured, min(1.0, holds), min(1.0, fails, small))


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


@dataclass(frozen=True)
class _PValues:
    measured: Difference
    holds: float
    """Against the claim's opposite."""
    fails: float
    """Against the claim."""


def findings(claims: Sequence[Claim], results: Outcomes) -> list[Finding]:
    """What became of an item's claims."""
    compared = iter(_compare([claim for claim in claims if isinstance(claim, Compared)], results))
    return [next(compared) if isinstance(claim, Compared) else _judge(claim, results) for claim in claims]


def _judge(claim: Measured | Undecidable, results: Outcomes) -> Finding:
    if isinstance(claim, Undecidable):
        return Finding(claim.text, "–", UNDECIDED, claim.why)
    if not results:
        return Finding(claim.text, "–", "not run")
    ours, holds = claim.judge(results)
    verdict: Verdict = UNDECIDED if holds is None else "holds" if holds else "does not hold"
    return Finding(claim.text, ours, verdict, "" if holds else claim.why)


def _compare(claims: Sequence[Compared], results: Outcomes) -> list[Finding]:
    """Settle comparisons by real data where these decide, else by artificial ones."""
    real, artificial = ([claim.p_values(results, real=real) for claim in claims] for real in (True, False))
    decided: list[Finding] = []
    for claim, on_real, on_artificial, by_real, by_artificial in zip(
        claims, real, artificial, _verdicts(real), _verdicts(artificial), strict=True
    ):
        measured = [
            f"{kind} {shown.measured}"
            for kind, shown in (("real", on_real), ("artificial", on_artificial))
            if shown is not None
        ]
        if not measured:
            decided.append(Finding(claim.text, "–", "not run"))
            continue
        verdict, kind = by_real, "real" if by_real else None
        if by_real is None and by_artificial is not None:
            against = None if on_real is None else on_real.fails if by_artificial == "holds" else on_real.holds
            if against is None or against > SURE:  # else the real data, uncorrected, point the other way
                verdict, kind = by_artificial, "artificial"
        why = "" if verdict == "holds" else claim.why
        decided.append(Finding(claim.text, "; ".join(measured), verdict or UNDECIDED, why, kind))
    return decided


def _verdicts(shown: Sequence[_PValues | None]) -> list[Verdict | None]:
    """Verdicts with p-values corrected for all comparisons of the item; None where nothing is shown."""
    known = [one for one in shown if one is not None]
    if not known:
        return [None] * len(shown)
    holds = iter(holm([one.holds for one in known]).tolist())
    fails = iter(holm([one.fails for one in known]).tolist())
    verdicts: list[Verdict | None] = []
    for one in shown:
        if one is None:
            verdicts.append(None)
            continue
        yes, no = next(holds), next(fails)
        verdicts.append("holds" if yes <= SURE else "does not hold" if no <= SURE else None)
    return verdicts


def none_better(system: str, rivals: Sequence[str], measure: str) -> Callable[[Outcomes], tuple[str, bool | None]]:
    """Judge whether a system is as good as every rival, first on real data, and where these decide nothing on artificial ones.

    It holds where every rival is shown to be ahead by less than the margin, if at all, and fails where one is shown to be
    ahead by more, p-values of the latter being corrected for the number of rivals.
    """

    def judge(results: Outcomes) -> tuple[str, bool | None]:
        texts: list[str] = []
        verdicts: list[bool] = []
        for kind, real in (("real", True), ("artificial", False)):
            chosen = results.where(real=real)
            differences = {rival: difference(chosen, rival, system, measure) for rival in rivals}
            ahead = {rival: measured for rival, measured in differences.items() if measured is not None}
            if not ahead:
                continue
            best = max(ahead, key=lambda rival: ahead[rival].mean)
            texts.append(f'{kind} {ahead[best]} of the best of {len(ahead)} others ("{best}")')
            if max(one.p_below(MARGIN) for one in ahead.values()) <= SURE:
                verdicts.append(True)
            elif min(holm([one.p_above(MARGIN) for one in ahead.values()]).tolist()) <= SURE:
                verdicts.append(False)
        return "; ".join(texts), verdicts[0] if verdicts else None

    return judge
