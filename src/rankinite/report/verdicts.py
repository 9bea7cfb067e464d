"""Sentences of a report: its verdict, the explanation of its numbers, and warnings that belong to them."""

from __future__ import annotations

from typing import Any

from rankinite.adapt.result import size_of
from rankinite.evaluation.compare import Comparison
from rankinite.evaluation.meaning import interval_meaning, p_meaning
from rankinite.evaluation.training_overlap import overlap_warnings
from rankinite.grid import number
from rankinite.measures.base import Measure
from rankinite.models.base import trained_of

FLATTERED = "The validation data have chosen what was kept, so they flatter it: give test data for an honest figure."
"""What to know of a ranker that is judged by its validation data."""


def verdict_of(comparison: Comparison, old: str, new: str, measure: Measure) -> tuple[str, ...]:
    """One sentence with the number that decides."""
    pair = comparison.pair(new, old, measure)
    p = pair.p(comparison.test)
    if pair.better is None:
        return (f"{new} is as good as {old} by {measure}.",)
    side = "better" if pair.better == new else "worse"
    gap = f"by {number(abs(pair.difference))} of {measure}"
    if p.holm <= comparison.alpha:
        return (f"{new} is {side} than {old} {gap} (p {p.holm_text}; at most {comparison.alpha:g} is asked for).",)
    chance = f"which may be chance (p {p.holm_text}; at most {comparison.alpha:g} is asked for)"
    return (f"{new} is not surely {side} than {old}: it is {side} {gap}, {chance}.",)


def explanation_of(comparison: Comparison, old: str, new: str, measure: Measure) -> tuple[str, ...]:
    """What the numbers beside the verdict mean."""
    pair = comparison.pair(new, old, measure)
    decides = f"It decides: where it is above {comparison.alpha:g}, the difference may be chance."
    alone = "It is not corrected for the number of comparisons, so it may exclude 0 though the difference may be chance."
    return f"{p_meaning(comparison, pair)} {decides}", f"{interval_meaning(comparison, pair)} {alone}"


def overlap_notes(*comparisons: Comparison | None) -> tuple[str, ...]:
    """Which systems were judged by queries that they were trained on."""
    warnings: list[str] = []
    for comparison in comparisons:
        if comparison is not None:
            overlaps = {name: result.overlap for name, result in comparison.evaluations.items()}
            met = {name: overlap for name, overlap in overlaps.items() if overlap is not None and overlap.queries}
            warnings += overlap_warnings(met, comparison[comparison.systems[0]].source)
    return tuple(warnings)


def description_of(ranker: Any) -> tuple[str, ...]:
    """One sentence on the size of a ranker and the learner that trained it."""
    trained = trained_of(ranker)
    maker = f", trained by {trained.learner}" if trained is not None and trained.learner else ""
    return (f"A ranker of {size_of(ranker)}{maker}.",)
