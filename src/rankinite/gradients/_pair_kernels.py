"""The pair loop: pushes and curvatures from pairs of documents of one query, on plain arrays.

Notation, for one query of n documents:

    content         documents in the order of their content, which breaks ties; the order of rows in the data does not matter
    order           (n,) from rank (0 is the top) to place in the content order
    keys            (n,) scores in rank order, falling
    odds            (n,) exp(σ(score − highest score)) in rank order: one exp per document, none per pair
    pair_push       (n,) |ΔZ| of one upper rank i with every rank j > i; then how far each of these pairs pushes i up, j down
    pair_curvature  (n,) the curvatures of those pairs

Sums run in rank order, so that not a bit depends on the order of the rows. Arrays in rank order are filled up to whole blocks,
and the loop goes by whole blocks: the compiler takes several documents at a time, and would take odd ones one by one.

In this order: the records; how a query is put in rank order; one upper document with all below it (``add_pairs``); the loop
over upper documents (``sum_pairs``), one query (``push_query``) and many (``push_pairs``); judged pairs, which need no order
(``push_preferences``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankinite.engine._math_kernels import exponential, logarithm_of_one_more
from rankinite.engine.kernel import Floats, Grades, Indices, RowNumbers, kernel
from rankinite.gradients._point_kernels import sigmoid
from rankinite.measures._ranking_kernels import COUNT, count_ranks, longest_query, sort_descending
from rankinite.measures._swap_kernels import changes_at, prepare_at

BLOCK = 4
"""The documents in a wide register."""
SPREAD = 600.0
"""σ × (highest − lowest score) from which ``odds`` may come near the smallest float."""
_MOVES = 8  # moves per document that insertion may take before sorting afresh is quicker
_LN2 = math.log(2.0)
_NEAR = 0.01  # added to the distance of two scores when a pair's change is divided by it, as LightGBM does


class Graded(NamedTuple):
    """Pairs that follow from grades. ``relevance`` and ``order`` are in content order."""

    prepare: int
    changes: int
    """Addresses of the two kernels of a measure (see ``measures._swap_kernels``)."""
    rows: RowNumbers
    """(rows,) the content order: query by query, which rows come one after the other."""
    grades: Grades
    """(rows,) in the order of the data: the data's own array, as a copy in content order would take memory of its own."""
    relevance: Floats
    offsets: Indices
    """(queries + 1,)."""
    discounts: Floats
    """One per rank of the longest query."""
    scales: Floats
    """(queries,); 0 leaves a query out."""
    weights: Floats
    """(queries,)."""
    sigma: float
    depth: int
    """Pairs count whose upper rank is below this."""
    normalise: bool
    order: Indices
    """(rows,) how each query was ranked at the last call, where the next one starts to sort: the one array that changes."""


class JudgedPairs(NamedTuple):
    """Pairs that were judged, query by query."""

    rows: RowNumbers
    """(rows,) the content order."""
    better: Indices
    worse: Indices
    """Rows of the data, one per pair."""
    probability: Floats
    """That the first is better, one per pair."""
    pair_offsets: Indices
    """(queries + 1,)."""
    offsets: Indices
    """(queries + 1,)."""
    weights: Floats
    """(queries,)."""
    sigma: float


class Work(NamedTuple):
    """Workspace for one query of up to n documents, m being n filled up to whole blocks."""

    numbers: Floats
    """(8, m)."""
    states: Floats
    """2(n + 1)."""
    places: Indices
    """(2, m)."""


class RankedPairs(NamedTuple):
    """The documents of one query in rank order; all arrays are filled up to whole blocks."""

    keys: Floats
    odds: Floats
    relevance: Floats
    grades: Floats
    """NaN, which is neither above nor below any other, for documents whose pairs are all done and for those that fill up."""
    pair_push: Floats
    pair_curvature: Floats
    push: Floats
    curvature: Floats


@kernel
def whole_blocks(n: int) -> int:
    """n, rounded up."""
    return (n + BLOCK - 1) // BLOCK * BLOCK


