"""The lines of a query's documents, on plain arrays.

A document's combined score is a line over the weight α: s + αt, or (1−α)s + αt where ``convex`` is 1.0 rather than 0.0. A
*line* here is what documents of equal s and t share: they tie at every α. Lines stand at *places*: the ones that are kept
sorted first, from the top, then the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankinite.engine.kernel import Flags, Floats, Indices, kernel
from rankinite.measures._ranking_kernels import block_end, sort_descending


class Lines(NamedTuple):
    """The lines of one query by place, all of shape (lines,)."""

    first: Floats
    """s, the score by the first ranker."""
    second: Floats
    """t, the score by the second."""
    worth: Floats
    """What each of the line's documents is worth to the measure; NaN where they differ."""
    begin: Indices
    """The number of its first document, counted in the order of :func:`sort_documents`."""
    size: Indices
    """How many documents it has."""
    rank: Indices
    """The rank of its first document, while it is sorted."""


class Sorting(NamedTuple):
    """Workspace to sort a query's documents, all of shape (documents,)."""

    keys: Floats
    order: Indices
    spare_keys: Floats
    spare_order: Indices
    same: Flags
    """Whether a document equals the one just above it in all keys so far."""


CLOSEST = 1e-12
"""Crossings closer than this, relative to α where that is above 1, are one: rounding could not tell them apart."""


@kernel
def room_at(alpha: float) -> float:
    """How close two crossings near α must be to count as one."""
    return CLOSEST * max(1.0, abs(alpha))


@kernel
def combined(first: float, second: float, alpha: float, convex: float) -> float:
    """The combined score: what the evaluator is given for this α."""
    return (1.0 - convex * alpha) * first + alpha * second


@kernel
def crossing(lines: Lines, above: int, below: int, convex: float) -> float:
    """The α from which on the line at place ``below`` is above the other; inf where it never gets there.

    Made of differences of like scores, it is good to a few units in the last place however large the scores are.
    """
    ahead = lines.first[above] - lines.first[below]
    closing = lines.second[below] - lines.second[above] + convex * ahead
    return ahead / closing if closing > 0.0 else np.inf


@kernel
def sort_documents(first: Floats, second: Floats, alpha: float, convex: float, sorting: Sorting) -> None:
    """Order n documents as they stand just right of α, from the top: by combined score, then by slope; fills order and same.

    Equal lines keep the order in which they came. Lines that only rounding makes equal at α are told apart by s and t.
    """
    n = len(first)
    keys, order, same = sorting.keys[:n], sorting.order[:n], sorting.same[:n]
    for i in range(n):
        keys[i], order[i] = combined(first[i], second[i], alpha, convex), i
    sort_descending(keys, order, sorting.spare_keys[:n], sorting.spare_order[:n])
    ties = 0
    same[0] = False
    for i in range(1, n):
        same[i] = keys[i] == keys[i - 1]
        ties += same[i]
    for level in range(3):
        if ties == 0:
            break
        ties = 0
        start = 0
        while start < n:
            end = block_end(same, start, n)
            if end > start + 1:
                for i in range(start, end):
                    s, t = first[order[i]], second[order[i]]
                    keys[i] = t - convex * s if level == 0 else (s if level == 1 else t)
                sort_descending(
                    keys[start:end], order[start:end], sorting.spare_keys[start:end], sorting.spare_order[start:end]
                )
                for i in range(start + 1, end):
                    same[i] = keys[i] == keys[i - 1]
                    ties += same[i]
            start = end


@kernel
def draw_lines(first: Floats, second: Floats, relevance: Floats, sorting: Sorting, lines: Lines, out_worth: Floats) -> int:
    """Make lines of n sorted documents; returns their number. ``out_worth`` (n,) is the documents' relevance in that order."""
    count = 0
    for i in range(len(first)):
        document = sorting.order[i]
        worth = relevance[document]
        out_worth[i] = worth
        if sorting.same[i]:
            lines.size[count - 1] += 1
            if worth != lines.worth[count - 1]:
                lines.worth[count - 1] = np.nan
        else:
            lines.first[count], lines.second[count] = first[document], second[document]
            lines.worth[count], lines.begin[count], lines.size[count] = worth, i, 1
            count += 1
    return count


@kernel
def exchange(lines: Lines, one: int, other: int) -> None:
    """Let two lines change places."""
    first, second, worth = lines.first[one], lines.second[one], lines.worth[one]
    begin, size = lines.begin[one], lines.size[one]
    lines.first[one], lines.second[one], lines.worth[one] = lines.first[other], lines.second[other], lines.worth[other]
    lines.begin[one], lines.size[one] = lines.begin[other], lines.size[other]
    lines.first[other], lines.second[other], lines.worth[other] = first, second, worth
    lines.begin[other], lines.size[other] = begin, size


@kernel
def next_to_enter(lines: Lines, last: int, count: int, convex: float, times: Floats) -> tuple[int, int]:
    """The place of the line behind ``last`` that crosses it first, −1 where none does; and how many do so at that α.

    ``times`` (lines,) is workspace.
    """
    first, second = lines.first[last + 1 : count], lines.second[last + 1 : count]
    times = times[last + 1 : count]
    own_first, own_second = lines.first[last], lines.second[last]
    for i in range(len(first)):
        ahead = own_first - first[i]
        closing = second[i] - own_second + convex * ahead
        crosses = closing > 0.0
        when = ahead / (closing if crosses else 1.0)  # computed either way, so that it is done in SIMD
        times[i] = when if crosses else np.inf
    best, soonest = -1, np.inf
    for i in range(len(times)):
        if times[i] < soonest:
            best, soonest = i, times[i]
    if best < 0:
        return -1, 0
    together, limit = 0, soonest + room_at(soonest)
    for i in range(len(times)):
        together += times[i] <= limit
    return best + last + 1, together


@kernel
def highest(lines: Lines, start: int, count: int, alpha: float, convex: float) -> int:
    """The place from ``start`` on whose line is on top just right of α."""
    best, top = start, -np.inf
    for place in range(start, count):
        value = combined(lines.first[place], lines.second[place], alpha, convex)
        steeper = crossing(lines, best, place, convex) < np.inf
        if value > top or (value == top and steeper):
            best, top = place, value
    return best
