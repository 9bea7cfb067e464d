"""Ranking documents and measuring rankings, on plain arrays.

Notation, for one query of n documents in rank order (rank 0 is the top):

    relevance   (n,) what a document is worth to the measure: a gain, a probability, or 0/1
    tied        (n,) true where a document has the score of the one ranked just above it
    returned    how many documents have a rank; the others (score −inf) only count in the ideal
    discounts   (depth,) the weight of each rank; ranks from ``depth`` on count nothing

A block of m tied documents behind ``a`` others takes the ranks a … a+m−1 in any order with equal probability;
the ``expected_*`` kernels give the exact mean over those orders.
"""

from __future__ import annotations

import numpy as np

from rankinite.kernel import Flags, Floats, Grades, Indices, kernel

TIES_EXPECTED, TIES_LOWEST, TIES_HIGHEST, TIES_ORDER = 0, 1, 2, 3
_RUN = 24  # insertion sort beats merging below about this length
_COUNT = 256  # counting beats sorting up to about this length


@kernel
def sort_descending(keys: Floats, order: Indices, spare_keys: Floats, spare_order: Indices) -> None:
    """Sort ``keys`` from high to low, stably, carrying ``order`` along; all arrays have shape (n,)."""
    n = len(keys)
    for start in range(0, n, _RUN):
        for i in range(start + 1, min(start + _RUN, n)):
            key, mark = keys[i], order[i]
            j = i
            while j > start and keys[j - 1] < key:
                keys[j], order[j] = keys[j - 1], order[j - 1]
                j -= 1
            keys[j], order[j] = key, mark
    width = _RUN
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            left, right = low, middle
            for place in range(low, high):
                if left < middle and (right >= high or keys[left] >= keys[right]):
                    spare_keys[place], spare_order[place] = keys[left], order[left]
                    left += 1
                else:
                    spare_keys[place], spare_order[place] = keys[right], order[right]
                    right += 1
        keys[:], order[:] = spare_keys, spare_order
        width *= 2


@kernel
def longest_query(offsets: Indices, first: int, last: int) -> int:
    """The number of rows of the longest of the queries first … last−1."""
    longest = 0
    for query in range(first, last):
        longest = max(longest, offsets[query + 1] - offsets[query])
    return longest


@kernel
def block_end(tied: Flags, start: int, returned: int) -> int:
    """The end of the block of tied documents that begins at ``start``."""
    end = start + 1
    while end < returned and tied[end]:
        end += 1
    return end


@kernel
def order_by_counting(keys: Floats, above: Indices, taken: Indices, out_order: Indices) -> None:
    """Sort n indices by falling key, stably: a document's rank is the number of keys above its own.

    Quadratic, but the inner loop runs in SIMD: several times faster than sorting up to a few hundred documents.
    ``keys`` has shape (m,), n ≤ m, m a multiple of four, filled up with −inf; ``above`` and ``taken`` are workspace.
    """
    n = len(out_order)
    above[:] = 0
    taken[:] = 0
    for j in range(0, len(keys), 4):
        a, b, c, d = keys[j], keys[j + 1], keys[j + 2], keys[j + 3]
        for i in range(n):
            key = keys[i]
            above[i] += (a > key) + (b > key) + (c > key) + (d > key)
    for i in range(n):
        place = above[i]
        out_order[place + taken[place]] = i
        taken[place] += 1


@kernel
def rank_queries(
    scores: Floats,
    grades: Grades,
    offsets: Indices,
    first: int,
    last: int,
    ties: int,
    out_scores: Floats,
    out_grades: Grades,
    out_tied: Flags,
    out_returned: Indices,
) -> None:
    """Put the documents of the queries first … last−1 in rank order.

    Tied documents are put in the order of their grades (from low to high for the lowest value), so that not even
    rounding depends on the order of the rows; ``TIES_ORDER`` leaves them as they came. Only ``TIES_EXPECTED``
    marks them as tied.
    """
    longest = longest_query(offsets, first, last)
    keys, spare_keys = np.empty(longest + 3, np.float64), np.empty(longest, np.float64)
    order, spare, taken = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    for query in range(first, last):
        start, end = offsets[query], offsets[query + 1]
        n = end - start
        if n <= _COUNT:
            filled = (n + 3) // 4 * 4
            keys[:n] = scores[start:end]
            keys[n:filled] = -np.inf
            order_by_counting(keys[:filled], spare[:n], taken[:n], order[:n])
        else:
            for i in range(n):
                keys[i], order[i] = scores[start + i], i
            sort_descending(keys[:n], order[:n], spare_keys[:n], spare[:n])
        returned = 0
        tie_seen = False
        for i in range(n):
            score = scores[start + order[i]]
            out_scores[start + i] = score
            out_grades[start + i] = grades[start + order[i]]
            tied = i > 0 and score == out_scores[start + i - 1]
            out_tied[start + i] = tied
            tie_seen |= tied
            returned += score > -np.inf
        out_returned[query] = returned
        if tie_seen:
            settle_ties(out_tied[start:end], ties, out_grades[start:end], keys, order, spare_keys, spare)


