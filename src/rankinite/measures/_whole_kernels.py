"""Measures that need to know how many documents of a query are relevant, on plain arrays.

Notation and signatures are those of ``_kernels``. Ranks, not discounts, decide how far most of these measures look: their
``discounts`` are 1 at every rank, so that a sweep orders all documents.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine._array_kernels import copy_into, sort_falling
from rankinite.engine.kernel import Flags, Floats, kernel
from rankinite.measures._kernels import expected_linear
from rankinite.measures._ranking_kernels import block_end


@kernel
def count_above(values: Floats, bound: float) -> int:
    """How many values are above a bound."""
    count = 0
    for value in values:
        count += value > bound
    return count


@kernel
def expected_first_relevant(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """R-precision times R: the relevant documents among the first R ranks, where R documents are relevant."""
    return expected_linear(relevance, tied, returned, discounts[: count_above(relevance, 0.0)], work)


@kernel
def expected_set_f1(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """F1 of all returned documents: 2·(relevant ones returned) / (returned + relevant)."""
    found = count_above(relevance[:returned], 0.0)
    return 2.0 * found / max(returned + count_above(relevance, 0.0), 1)


@kernel
def scale_f1(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """F1@k over precision@k, 2 / (1 + R/k); NaN where no document is relevant. The discounts are 1/k."""
    relevant = count_above(relevance, 0.0)
    return 2.0 / (1.0 + relevant * discounts[0]) if relevant > 0 else np.nan


@kernel
def expected_bpref(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """The mean over R relevant documents of 1 − min(N above it, R)/min(N, R), where N are judged not relevant.

    Relevance is 1, 0, or −1 where nobody judged a document. Among the s documents of a block that are not relevant, each number
    0 … s of them is equally likely to be above a given relevant one.
    """
    relevant = count_above(relevance, 0.0)
    others = count_above(relevance, -0.5) - relevant
    if relevant == 0:
        return 0.0
    total, above = 0.0, 0
    start = 0
    while start < returned:
        end = block_end(tied, start, returned)
        r = count_above(relevance[start:end], 0.0)
        s = count_above(relevance[start:end], -0.5) - r
        if r > 0:
            passed = 0.0
            for x in range(above, above + s + 1):
                passed += min(x, relevant)
            total += r * (1.0 - passed / ((s + 1.0) * max(min(others, relevant), 1)))
        above += s
        start = end
    return total / relevant


@kernel
def expected_pairs_in_order(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """AUC times its pairs: how often a relevant document is above one that is judged not relevant; a tie counts one half.

    Relevance is 1, 0, or −1 where nobody judged a document. The documents that are not returned tie below all others.
    """
    n = len(relevance)
    below = count_above(relevance, -0.5) - count_above(relevance, 0.0)
    total = 0.0
    start = 0
    while start < n:
        end = block_end(tied, start, returned) if start < returned else n
        r = count_above(relevance[start:end], 0.0)
        s = count_above(relevance[start:end], -0.5) - r
        below -= s
        total += r * (below + 0.5 * s)
        start = end
    return total


@kernel
def scale_by_pairs(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """1 / (the pairs of a relevant document and one judged not relevant), NaN where there is none."""
    relevant = count_above(relevance, 0.0)
    pairs = relevant * (count_above(relevance, -0.5) - relevant)
    return 1.0 / pairs if pairs > 0 else np.nan


@kernel
def expected_blended_ratios(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """Q-measure: Σ over relevant documents of (relevant ones + their gains, up to its rank) / (rank + the ideal's gains).

    Relevance is the gain, positive where a document is relevant; discounts are 1 up to the cutoff, then 0. In a block of m with
    r relevant and gains g in all, a place holds a relevant document with probability r/m; at the t-th place it then has
    1 + (t−1)(r−1)/(m−1) relevant ones of the block up to itself, and their gains are its own plus (t−1)/(m−1) of the others'.
    """
    n = len(relevance)
    copy_into(relevance, work)
    sort_falling(work[:n])
    total, counted, gained, ideal = 0.0, 0.0, 0.0, 0.0
    start = 0
    while start < returned:
        end = block_end(tied, start, returned)
        m, r, g = end - start, 0.0, 0.0
        for i in range(start, end):
            r += relevance[i] > 0.0
            g += relevance[i]
        for i in range(start, end):
            ideal += work[i]
            if r > 0.0 and discounts[i] > 0.0:
                share = (i - start) * (r - 1.0) / (m - 1.0) if m > 1 else 0.0
                counts, gains = r * (counted + 1.0 + share), r * gained + g * (1.0 + share)
                total += (counts + gains) / (m * (i + 1.0 + ideal))
        counted += r
        gained += g
        start = end
    return total


@kernel
def scale_by_relevant_above(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """1 / (the relevant documents that fit above the cutoff), NaN where there is none; discounts are 1 above it, then 0."""
    reachable = min(count_above(relevance, 0.0), count_above(discounts, 0.0))
    return 1.0 / reachable if reachable > 0 else np.nan
