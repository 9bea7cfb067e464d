"""Following the lines of a query's documents from left to right, on plain arrays.

A document's combined score is a line over the weight α: s + αt, or (1−α)s + αt where ``convex`` is 1.0 rather than 0.0. A
*line* here is what documents of equal s and t share: they tie at every α. Lines stand at *places*: the ones that are kept
sorted first, from the top, then the others.

Only as many lines are kept sorted as fill the ranks a measure looks at; the others wait behind. The order changes where two
neighbours cross, or where a waiting line crosses the last sorted one. Each pair of lines changes places at most once: only
when the lower one is steeper. So a crossing that rounding puts before the current α is taken to be at it, and the sweep ends
whatever the rounding; several lines through one point are several exchanges at one α.

First come lines and how they are sorted, then the agenda of crossings, then ``follow``, which is the sweep of one query.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankinite.engine.kernel import ADDRESS, FLOAT, INT, Flags, Floats, Indices, array_type, kernel
from rankinite.measures._kernels import expected_at
from rankinite.measures._ranking_kernels import block_end, longest_query, sort_descending

CLOSEST = 1e-12
"""Crossings closer than this, relative to α where that is above 1, are one: rounding could not tell them apart."""
BLOCK = 16
"""The soonest of this many crossings is kept, so that finding the soonest of all does not mean looking at each."""


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


class Agenda(NamedTuple):
    """When the order will change next."""

    times: Floats
    """(places, in whole blocks): where the line at a place is crossed by the next one; at the last sorted place, by one of
    those waiting. inf: never, or not sorted."""
    soonest: Floats
    """(blocks,): the smallest of each block."""


class Ranked(NamedTuple):
    """The documents of the sorted lines in rank order, as measures want them; shape (documents,)."""

    relevance: Floats
    tied: Flags
    work: Floats
    """(documents + 1,): workspace of the measure."""


@kernel
def renew(agenda: Agenda, place: int) -> None:
    """Find the soonest time of a place's block again."""
    block = place // BLOCK
    times = agenda.times[block * BLOCK : (block + 1) * BLOCK]
    a, b, c, d = times[0], times[1], times[2], times[3]
    for i in range(4, BLOCK, 4):
        if times[i] < a:
            a = times[i]
        if times[i + 1] < b:
            b = times[i + 1]
        if times[i + 2] < c:
            c = times[i + 2]
        if times[i + 3] < d:
            d = times[i + 3]
    agenda.soonest[block] = min(a, b, c, d)


