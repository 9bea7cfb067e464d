"""Putting documents in rank order, on plain arrays; rank 0 is the top."""

from __future__ import annotations

import numpy as np

from rankinite.engine._array_kernels import copy_into
from rankinite.engine.kernel import Flags, Floats, Grades, Indices, kernel

TIES_EXPECTED, TIES_LOWEST, TIES_HIGHEST, TIES_ORDER = 0, 1, 2, 3
_RUN = 24  # insertion sort beats merging below about this length
COUNT = 256
"""Counting ranks beats sorting up to about this length."""


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
        copy_into(spare_keys[:n], keys)
        copy_into(spare_order[:n], order)
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
def count_ranks(keys: Floats, n: int, out_ranks: Indices, out_sizes: Indices) -> None:
    """The ranks of n documents by falling key, ties in the order in which they come.

    A document's rank is the number of keys above its own, and that is counted: quadratic, but in SIMD, and several times
    faster than sorting up to ``COUNT`` documents. All arrays have one length, a multiple of four: keys are filled up with −inf,
    so that no odd ones are left to count one by one. ``out_sizes`` has the size of each block of equal keys at its first rank,
    and 0 at the others.
    """
    out_ranks[:] = 0
    out_sizes[:] = 0
    for j in range(0, len(keys), 4):
        a, b, c, d = keys[j], keys[j + 1], keys[j + 2], keys[j + 3]
        for i in range(len(keys)):
            key = keys[i]
            out_ranks[i] += int(a > key) + int(b > key) + int(c > key) + int(d > key)
    for i in range(n):
        first = out_ranks[i]
        out_ranks[i] = first + out_sizes[first]
        out_sizes[first] += 1


@kernel
def rank_by_counting(keys: Floats, grades: Grades, ranks: Indices, sizes: Indices, out_grades: Grades, out_tied: Flags) -> bool:
    """Put one query's n grades in rank order; returns whether any scores tie.

    ``keys`` are the scores, filled up as for :func:`count_ranks`; ``ranks`` and ``sizes`` are workspace of the same shape.
    """
    n = len(grades)
    count_ranks(keys, n, ranks, sizes)
    ties = 0
    for i in range(n):
        out_grades[ranks[i]] = grades[i]
        out_tied[i] = sizes[i] == 0
        ties += sizes[i] == 0
    return bool(ties > 0)


@kernel
def rank_by_sorting(
    keys: Floats, grades: Grades, order: Indices, spare_keys: Floats, spare: Indices, out_grades: Grades, out_tied: Flags
) -> bool:
    """The same by sorting, for long queries; ``keys`` are the scores, and the others workspace, all of shape (n,)."""
    n = len(grades)
    for i in range(n):
        order[i] = i
    sort_descending(keys, order, spare_keys, spare)
    tie_seen = False
    for i in range(n):
        out_grades[i] = grades[order[i]]
        tied = i > 0 and keys[i] == keys[i - 1]
        out_tied[i] = tied
        tie_seen = tie_seen or tied
    return tie_seen


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
def rank_queries(
    scores: Floats,
    grades: Grades,
    offsets: Indices,
    first: int,
    last: int,
    ties: int,
    out_grades: Grades,
    out_tied: Flags,
    out_returned: Indices,
    out_one_grade: Flags,
) -> None:
    """Put the documents of the queries first … last−1 in rank order.

    Tied documents are put in the order of their grades (from low to high for the lowest value), so that not even
    rounding depends on the order of the rows; ``TIES_ORDER`` leaves them as they came. Only ``TIES_EXPECTED``
    marks them as tied.
    """
    longest = longest_query(offsets, first, last)
    keys, spare_keys = np.empty(longest + 7, np.float64), np.empty(longest, np.float64)
    order, spare = np.empty(longest + 7, np.int64), np.empty(longest + 7, np.int64)
    for query in range(first, last):
        start, end = offsets[query], offsets[query + 1]
        n = end - start
        copy_into(scores[start:end], keys)
        returned, alike = 0, 0
        for i in range(n):
            returned += keys[i] > -np.inf
            alike += grades[start + i] == grades[start]
        out_returned[query], out_one_grade[query] = returned, alike == n
        query_grades, ranked, tied = grades[start:end], out_grades[start:end], out_tied[start:end]
        if n <= COUNT:
            filled = (n + 7) // 8 * 8
            keys[n:filled] = -np.inf
            tie_seen = rank_by_counting(keys[:filled], query_grades, order[:filled], spare[:filled], ranked, tied)
        else:
            tie_seen = rank_by_sorting(keys[:n], query_grades, order[:n], spare_keys[:n], spare[:n], ranked, tied)
        if tie_seen:
            settle_ties(tied, ties, ranked, keys, order, spare_keys, spare)