@kernel
def settle_ties(
    tied: Flags, ties: int, grades: Grades, keys: Floats, order: Indices, spare_keys: Floats, spare_order: Indices
) -> None:
    """Order the grades of one query's tied documents as the rule says; all but ``TIES_EXPECTED`` then unmark them."""
    sign = -1.0 if ties == TIES_LOWEST else 1.0
    n = len(grades)
    low = 0
    while low < n and ties != TIES_ORDER:
        high = block_end(tied, low, n)
        m = high - low
        if m > 1:
            for i in range(m):
                keys[i] = sign * grades[low + i]
            sort_descending(keys[:m], order[:m], spare_keys[:m], spare_order[:m])
            for i in range(m):
                grades[low + i] = sign * keys[i]
        low = high
    if ties != TIES_EXPECTED:
        tied[:] = False


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

    In a block of m with r relevant, the first of them stands at place t with probability
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
def expected_each(
    expected,  # noqa: ANN001 - one of the expected_* kernels, or a user's own with the same arguments
    relevance: Floats,
    tied: Flags,
    returned: Indices,
    offsets: Indices,
    first: int,
    last: int,
    discounts: Floats,
    scales: Floats,
    out_values: Floats,
) -> None:
    """The expected measure of the queries first … last−1, each times its scale."""
    work = np.empty(longest_query(offsets, first, last) + 1, np.float64)
    for query in range(first, last):
        a, b = offsets[query], offsets[query + 1]
        out_values[query] = scales[query] * expected(relevance[a:b], tied[a:b], returned[query], discounts, work)


@kernel
def ideal_scales(
    relevance: Floats, offsets: Indices, first: int, last: int, discounts: Floats, levels: Floats, out_scales: Floats
) -> None:
    """1 / (the highest Σ relevance × discount a ranking can reach), NaN where that is not positive.

    ``levels`` lists, from high to low, the values relevance is likely to take; where it takes others they are sorted.
    """
    longest = longest_query(offsets, first, last)
    best, spare = np.empty(longest, np.float64), np.empty(longest, np.float64)
    order, spare_order = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for query in range(first, last):
        a, b = offsets[query], offsets[query + 1]
        n = b - a
        depth = min(len(discounts), n)
        if not fill_from_levels(relevance[a:b], levels, best[:depth]):
            best[:n] = relevance[a:b]
            sort_descending(best[:n], order[:n], spare[:n], spare_order[:n])
        ideal = 0.0
        for i in range(depth):
            ideal += best[i] * discounts[i]
        out_scales[query] = 1.0 / ideal if ideal > 0.0 else np.nan


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
def look_up(grades: Grades, table: Floats, first: int, last: int, out_values: Floats) -> int:
    """``table[grade]`` for the rows first … last−1; returns the first row whose grade is no index of the table, or −1."""
    size = len(table)
    for row in range(first, last):
        grade = grades[row]
        if not 0.0 <= grade < size:
            return row
        code = int(grade)
        if code != grade:
            return row
        out_values[row] = table[code]
    return -1


@kernel
def one_grade(grades: Grades, offsets: Indices, first: int, last: int, out_one: Flags) -> None:
    """Which of the queries first … last−1 have documents of one grade only."""
    for query in range(first, last):
        lowest = highest = grades[offsets[query]]
        for row in range(offsets[query] + 1, offsets[query + 1]):
            lowest, highest = min(lowest, grades[row]), max(highest, grades[row])
        out_one[query] = lowest == highest


@kernel
def total_scales(relevance: Floats, offsets: Indices, first: int, last: int, most: int, out_scales: Floats) -> None:
    """1 / (a query's total relevance, at most ``most``), NaN where there is none."""
    for query in range(first, last):
        total = 0.0
        for row in range(offsets[query], offsets[query + 1]):
            total += relevance[row]
        out_scales[query] = 1.0 / min(total, most) if total > 0.0 else np.nan


@kernel
def pairwise_errors(grades: Floats, tied: Flags, offsets: Indices, first: int, last: int, out_errors: Floats) -> None:
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