@kernel
def next_change(agenda: Agenda, sorted_lines: int) -> int:
    """The place with the soonest time; of several the first."""
    best = 0
    for block in range(1, (sorted_lines + BLOCK - 1) // BLOCK):
        if agenda.soonest[block] < agenda.soonest[best]:
            best = block
    place = best * BLOCK
    while agenda.times[place] != agenda.soonest[best]:
        place += 1
    return place


@kernel
def lay_out(lines: Lines, place: int, rank: int, worth: Floats, ranked: Ranked) -> int:
    """Write a line's documents from a rank on; returns the rank behind them."""
    lines.rank[place] = rank
    begin, size = lines.begin[place], lines.size[place]
    for i in range(size):
        ranked.relevance[rank + i], ranked.tied[rank + i] = worth[begin + i], i > 0
    return rank + size


@kernel
def fill_up(
    lines: Lines, sorted_lines: int, count: int, depth: int, alpha: float, convex: float, worth: Floats, ranked: Ranked
) -> int:
    """Sort as many lines as fill the ranks up to ``depth``, no more and no fewer; returns how many."""
    while sorted_lines > 1 and lines.rank[sorted_lines - 1] >= depth:
        sorted_lines -= 1
    covered = lines.rank[sorted_lines - 1] + lines.size[sorted_lines - 1]
    while covered < depth and sorted_lines < count:
        exchange(lines, sorted_lines, highest(lines, sorted_lines, count, alpha, convex))
        covered = lay_out(lines, sorted_lines, covered, worth, ranked)
        sorted_lines += 1
    return sorted_lines


@kernel
def start(lines: Lines, count: int, depth: int, convex: float, worth: Floats, ranked: Ranked, agenda: Agenda) -> int:
    """Sort the first of lines that are in order; returns how many. The last one's time is left open."""
    sorted_lines, covered = 0, 0
    while sorted_lines < count and covered < depth:
        covered = lay_out(lines, sorted_lines, covered, worth, ranked)
        sorted_lines += 1
    agenda.times[: (sorted_lines + BLOCK - 1) // BLOCK * BLOCK] = np.inf
    for place in range(sorted_lines - 1):
        agenda.times[place] = crossing(lines, place, place + 1, convex)
    for place in range(0, sorted_lines, BLOCK):
        renew(agenda, place)
    return sorted_lines


@kernel
def reschedule(lines: Lines, start: int, end: int, sorted_lines: int, convex: float, agenda: Agenda) -> None:
    """Find the times of the places start … end−1 anew, all but the last sorted one's."""
    for place in range(start, end):
        if place < sorted_lines - 1:
            agenda.times[place] = crossing(lines, place, place + 1, convex)
        elif place >= sorted_lines:
            agenda.times[place] = np.inf


@kernel
def follow(
    expected: Callable[..., float],
    scale: float,
    lines: Lines,
    count: int,
    worth: Floats,
    discounts: Floats,
    low: float,
    high: float,
    convex: float,
    agenda: Agenda,
    ranked: Ranked,
    entering: Floats,
    out_alphas: Floats,
    out_values: Floats,
) -> int:
    """Follow one query's lines; returns the number of records written, −1 when there is no room for them.

    The first record is ``low`` and the value just right of it, the others where the value changes and to what. Two documents
    that meet count the mean of both sides. Of more, the value where they meet may be any: where it is the same on both
    sides, a record says so by repeating it.
    """
    depth = min(len(discounts), len(worth))
    sorted_lines = start(lines, count, depth, convex, worth, ranked, agenda)
    entrant, together = next_to_enter(lines, sorted_lines - 1, count, convex, entering)
    agenda.times[sorted_lines - 1] = crossing(lines, sorted_lines - 1, entrant, convex) if entrant >= 0 else np.inf
    renew(agenda, sorted_lines - 1)
    now, changed, used, crowd = low, True, 0, 0
    while True:
        place = next_change(agenda, sorted_lines)
        when = max(now, agenda.times[place])
        if changed and (when > now or when >= high):
            covered = lines.rank[sorted_lines - 1] + lines.size[sorted_lines - 1]
            value = scale * expected(ranked.relevance[:covered], ranked.tied[:covered], covered, discounts, ranked.work)
            changed = False
            if used == 0 or value != out_values[used - 1]:
                if used == len(out_alphas):
                    return -1
                out_alphas[used], out_values[used] = now, value
                used += 1
        if when >= high:
            return used
        if when - now > room_at(when):
            crowd = 0
        now = when
        other = entrant if place == sorted_lines - 1 else place + 1
        if lines.worth[place] != lines.worth[other]:  # as is NaN from NaN
            changed = True
            crowd += max(lines.size[place], lines.size[other])
        if place == sorted_lines - 1 and together > 1:
            crowd += together
        if crowd > 1 and used > 0 and now - out_alphas[used - 1] > room_at(now):
            if used == len(out_alphas):
                return -1
            out_alphas[used], out_values[used] = now, out_values[used - 1]
            used += 1
        exchange(lines, place, other)
        behind = lay_out(lines, place, lines.rank[place], worth, ranked)
        if place < sorted_lines - 1:
            lay_out(lines, place + 1, behind, worth, ranked)
        end, before = place + 2, sorted_lines
        if count < len(worth):
            sorted_lines = fill_up(lines, sorted_lines, count, depth, now, convex, worth, ranked)
            if sorted_lines != before:
                end = max(before, sorted_lines)
        begin, end = max(place - 1, 0), min(end, max(before, sorted_lines))
        reschedule(lines, begin, end, sorted_lines, convex, agenda)
        if end >= sorted_lines:
            entrant, together = next_to_enter(lines, sorted_lines - 1, count, convex, entering)
            agenda.times[sorted_lines - 1] = crossing(lines, sorted_lines - 1, entrant, convex) if entrant >= 0 else np.inf
        for block in range(begin // BLOCK, (end - 1) // BLOCK + 1):
            renew(agenda, block * BLOCK)


@kernel
def sweep_queries(
    expected_address: int,
    first_scores: Floats,
    second_scores: Floats,
    rows: Indices,
    relevance: Floats,
    scales: Floats,
    offsets: Indices,
    first: int,
    last: int,
    discounts: Floats,
    low: float,
    high: float,
    convex: float,
    out_alphas: Floats,
    out_values: Floats,
    out_counts: Indices,
) -> int:
    """Follow the queries first … last−1 until the records fill their room; returns the first query that is not done.

    ``rows`` lists each query's rows by falling ``relevance``, which is in that order too. A query whose scale is NaN is left
    out. ``out_alphas`` and ``out_values`` get the records, ``out_counts`` (last − first,) how many of them each query has.
    """
    expected = expected_at(expected_address)
    longest = longest_query(offsets, first, last)
    blocks = longest // BLOCK + 1
    floats, indices = np.empty((8, longest + 1), np.float64), np.empty((5, longest), np.int64)
    flags = np.empty((2, longest), np.bool_)
    lines = Lines(floats[0], floats[1], floats[2], indices[0], indices[1], indices[2])
    sorting = Sorting(np.empty(longest, np.float64), indices[3], floats[3], indices[4], flags[0])
    ranked = Ranked(floats[4], flags[1], floats[5])
    agenda = Agenda(np.empty(blocks * BLOCK, np.float64), np.empty(blocks, np.float64))
    own_first, own_second, worth = np.empty(longest, np.float64), floats[6], floats[7]
    used = 0
    for query in range(first, last):
        out_counts[query - first] = 0
        if np.isnan(scales[query]):
            continue
        begin, n = offsets[query], offsets[query + 1] - offsets[query]
        for i in range(n):
            own_first[i], own_second[i] = first_scores[rows[begin + i]], second_scores[rows[begin + i]]
        s, t, query_relevance = own_first[:n], own_second[:n], relevance[begin : begin + n]
        sort_documents(s, t, low, convex, sorting)
        count = draw_lines(s, t, query_relevance, sorting, lines, worth)
        # Where all documents are worth the same, no order is better than another.
        end = high if query_relevance[0] > query_relevance[n - 1] else low
        written = follow(
            expected,
            scales[query],
            lines,
            count,
            worth[:n],
            discounts,
            low,
            end,
            convex,
            agenda,
            ranked,
            sorting.keys,
            out_alphas[used:],
            out_values[used:],
        )
        if written < 0:
            return query
        out_counts[query - first] = written
        used += written
    return last


_FLOATS, _FLOATS_IN, _INDICES_IN = array_type(FLOAT), array_type(FLOAT, inputs=True), array_type(INT, inputs=True)
SWEEP_QUERIES = INT(
    *(ADDRESS, _FLOATS_IN, _FLOATS_IN, _INDICES_IN, _FLOATS_IN, _FLOATS_IN, _INDICES_IN, INT, INT, _FLOATS),
    *(FLOAT, FLOAT, FLOAT, _FLOATS, _FLOATS, array_type(INT)),
)
"""The signature of sweep_queries."""
