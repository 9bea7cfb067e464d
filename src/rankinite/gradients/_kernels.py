"""The pair loop: pushes and curvatures from pairs of documents of one query, on plain arrays.

Notation, for one query of n documents:

    content     documents in the order of their content, which breaks ties; how their rows stand in the data says nothing
    order       (n,) from rank (0 is the top) to place in the content order
    keys        (n,) scores in rank order, falling
    odds        (n,) exp(σ(score − highest score)) in rank order: one exp a document, none a pair
    lifts       (n,) |ΔZ| of one upper rank i with every rank j > i; then how far each of these pairs pushes i up and j down
    bends       (n,) the curvatures of those pairs

Sums run in rank order, so that not a bit depends on the order of the rows. Arrays in rank order are filled up to whole blocks,
and the loop goes by whole blocks: the compiler takes several documents at a time, and would take odd ones one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankinite.gradients._order_kernels import BLOCK, COUNT, rank_again, rank_by_counting, whole_blocks
from rankinite.gradients._point_kernels import sigmoid
from rankinite.kernel import Floats, Indices, kernel
from rankinite.measures._ranking_kernels import longest_query

SPREAD = 600.0
"""σ × (highest − lowest score) from which ``odds`` may come near the smallest float."""
_LN2 = float(np.log(2.0))
_NEAR = 0.01  # LightGBM's score distance at which a pair's change is divided by twice this


@kernel
def prepare_nothing(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """All pairs count alike: nothing to prepare."""


@kernel
def changes_one(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
    """RankNet is ΔZ = 1."""
    out[i + 1 : len(relevance)] = 1.0


@kernel
def total_of(values: Floats) -> float:
    """The sum, always in the same four parts: one running sum would wait for each addition to end."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(np.uint64(0), np.uint64(len(values)), np.uint64(4)):  # unsigned: no check for places from the end
        a += values[k]
        b += values[k + np.uint64(1)]
        c += values[k + np.uint64(2)]
        d += values[k + np.uint64(3)]
    return (a + b) + (c + d)


@kernel
def total_size_of(values: Floats) -> float:
    """The sum of the absolute values, always in the same four parts: one running sum would wait for each addition to end."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(np.uint64(0), np.uint64(len(values)), np.uint64(4)):  # unsigned: no check for places from the end
        a += abs(values[k])
        b += abs(values[k + np.uint64(1)])
        c += abs(values[k + np.uint64(2)])
        d += abs(values[k + np.uint64(3)])
    return (a + b) + (c + d)


@kernel
def subtract(values: Floats, out_totals: Floats) -> None:
    """``out_totals`` −= ``values``."""
    for k in range(len(values)):
        out_totals[k] -= values[k]


@kernel
def add(values: Floats, out_totals: Floats) -> None:
    """``out_totals`` += ``values``."""
    for k in range(len(values)):
        out_totals[k] += values[k]


@kernel
def fill_lifts(own: float, own_odds: float, grades: Floats, odds: Floats, lifts: Floats, bends: Floats) -> None:
    """From |ΔZ| in ``lifts`` to push and curvature of the pairs of i, of grade ``own``, with many j.

    ρ = 1/(1 + exp(σ(s_i − s_j))) is e_j/(e_i + e_j); where j is the better one, it is one minus that.
    """
    for k in range(len(grades)):
        chance = odds[k] / (own_odds + odds[k])
        up = abs(lifts[k]) if grades[k] < own else 0.0
        down = abs(lifts[k]) if grades[k] > own else 0.0
        push = (up + down) * chance
        lifts[k] = push - down
        bends[k] = push * (1.0 - chance)


@kernel
def fill_lifts_apart(
    own: float, own_key: float, grades: Floats, keys: Floats, sigma: float, lifts: Floats, bends: Floats
) -> None:
    """The same from the scores, where they are too far apart for odds."""
    for k in range(len(grades)):
        chance = sigmoid(sigma * (keys[k] - own_key))
        up = abs(lifts[k]) if grades[k] < own else 0.0
        down = abs(lifts[k]) if grades[k] > own else 0.0
        push = (up + down) * chance
        lifts[k] = push - down
        bends[k] = push * (1.0 - chance)


@kernel
def divide_by_distance(own: float, keys: Floats, lifts: Floats) -> None:
    """LightGBM's rule: pairs that are far apart already count less. Entries before the first pair are not looked at later."""
    for j in range(len(lifts)):
        lifts[j] /= _NEAR + abs(own - keys[j])


