"""Sentences of a report: its verdict, the explanation of its numbers, and warnings that belong to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.adapt.concentration import concentration
from rankinite.adapt.result import size_of
from rankinite.evaluation.compare import Comparison
from rankinite.evaluation.meaning import interval_meaning, p_meaning
from rankinite.evaluation.significance import paired_differences
from rankinite.evaluation.training_overlap import overlap_warnings
from rankinite.grid import decimals_for, number
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import trained_of
from rankinite.plurals import agreeing, counted

FLATTERED = "The validation data have chosen what was kept, so they flatter it: give test data for an honest figure."
"""What to know of a ranker that is judged by its validation data."""


def verdict_of(comparison: Comparison, old: str, new: str, measure: Measure) -> tuple[str, ...]:
    """Which is better; by how much; how sure that is; how many queries say so, and which of them carry the gain."""
    pair, source = comparison.pair(new, old, measure), comparison[new].source
    p = pair.p(comparison.test)
    if pair.better is None:
        return f"{new} is as good as {old}.", f"Both have the same {measure} on {source}."
    low, high = pair.interval
    decimals = decimals_for((high - low) / 2)
    side, way = "better" if pair.better == new else "worse", "higher" if pair.difference > 0.0 else "lower"
    asked = f"p {p.holm_text}; at most {comparison.alpha:g} is asked for"
    clear = p.holm <= comparison.alpha
    counts = f"{pair.wins} {agreeing(pair.wins, 'is')} better, {pair.losses} worse and {pair.ties} the same"
    return (
        f"{new} is {'' if clear else 'not surely '}{side} than {old}.",
        f"Its {measure} is {number(abs(pair.difference), decimals)} {way} on {source}.",
        f"That is hardly chance ({asked})." if clear else f"That may be chance ({asked}).",
        f"Of {counted(pair.wins + pair.ties + pair.losses, 'query')} {counts}.",
        *_carried(comparison, old, new, measure, decimals),
    )


def _carried(comparison: Comparison, old: str, new: str, measure: Measure, decimals: int) -> tuple[str, ...]:
    """Which one or two queries carry most of a gain, if any do."""
    counted = ~np.isnan(comparison[new][measure].per_query)
    gains = sign_of(measure) * paired_differences(*(comparison[name][measure].per_query[counted] for name in (new, old)))
    found = concentration(dict(zip(comparison[new].qids[counted].tolist(), gains.tolist(), strict=True)))
    return () if found is None else found.sentences(decimals)


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
