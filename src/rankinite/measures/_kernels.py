"""Measuring rankings, on plain arrays.

Notation, for one query of n documents in rank order (rank 0 is the top):

    relevance   (n,) what a document is worth to the measure: a gain, a probability, or 0/1
    tied        (n,) true where a document has the score of the one ranked just above it
    returned    how many documents have a rank; the others (score −inf) only count in the ideal
    discounts   (depth,) the weight of each rank; ranks from ``depth`` on count nothing
    levels      the values that relevance is likely to take, from high to low
    work        workspace of n + 1 numbers

A block of m tied documents behind ``a`` others takes the ranks a … a+m−1 in any order with equal probability;
the ``expected_*`` kernels give the exact mean over those orders.

Some measures depend on how many documents of a query are relevant. That number, not their discounts, decides how far they
look: the discounts are 1 at every rank, so that a sweep orders all documents.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine._array_kernels import copy_into, sort_falling
from rankinite.engine.kernel import (
    ADDRESS,
    FLOAT,
    FLOAT32,
    INT,
    NOTHING,
    TRUTH,
    Flags,
    Floats,
    Indices,
    Reals,
    array_type,
    function_at,
    kernel,
)
from rankinite.measures._ranking_kernels import block_end, longest_query

_FLOATS, _FLAGS_IN, _INDICES_IN = array_type(FLOAT), array_type(TRUTH, inputs=True), array_type(INT, inputs=True)
EXPECTED = FLOAT(_FLOATS, _FLAGS_IN, INT, _FLOATS, _FLOATS)
"""The signature of the ``expected_*`` kernels."""
SCALE = FLOAT(_FLOATS, _FLOATS, _FLOATS, _FLOATS)
"""The signature of the ``scale_*`` kernels."""
expected_at, scale_at = function_at(EXPECTED), function_at(SCALE)


# ---- the worth of a ranking, for one query ---------------------------------------------------------------------------


@kernel
def expected_linear(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """Σ relevance × discount: DCG and its kin. A tied document has the mean relevance of its block."""
    depth = min(len(discounts), returned)
    total = 0.0
    start = 0
    while start < depth:
        end = block_end(tied, start, returned)
        if end == start + 1:
            total += relevance[start] * discounts[start]
        else:
            worth, weight = 0.0, 0.0
            for i in range(start, end):
                worth += relevance[i]
            for i in range(start, min(end, depth)):
                weight += discounts[i]
            total += worth / (end - start) * weight
        start = end
    return total


@kernel
def expected_average_precision(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """Σ over relevant documents of (relevant ones up to its rank) × discount, with discount 1/(rank + 1).

    The t-th of m tied documents, r of them relevant, is relevant with probability r/m, and then has
    1 + (t−1)(r−1)/(m−1) relevant ones of the block up to itself on average.
    """
    depth = min(len(discounts), returned)
    total, above = 0.0, 0.0
    start = 0
    while start < depth:
        end = block_end(tied, start, returned)
        m, r = end - start, 0.0
        for i in range(start, end):
            r += relevance[i]
        if r > 0.0:
            growth = (r - 1.0) / (m - 1.0) if m > 1 else 0.0
            for i in range(start, min(end, depth)):
                total += r / m * (above + 1.0 + (i - start) * growth) * discounts[i]
        above += r
        start = end
    return total


@kernel
def expected_reciprocal_rank(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """The discount at the rank of the first relevant document.

    In a block of m with r relevant, the first of them is at place t with probability
    (m−r)/m · (m−r−1)/(m−1) ⋯ (t−1 factors) · r/(m−t+1).
    """
    depth = min(len(discounts), returned)
    start = 0
    while start < depth:
        end = block_end(tied, start, returned)
        m, r = end - start, 0.0
        for i in range(start, end):
            r += relevance[i]
        if r > 0.0:
            total, none_yet = 0.0, 1.0
            for i in range(start, min(end, depth)):
                left = m - (i - start)
                total += none_yet * r / left * discounts[i]
                none_yet *= max(left - r, 0.0) / left
            return total
        start = end
    return 0.0


@kernel
def expected_cascade(relevance: Floats, tied: Flags, returned: int, discounts: Floats, work: Floats) -> float:
    """ERR: the user stops at a document with probability R = relevance and passes it with T = 1 − R.

    ``work[t]`` becomes E_t, the mean product of T over t of the block's documents; a user who reaches the block
    stops at its t-th place with probability E_{t−1} − E_t. Costs O(m²) for a block of m.
    """
    depth = min(len(discounts), returned)
    total, reached = 0.0, 1.0
    start = 0
    while start < depth:
        end = block_end(tied, start, returned)
        if end == start + 1:
            total += reached * relevance[start] * discounts[start]
            reached *= 1.0 - relevance[start]
        else:
            places = min(end, depth) - start
            work[0] = 1.0
            for i in range(start, end):
                j = i - start + 1
                passed = 1.0 - relevance[i]
                if j <= places:
                    work[j] = passed * work[j - 1]
                for t in range(min(j - 1, places), 0, -1):
                    work[t] = ((j - t) * work[t] + t * passed * work[t - 1]) / j
            for t in range(1, places + 1):
                total += reached * (work[t - 1] - work[t]) * discounts[start + t - 1]
            reached *= work[places]
        start = end
    return total


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


# ---- the scale of a query --------------------------------------------------------------------------------------------


@kernel
def scale_one(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """Every query counts as it is."""
    return 1.0


@kernel
def scale_by_ideal(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """1 / (the highest Σ relevance × discount a ranking can reach), NaN where that is not positive.

    ``levels`` lists, from high to low, the values relevance is likely to take; where it takes others they are sorted.
    """
    n = len(relevance)
    depth = min(len(discounts), n)
    best = work[:depth]
    if not fill_from_levels(relevance, levels, best):
        copy_into(relevance, work)
        sort_falling(work[:n])
    ideal = 0.0
    for i in range(depth):
        ideal += best[i] * discounts[i]
    return 1.0 / ideal if ideal > 0.0 else np.nan


@kernel
def fill_from_levels(values: Floats, levels: Floats, out_highest: Floats) -> bool:
    """The k highest of n values by counting how often each level occurs; False when other values occur among them."""
    filled = 0
    for level in levels:
        if filled >= len(out_highest):
            return True
        equal, at_least = 0, 0
        for value in values:
            equal += value == level
            at_least += value >= level
        if at_least != filled + equal:
            return False
        out_highest[filled : filled + equal] = level
        filled += equal
    return filled >= len(out_highest)


@kernel
def scale_by_relevant(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """1 / (the number of relevant documents), NaN where there is none."""
    total = relevance.sum()
    return 1.0 / total if total > 0.0 else np.nan


@kernel
def scale_by_reachable(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """1 / (the relevant documents that fit above the cutoff), NaN where there is none."""
    total = relevance.sum()
    return 1.0 / min(total, len(discounts)) if total > 0.0 else np.nan


@kernel
def scale_by_relevant_above(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """1 / (the relevant documents that fit above the cutoff), NaN where there is none; discounts are 1 above it, then 0."""
    reachable = min(count_above(relevance, 0.0), count_above(discounts, 0.0))
    return 1.0 / reachable if reachable > 0 else np.nan


@kernel
def scale_if_relevant(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """1 where a document is relevant, else NaN."""
    return 1.0 if relevance.max() > 0.0 else np.nan


@kernel
def scale_f1(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """F1@k over precision@k, 2 / (1 + R/k); NaN where no document is relevant. The discounts are 1/k."""
    relevant = count_above(relevance, 0.0)
    return 2.0 / (1.0 + relevant * discounts[0]) if relevant > 0 else np.nan


@kernel
def scale_by_pairs(relevance: Floats, discounts: Floats, levels: Floats, work: Floats) -> float:
    """1 / (the pairs of a relevant document and one judged not relevant), NaN where there is none."""
    relevant = count_above(relevance, 0.0)
    pairs = relevant * (count_above(relevance, -0.5) - relevant)
    return 1.0 / pairs if pairs > 0 else np.nan


# ---- many queries ----------------------------------------------------------------------------------------------------


@kernel
def measure_each(
    expected_address: int,
    scale_address: int,
    grades: Reals,
    table: Floats,
    tied: Flags,
    returned: Indices,
    offsets: Indices,
    first: int,
    last: int,
    discounts: Floats,
    levels: Floats,
    out_values: Floats,
) -> bool:
    """The expected measure of the queries first … last−1; False when a grade is no index of the table.

    A document's relevance is ``table[grade]``; with an empty table, ``grades`` are the relevance already. One query is
    looked up, scaled and measured while it is in the cache.
    """
    expected, scale = expected_at(expected_address), scale_at(scale_address)
    longest = longest_query(offsets, first, last)
    relevance, work = np.empty(longest, np.float64), np.empty(longest + 1, np.float64)
    for query in range(first, last):
        start, end = offsets[query], offsets[query + 1]
        worth = relevance[: end - start]
        if len(table) == 0:
            copy_into(grades[start:end], worth)
        elif not look_up(grades[start:end], table, worth):
            return False
        value = expected(worth, tied[start:end], returned[query], discounts, work)
        out_values[query] = scale(worth, discounts, levels, work) * value
    return True


MEASURE_GRADES, MEASURE_RELEVANCE = (
    TRUTH(
        *(ADDRESS, ADDRESS, array_type(grade, inputs=True)),
        *(_FLOATS, _FLAGS_IN, _INDICES_IN, _INDICES_IN, INT, INT, _FLOATS, _FLOATS, _FLOATS),
    )
    for grade in (FLOAT32, FLOAT)
)
"""Signatures of measure_each: for grades, and for relevance in their place."""


@kernel
def look_up(grades: Reals, table: Floats, out_values: Floats) -> bool:
    """``table[grade]`` for every grade; False when one is no index of the table."""
    for i in range(len(grades)):
        grade = grades[i]
        if not 0.0 <= grade < len(table):
            return False
        code = int(grade)
        if code != grade:
            return False
        out_values[i] = table[code]
    return True


@kernel
def scale_each(
    scale_address: int,
    relevance: Floats,
    offsets: Indices,
    first: int,
    last: int,
    discounts: Floats,
    levels: Floats,
    out_scales: Floats,
) -> None:
    """The scale of the queries first … last−1."""
    scale = scale_at(scale_address)
    longest = longest_query(offsets, first, last)
    worth, work = np.empty(longest, np.float64), np.empty(longest + 1, np.float64)
    for query in range(first, last):
        start, end = offsets[query], offsets[query + 1]
        copy_into(relevance[start:end], worth)
        out_scales[query] = scale(worth[: end - start], discounts, levels, work)


SCALE_EACH = NOTHING(ADDRESS, array_type(FLOAT, inputs=True), _INDICES_IN, INT, INT, _FLOATS, _FLOATS, _FLOATS)


@kernel
def pairwise_errors(grades: Reals, tied: Flags, offsets: Indices, first: int, last: int, out_errors: Floats) -> None:
    """Pairs of documents ranked against their grades; a tied pair of different grades counts one half."""
    for query in range(first, last):
        start, end = offsets[query], offsets[query + 1]
        errors = 0.0
        for i in range(start, end):
            same_score = True
            for j in range(i + 1, end):
                same_score = same_score and tied[j]
                if same_score:
                    errors += 0.5 if grades[i] != grades[j] else 0.0
                elif grades[i] < grades[j]:
                    errors += 1.0
        out_errors[query] = errors
