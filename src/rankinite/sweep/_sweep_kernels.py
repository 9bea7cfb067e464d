"""Following the lines of a query's documents from left to right, on plain arrays.

Only as many lines are kept sorted as fill the ranks a measure looks at; the others wait behind. The order changes where two
neighbours cross, or where a waiting line crosses the last sorted one. Each pair of lines changes places at most once: only
when the lower one is steeper. So a crossing that rounding puts before the current α is taken to be at it, and the sweep ends
whatever the rounding; several lines through one point are several exchanges at one α.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankinite.engine.kernel import ADDRESS, FLOAT, INT, Flags, Floats, Indices, array_type, kernel
from rankinite.measures._kernels import expected_at
from rankinite.measures._ranking_kernels import longest_query
from rankinite.sweep._line_kernels import (
    Lines,
    Sorting,
    crossing,
    draw_lines,
    exchange,
    highest,
    next_to_enter,
    room_at,
    sort_documents,
)

BLOCK = 16
"""The soonest of this many crossings is kept, so that finding the soonest of all does not mean looking at each."""


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