@kernel
def sum_pairs(
    changes: Callable[..., None],
    n: int,
    discounts: Floats,
    state: Floats,
    sigma: float,
    depth: int,
    normalise: bool,
    keys: Floats,
    odds: Floats,
    relevance: Floats,
    grades: Floats,
    lifts: Floats,
    bends: Floats,
    out_push: Floats,
    out_curvature: Floats,
) -> float:
    """Pushes and curvatures of one query in rank order, without σ and the query's scale; returns Σ|push| of all pairs.

    Only pairs whose upper rank is below ``depth`` are looked at. The arrays from ``keys`` on have n documents in rank order
    and are filled up to whole blocks. Grades are used up: a document whose pairs are all done gets the grade NaN, which is
    neither above nor below any other, as have those that only fill up.
    """
    out_push[:] = 0.0
    out_curvature[:] = 0.0
    wide = not sigma * (keys[0] - keys[n - 1]) < SPREAD
    by_distance = normalise and keys[0] != keys[n - 1]
    size = 0.0
    for i in range(min(depth, n - 1)):
        changes(relevance[:n], discounts, state, i, lifts[:n])
        low = (i + 1) // BLOCK * BLOCK
        if by_distance:
            divide_by_distance(keys[i], keys[low:], lifts[low:])
        if wide:
            fill_lifts_apart(grades[i], keys[i], grades[low:], keys[low:], sigma, lifts[low:], bends[low:])
        else:
            fill_lifts(grades[i], odds[i], grades[low:], odds[low:], lifts[low:], bends[low:])
        subtract(lifts[low:], out_push[low:])
        add(bends[low:], out_curvature[low:])
        out_push[i] += total_of(lifts[low:])
        out_curvature[i] += total_of(bends[low:])
        grades[i] = np.nan
        if normalise:
            size += total_size_of(lifts[low:])
    return size


@kernel
def look_up_ranks(
    order: Indices,
    keys: Floats,
    relevance: Floats,
    grades: Floats,
    sigma: float,
    out_odds: Floats,
    out_relevance: Floats,
    out_grades: Floats,
) -> None:
    """What the loop needs to know of every rank of one query; the rest of ``keys`` and of the outputs is filled up.

    ``order``, ``relevance``, ``grades``: (n,), the last two in content order; ``keys`` and the outputs: n or more,
    in rank order.
    """
    n = len(order)
    for rank in range(n):
        out_odds[rank] = np.exp(sigma * (keys[rank] - keys[0]))
        out_relevance[rank], out_grades[rank] = relevance[order[rank]], grades[order[rank]]
    keys[n:] = keys[n - 1]
    out_odds[n:] = 1.0
    out_grades[n:] = np.nan


@kernel
def write_back(
    rows: Indices,
    order: Indices,
    push: Floats,
    curvature: Floats,
    push_factor: float,
    curvature_factor: float,
    out_push: Floats,
    out_curvature: Floats,
) -> bool:
    """From rank order of one query, shape (n,), to the rows of the data; False when a value is not finite."""
    size = 0.0
    for rank in range(len(order)):
        row = rows[order[rank]]
        out_push[row] = push_factor * push[rank]
        out_curvature[row] = curvature_factor * curvature[rank]
        size += abs(out_push[row]) + out_curvature[row]
    return bool(np.isfinite(size))