@kernel
def order_by_counting(scores: Floats, n: int, ranks: Indices, sizes: Indices, out_order: Indices, out_keys: Floats) -> None:
    """Sort n documents by falling score, ties by rising place; fills order and keys, both of shape (n,).

    ``scores`` are filled up with −inf to whole blocks; ``ranks`` and ``sizes`` are workspace of the same shape.
    """
    count_ranks(scores, n, ranks, sizes)
    for i in range(n):
        out_order[ranks[i]], out_keys[ranks[i]] = i, scores[i]


@kernel
def rank_again(scores: Floats, order: Indices, keys: Floats, spare_keys: Floats, spare_order: Indices) -> None:
    """The same for long queries, from the ``order`` of the last time. All have shape (n,).

    Whatever ``order`` was, it comes out the same; when it was nearly right already, as it is from one round of boosting to
    the next, little has to move.
    """
    n = len(scores)
    for rank in range(n):
        keys[rank] = scores[order[rank]]
    moves = 0
    for rank in range(1, n):
        key, place = keys[rank], order[rank]
        k = rank
        while k > 0 and (keys[k - 1] < key or (keys[k - 1] == key and order[k - 1] > place)):
            keys[k], order[k] = keys[k - 1], order[k - 1]
            k -= 1
        keys[k], order[k] = key, place
        moves += rank - k
        if moves > _MOVES * n:
            break
    if moves > _MOVES * n:
        for rank in range(n):
            keys[rank], order[rank] = scores[rank], rank
        sort_descending(keys, order, spare_keys, spare_order)


