"""DiversitySection: how much the members of an ensemble differ, as plain data of a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rankinite.ensembles.member_diversity import Contribution, Diversity, SizePoint
from rankinite.frames import finite


@dataclass(frozen=True)
class DiversitySection:
    """The members of an ensemble beside each other; correlations that are undefined are None."""

    measure: str
    higher_is_better: bool
    source: str
    together: float
    """The measure of the average of all."""
    members: tuple[Contribution, ...]
    correlations: tuple[tuple[float | None, ...], ...]
    """Of the errors of every two members."""
    curve: tuple[SizePoint, ...]


def diversity_section(found: Diversity) -> DiversitySection:
    """The diversity of members as a report has it."""
    return DiversitySection(
        measure=str(found.measure),
        higher_is_better=found.measure.higher_is_better,
        source=found.source,
        together=found.together,
        members=tuple(map(_in_json, found.members)),
        correlations=tuple(tuple(map(finite, row)) for row in found.correlations),
        curve=found.curve,
    )


def _in_json(member: Contribution) -> Contribution:
    known: Any = {name: finite(getattr(member, name)) for name in ("errors", "scores")}
    low, high = map(finite, member.interval)
    known["interval"] = (low, high)
    return replace(member, **known)