@kernel
def push_pairs(
    prepare: Callable[..., None],
    changes: Callable[..., None],
    scores: Floats,
    rows: Indices,
    grades: Floats,
    relevance: Floats,
    offsets: Indices,
    first: int,
    last: int,
    discounts: Floats,
    scales: Floats,
    weights: Floats,
    sigma: float,
    depth: int,
    normalise: bool,
    order: Indices,
    out_push: Floats,
    out_curvature: Floats,
) -> int:
    """λ and their derivatives for the queries first … last−1; returns −1, or the first query where they are not finite.

    ``scores``, ``out_push``, ``out_curvature``: (rows,) as the data stand. ``rows``: (rows,) the content order; ``grades``,
    ``relevance`` and ``order`` are (rows,) in that order. ``discounts``: as many as the longest query has documents.
    ``scales``, ``weights``: (queries,); scale 0 leaves a query out. ``order`` keeps the ranks for the next call.
    """
    longest = longest_query(offsets, first, last)
    work, states = np.zeros((8, whole_blocks(longest))), np.empty(2 * (longest + 1))
    spare, more = np.empty(whole_blocks(longest), np.int64), np.empty(whole_blocks(longest), np.int64)
    for query in range(first, last):
        start, end = offsets[query], offsets[query + 1]
        if scales[query] == 0.0:
            out_push[start:end] = 0.0
            out_curvature[start:end] = 0.0
            continue
        n = end - start
        m = whole_blocks(n)
        keys, odds, worth, levels = work[0, :m], work[1, :m], work[2, :m], work[3, :m]
        lifts, bends, push, curvature = work[4, :m], work[5, :m], work[6, :m], work[7, :m]
        places, ranks, state = rows[start:end], order[start:end], states[: 2 * (n + 1)].reshape((2, n + 1))
        spread = 0.0
        for k in range(n):
            push[k] = scores[places[k]]
            spread += abs(push[k])
        if not np.isfinite(spread):  # there is no order to speak of
            return query
        if n <= COUNT:
            push[n:] = -np.inf
            rank_by_counting(push, n, spare[:m], more[:m], ranks, keys)
        else:
            rank_again(push[:n], ranks, keys[:n], odds[:n], spare[:n])
        look_up_ranks(ranks, keys, relevance[start:end], grades[start:end], sigma, odds, worth, levels)
        prepare(worth[:n], discounts[:n], state)
        size = sum_pairs(
            changes, n, discounts[:n], state, sigma, depth, normalise, keys, odds, worth, levels, lifts, bends, push, curvature
        )
        factor = sigma * scales[query]
        if normalise and size > 0.0:
            size *= 2.0 * factor  # each pair counts twice: as it pushes one document up and the other down
            factor *= np.log1p(size) / (_LN2 * size)  # log2(1 + size) / size, also where size is next to nothing
        factor *= weights[query]
        if not write_back(places, ranks, push, curvature, factor, factor * sigma, out_push, out_curvature):
            return query
    return -1


@kernel
def push_preferences(
    scores: Floats,
    better: Indices,
    worse: Indices,
    probability: Floats,
    pair_offsets: Indices,
    offsets: Indices,
    first: int,
    last: int,
    weights: Floats,
    sigma: float,
    out_push: Floats,
    out_curvature: Floats,
) -> None:
    """Pushes from judged pairs for the queries first … last−1.

    ``better``, ``worse``, ``probability``: one a pair, query by query as ``pair_offsets`` (queries + 1) says; ``scores``,
    ``out_push``, ``out_curvature``: (rows,).
    """
    for query in range(first, last):
        out_push[offsets[query] : offsets[query + 1]] = 0.0
        out_curvature[offsets[query] : offsets[query + 1]] = 0.0
        for pair in range(pair_offsets[query], pair_offsets[query + 1]):
            i, j = better[pair], worse[pair]
            chance = sigmoid(sigma * float(scores[i] - scores[j]))
            push = weights[query] * sigma * (probability[pair] - chance)
            curvature = weights[query] * sigma * sigma * chance * (1.0 - chance)
            out_push[i] += push
            out_push[j] -= push
            out_curvature[i] += curvature
            out_curvature[j] += curvature
