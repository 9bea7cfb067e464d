"""Sentences of a report: its verdict, the explanation of its numbers, and warnings that belong to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.adapt.choice import concentration, size_of
from rankinite.evaluation.caveats import overlap_warnings
from rankinite.evaluation.compare import Comparison
from rankinite.evaluation.sentences import decimals_of, finding, interval_meaning, p_meaning
from rankinite.evaluation.significance import paired_differences
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import trained_of
from rankinite.plurals import agreeing, counted

FLATTERED = "The validation data have chosen what was kept, so they flatter it: give test data for an honest figure."
"""What to know of a ranker that is judged by its validation data."""


def verdict_of(comparison: Comparison, old: str, new: str, measure: Measure) -> tuple[str, ...]:
    """Which is better; what the queries show, in the words of every report; which queries carry the gain."""
    pair, source = comparison.pair(new, old, measure), comparison[new].source
    queries = counted(pair.wins + pair.ties + pair.losses, "query")
    if pair.better is None:
        lead = f"{new} is as good as {old}."
    elif pair.p(comparison.test).holm > comparison.alpha:
        lead = f"We cannot tell whether {new} is better than {old}."
    else:
        lead = f"{new} is {'better' if pair.better == new else 'worse'} than {old}."
    counts = f"{pair.wins} {agreeing(pair.wins, 'is')} better, {pair.losses} worse and {pair.ties} the same"
    return (
        lead,
        finding(comparison, pair, f"{queries} of {source}"),
        *([] if pair.better is None else [f"Of {queries} {counts}."]),
        *_carried(comparison, old, new, measure, decimals_of(pair)),
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
    alone = "It is not corrected for the number of comparisons, so it may exclude 0 though the difference may be chance."
    return p_meaning(comparison, pair), f"{interval_meaning(comparison, pair)} {alone}"


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
