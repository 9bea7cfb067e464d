"""Sentences on a pair of systems: what the queries show, and what interval and p-value mean."""

from __future__ import annotations

from rankinite.evaluation.compare import Comparison
from rankinite.evaluation.pair_tests import PairTest, floor_note
from rankinite.grid import decimals_for, number, percent
from rankinite.measures.base import sign_of

MEANING = "What the other numbers mean"
"""The heading under which this is folded away."""


def decimals_of(pair: PairTest) -> int:
    """The decimals that the interval of a difference deserves."""
    low, high = pair.interval
    return decimals_for((high - low) / 2)


def finding(comparison: Comparison, pair: PairTest, where: str, *, corrected: bool = True) -> str:
    """What the queries show of ``pair.first`` against ``pair.second``, in the words that all reports share.

    "On the 59 target queries: +0.006 ndcg@10 (-0.021 to +0.032), not distinguishable from zero (p 0.62)." ``corrected``:
    significant is what stays so after the correction for all pairs; else the pair is taken alone.
    """
    p, decimals = pair.p(comparison.test), decimals_of(pair)
    if pair.wins == pair.losses == 0:
        return f"On {where}: no difference in {pair.measure}."
    gap, low, high = (number(value, decimals, signed=True) for value in (pair.difference, *pair.interval))
    value, text = (p.holm, p.holm_text) if corrected else (p.raw, p.raw_text)
    text = text.replace("< ", "below ")
    verdict = f"significantly {'better' if sign_of(pair.measure) * pair.difference > 0.0 else 'worse'}"
    if value > comparison.alpha:
        verdict = "not distinguishable from zero"
    return f"On {where}: {gap} {pair.measure} ({low} to {high}), {verdict} (p {text})."


def interval_meaning(comparison: Comparison, pair: PairTest) -> str:
    """What the interval of the difference is."""
    low, high = (number(end, signed=True) for end in pair.interval)
    asked = percent(comparison[pair.first].confidence)
    found = f"The {asked} interval of the difference, {low} to {high}, is two-sided and is of this one comparison."
    p = pair.p(comparison.test)
    if p.raw <= comparison.alpha or pair.interval[0] <= 0.0 <= pair.interval[1]:
        return found
    return (
        f"{found} It excludes 0 although p is {p.raw_text}, as it takes the mean of these queries to be normally distributed."
    )


def p_meaning(comparison: Comparison, pair: PairTest) -> str:
    """What the p-value is, and how it was corrected."""
    p = pair.p(comparison.test)
    pairs = sum(other.measure == pair.measure for other in comparison.pairs)
    by = f"{comparison.test} test, paired by query, two-sided{floor_note([p])}"
    raw = (
        f"If both ranked equally well, chance would make a difference at least this large with probability {p.raw_text} ({by})."
    )
    if pairs == 1:
        return raw
    return (
        f"{raw} With {pairs} pairs tested, small p-values turn up by chance. Corrected for that by Holm's method it is "
        f"{p.holm_text}: a pair is called significant if this is at most {comparison.alpha:g}, and then the probability of "
        "calling any equal pair different is at most that too."
    )