@kernel
def prepare_nothing(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """All pairs count alike: nothing to prepare."""


@kernel
def changes_one(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
    """RankNet is ΔZ = 1."""
    out[i + 1 : len(relevance)] = 1.0


@kernel
def totals_of(pair_push: Floats, pair_curvature: Floats) -> tuple[float, float, float]:
    """Σ push, Σ curvature, Σ |push| of pairs, always in the same four parts: one running sum would wait for each addition."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    e, f, g, h = 0.0, 0.0, 0.0, 0.0
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for k in range(np.uint64(0), np.uint64(len(pair_push)), np.uint64(4)):  # unsigned: no check for places from the end
        second, third, fourth = k + np.uint64(1), k + np.uint64(2), k + np.uint64(3)
        a, b, c, d = a + pair_push[k], b + pair_push[second], c + pair_push[third], d + pair_push[fourth]
        e, f, g, h = e + pair_curvature[k], f + pair_curvature[second], g + pair_curvature[third], h + pair_curvature[fourth]
        p, q = p + abs(pair_push[k]), q + abs(pair_push[second])
        r, s = r + abs(pair_push[third]), s + abs(pair_push[fourth])
    return (a + b) + (c + d), (e + f) + (g + h), (p + q) + (r + s)


# The two that follow take arrays one by one: with a record of them, or of slices of them, the loop is a fifth slower.
@kernel
def add_pairs(
    grade: float, key: float, odds: float, near: float, slope: float,
    grades: Floats, keys: Floats, other_odds: Floats, pair_push: Floats, pair_curvature: Floats,
    out_push: Floats, out_curvature: Floats,
) -> None:  # fmt: skip
    """From |ΔZ| in ``pair_push`` to push and curvature of the pairs of i with many j below it; each j gets its part.

    The first three are those of i, the arrays those of every j. ρ = 1/(1 + exp(σ(s_i − s_j))) is e_j/(e_i + e_j); where j is
    the better one, it is one minus that. |ΔZ| is divided by ``near`` + ``slope`` · |s_i − s_j|; both divisions are made as one.
    """
    for k in range(len(grades)):
        far, both = near + slope * abs(key - keys[k]), odds + other_odds[k]
        inverse = 1.0 / (far * both)
        chance, size = other_odds[k] * far * inverse, abs(pair_push[k]) * both * inverse
        force = size * chance if grades[k] != grade and grades[k] == grades[k] else 0.0
        push = force - size if grades[k] > grade else force
        curvature = force * (1.0 - chance)
        pair_push[k], pair_curvature[k] = push, curvature
        out_push[k] -= push
        out_curvature[k] += curvature


@kernel
def add_pairs_far_apart(
    grade: float, key: float, sigma: float, near: float, slope: float,
    grades: Floats, keys: Floats, pair_push: Floats, pair_curvature: Floats, out_push: Floats, out_curvature: Floats,
) -> None:  # fmt: skip
    """The same with ρ from the scores, where they are too far apart for odds."""
    for k in range(len(grades)):
        chance = sigmoid(sigma * (keys[k] - key))
        size = abs(pair_push[k]) / (near + slope * abs(key - keys[k]))
        force = size * chance if grades[k] != grade and grades[k] == grades[k] else 0.0
        pair_push[k] = force - size if grades[k] > grade else force
        pair_curvature[k] = force * (1.0 - chance)
        out_push[k] -= pair_push[k]
        out_curvature[k] += pair_curvature[k]


@kernel
def fill_odds(keys: Floats, sigma: float, out_odds: Floats) -> None:
    """exp(σ(key − highest key)) of every rank; differences must be below ``SPREAD``."""
    for k in range(len(keys)):
        out_odds[k] = exponential(sigma * (keys[k] - keys[0]))


@kernel
def sum_pairs(
    changes: Callable[..., None],
    n: int,
    discounts: Floats,
    state: Floats,
    sigma: float,
    depth: int,
    normalise: bool,
    ranked: RankedPairs,
) -> float:
    """Pushes and curvatures of one query of n documents, without σ and the query's scale; returns Σ|push| of all pairs.

    Only pairs whose upper rank is below ``depth`` are looked at. Keys, relevance and grades are given; grades are used up.
    """
    keys, odds, relevance, grades = ranked.keys, ranked.odds, ranked.relevance, ranked.grades
    pair_push, pair_curvature, out_push, out_curvature = ranked.pair_push, ranked.pair_curvature, ranked.push, ranked.curvature
    out_push[:] = 0.0
    out_curvature[:] = 0.0
    wide = not sigma * (keys[0] - keys[n - 1]) < SPREAD
    if not wide:
        fill_odds(keys, sigma, odds)
    near, slope = (_NEAR, 1.0) if normalise and keys[0] != keys[n - 1] else (1.0, 0.0)
    size = 0.0
    for i in range(min(depth, n - 1)):
        changes(relevance[:n], discounts, state, i, pair_push[:n])
        low = (i + 1) // BLOCK * BLOCK
        grade, key, levels = grades[i], keys[i], grades[low:]
        grades[i] = np.nan
        if wide:
            add_pairs_far_apart(
                grade, key, sigma, near, slope,
                levels, keys[low:], pair_push[low:], pair_curvature[low:], out_push[low:], out_curvature[low:],
            )  # fmt: skip
        else:
            add_pairs(
                grade, key, odds[i], near, slope,
                levels, keys[low:], odds[low:], pair_push[low:], pair_curvature[low:], out_push[low:], out_curvature[low:],
            )  # fmt: skip
        push, curvature, both_ways = totals_of(pair_push[low:], pair_curvature[low:])
        out_push[i] += push
        out_curvature[i] += curvature
        size += both_ways
    return size


@kernel
def look_up_ranks(
    rows: RowNumbers,
    order: Indices,
    keys: Floats,
    relevance: Floats,
    grades: Grades,
    out_relevance: Floats,
    out_grades: Floats,
) -> None:
    """What the loop needs to know of every rank of one query; the rest of ``keys`` and of the outputs is filled up.

    ``rows``, ``order``, ``relevance``: (n,), the first and the last in content order; ``grades``: of all rows of the data;
    ``keys`` and the outputs: n or more, in rank order.
    """
    n = len(order)
    for rank in range(n):
        out_relevance[rank], out_grades[rank] = relevance[order[rank]], grades[rows[order[rank]]]
    keys[n:] = keys[n - 1]
    out_grades[n:] = np.nan


@kernel
def write_back(
    rows: RowNumbers,
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
def workspace_of(longest: int) -> Work:
    """What :func:`push_query` needs for queries of up to ``longest`` documents."""
    m = whole_blocks(longest)
    return Work(np.zeros((8, m)), np.empty(2 * (longest + 1)), np.empty((2, m), np.int64))


@kernel
def push_query(
    prepare: Callable[..., None],
    changes: Callable[..., None],
    graded: Graded,
    query: int,
    scores: Floats,
    work: Work,
    out_push: Floats,
    out_curvature: Floats,
) -> bool:
    """λ and their derivatives for one query; False when they are not finite. Arrays as for :func:`push_pairs`."""
    start, end = graded.offsets[query], graded.offsets[query + 1]
    if graded.scales[query] == 0.0:
        out_push[start:end] = 0.0
        out_curvature[start:end] = 0.0
        return True
    n = end - start
    m = whole_blocks(n)
    ranked = RankedPairs(
        work.numbers[0, :m], work.numbers[1, :m], work.numbers[2, :m], work.numbers[3, :m],
        work.numbers[4, :m], work.numbers[5, :m], work.numbers[6, :m], work.numbers[7, :m],
    )  # fmt: skip
    keys, push = ranked.keys, ranked.push
    spare, more, state = work.places[0, :m], work.places[1, :m], work.states[: 2 * (n + 1)].reshape((2, n + 1))
    rows, order, discounts = graded.rows[start:end], graded.order[start:end], graded.discounts[:n]
    spread = 0.0
    for k in range(n):
        push[k] = scores[rows[k]]
        spread += abs(push[k])
    if not np.isfinite(spread):  # there is no order to speak of
        return False
    if n <= COUNT:
        push[n:] = -np.inf
        order_by_counting(push, n, spare, more, order, keys)
    else:
        rank_again(push[:n], order, keys[:n], ranked.odds[:n], spare[:n])
    look_up_ranks(rows, order, keys, graded.relevance[start:end], graded.grades, ranked.relevance, ranked.grades)
    prepare(ranked.relevance[:n], discounts, state)
    sigma, normalise = graded.sigma, graded.normalise
    size = sum_pairs(changes, n, discounts, state, sigma, graded.depth, normalise, ranked)
    factor = sigma * graded.scales[query]
    if normalise and size > 0.0:
        size *= 2.0 * factor  # each pair counts twice: as it pushes one document up and the other down
        factor *= logarithm_of_one_more(size) / (_LN2 * size)  # log2(1 + size) / size, also where size is next to nothing
    factor *= graded.weights[query]
    return write_back(rows, order, push, ranked.curvature, factor, factor * sigma, out_push, out_curvature)


@kernel
def push_pairs(graded: Graded, scores: Floats, first: int, last: int, out_push: Floats, out_curvature: Floats) -> int:
    """λ and their derivatives for the queries first … last−1; returns −1, or the first query where they are not finite.

    ``scores``, ``out_push``, ``out_curvature``: (rows,) in the order of the data.
    """
    prepare, changes = prepare_at(graded.prepare), changes_at(graded.changes)
    work = workspace_of(longest_query(graded.offsets, first, last))
    for query in range(first, last):
        if not push_query(prepare, changes, graded, query, scores, work, out_push, out_curvature):
            return query
    return -1


@kernel
def push_preferences(
    judged: JudgedPairs, scores: Floats, first: int, last: int, out_push: Floats, out_curvature: Floats
) -> None:
    """Pushes from judged pairs for the queries first … last−1; ``scores``, ``out_push``, ``out_curvature``: (rows,)."""
    offsets, sigma = judged.offsets, judged.sigma
    for query in range(first, last):
        out_push[offsets[query] : offsets[query + 1]] = 0.0
        out_curvature[offsets[query] : offsets[query + 1]] = 0.0
        for pair in range(judged.pair_offsets[query], judged.pair_offsets[query + 1]):
            i, j = judged.better[pair], judged.worse[pair]
            chance = sigmoid(sigma * float(scores[i] - scores[j]))
            push = judged.weights[query] * sigma * (judged.probability[pair] - chance)
            curvature = judged.weights[query] * sigma * sigma * chance * (1.0 - chance)
            out_push[i] += push
            out_push[j] -= push
            out_curvature[i] += curvature
            out_curvature[j] += curvature
