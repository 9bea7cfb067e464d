"""Explanations of the interval and the p-value of a pair, in sentences."""

from __future__ import annotations

from rankinite.evaluation.compare import Comparison
from rankinite.evaluation.evaluate import percent
from rankinite.evaluation.pairs import PairTest, floor_note
from rankinite.grid import number

MEANING = "What the other numbers mean"
"""The heading under which this is folded away."""


def interval_meaning(comparison: Comparison, pair: PairTest) -> str:
    """What the interval of the difference is."""
    low, high = (number(end, signed=True) for end in pair.interval)
    asked = percent(comparison[pair.first].confidence)
    return f"The {asked} interval of the difference, {low} to {high}, is two-sided, and of this one comparison."


def p_meaning(comparison: Comparison, pair: PairTest) -> str:
    """What the p-value is, and how it was corrected."""
    p = pair.p(comparison.test)
    pairs = sum(other.measure == pair.measure for other in comparison.pairs)
    corrected = f", and raised for all {pairs} pairs that were tested (Holm's correction)" if pairs > 1 else ""
    by = f"({comparison.test} test, paired by query)"
    return (
        f"The p-value, {p.holm_text}, is how often chance alone would make a difference at least as large {by}. "
        f"It is two-sided{corrected}{floor_note([p])}."
    )
