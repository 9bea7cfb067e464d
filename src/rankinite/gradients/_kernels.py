"""The pair loop: pushes and curvatures from pairs of documents of one query, on plain arrays.

Notation, for one query of n documents:

    content     documents in the order of their content, which breaks ties; the order of their rows in the data does not matter
    order       (n,) from rank (0 is the top) to place in the content order
    keys        (n,) scores in rank order, falling
    odds        (n,) exp(σ(score − highest score)) in rank order: one exp per document, none per pair
    lifts       (n,) |ΔZ| of one upper rank i with every rank j > i; then how far each of these pairs pushes i up and j down
    bends       (n,) the curvatures of those pairs

Sums run in rank order, so that not a bit depends on the order of the rows. Arrays in rank order are filled up to whole blocks,
and the loop goes by whole blocks: the compiler takes several documents at a time, and would take odd ones one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankinite.engine._math_kernels import exponential, logarithm_of_one_more
from rankinite.engine.kernel import Floats, Grades, Indices, RowNumbers, kernel
from rankinite.gradients._order_kernels import BLOCK, COUNT, order_by_counting, rank_again, whole_blocks
from rankinite.gradients._point_kernels import sigmoid
from rankinite.gradients._state import Graded, JudgedPairs, Work
from rankinite.measures._ranking_kernels import longest_query
from rankinite.measures._swap_kernels import changes_at, prepare_at

SPREAD = 600.0
"""σ × (highest − lowest score) from which ``odds`` may come near the smallest float."""
_LN2 = math.log(2.0)
_NEAR = 0.01  # added to the distance of two scores when a pair's change is divided by it, as LightGBM does


@kernel
def prepare_nothing(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """All pairs count alike: nothing to prepare."""


@kernel
def changes_one(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
    """RankNet is ΔZ = 1."""
    out[i + 1 : len(relevance)] = 1.0


@kernel
def totals_of(lifts: Floats, bends: Floats) -> tuple[float, float, float]:
    """Σ lifts, Σ bends and Σ |lifts|, always in the same four parts: one running sum would wait for each addition to end."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    e, f, g, h = 0.0, 0.0, 0.0, 0.0
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for k in range(np.uint64(0), np.uint64(len(lifts)), np.uint64(4)):  # unsigned: no check for places from the end
        second, third, fourth = k + np.uint64(1), k + np.uint64(2), k + np.uint64(3)
        a, b, c, d = a + lifts[k], b + lifts[second], c + lifts[third], d + lifts[fourth]
        e, f, g, h = e + bends[k], f + bends[second], g + bends[third], h + bends[fourth]
        p, q, r, s = p + abs(lifts[k]), q + abs(lifts[second]), r + abs(lifts[third]), s + abs(lifts[fourth])
    return (a + b) + (c + d), (e + f) + (g + h), (p + q) + (r + s)


@kernel
def add_pairs(
    own_grade: float, own_key: float, own_odds: float, near: float, slope: float,
    grades: Floats, keys: Floats, odds: Floats, lifts: Floats, bends: Floats, out_push: Floats, out_curvature: Floats,
) -> None:  # fmt: skip
    """From |ΔZ| in ``lifts`` to push and curvature of the pairs of i, of grade ``own_grade``, with many j; each j gets a part.

    ρ = 1/(1 + exp(σ(s_i − s_j))) is e_j/(e_i + e_j); where j is the better one, it is one minus that. |ΔZ| is divided by
    ``near`` + ``slope`` · |s_i − s_j|; both divisions are made as one.
    """
    for k in range(len(grades)):
        far, both = near + slope * abs(own_key - keys[k]), own_odds + odds[k]
        inverse = 1.0 / (far * both)
        chance, size = odds[k] * far * inverse, abs(lifts[k]) * both * inverse
        push = size * chance if grades[k] != own_grade and grades[k] == grades[k] else 0.0
        lift = push - size if grades[k] > own_grade else push
        bend = push * (1.0 - chance)
        lifts[k], bends[k] = lift, bend
        out_push[k] -= lift
        out_curvature[k] += bend


@kernel
def add_pairs_apart(
    own_grade: float, own_key: float, sigma: float, near: float, slope: float,
    grades: Floats, keys: Floats, lifts: Floats, bends: Floats, out_push: Floats, out_curvature: Floats,
) -> None:  # fmt: skip
    """The same from the scores, where they are too far apart for odds."""
    for k in range(len(grades)):
        chance = sigmoid(sigma * (keys[k] - own_key))
        size = abs(lifts[k]) / (near + slope * abs(own_key - keys[k]))
        push = size * chance if grades[k] != own_grade and grades[k] == grades[k] else 0.0
        lifts[k] = push - size if grades[k] > own_grade else push
        bends[k] = push * (1.0 - chance)
        out_push[k] -= lifts[k]
        out_curvature[k] += bends[k]


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
    and are filled up to whole blocks; ``odds``, ``lifts`` and ``bends`` are workspace. Grades are used up: a document whose
    pairs are all done gets the grade NaN, which is neither above nor below any other, as have those that only fill up.
    """
    out_push[:] = 0.0
    out_curvature[:] = 0.0
    wide = not sigma * (keys[0] - keys[n - 1]) < SPREAD
    if not wide:
        fill_odds(keys, sigma, odds)
    near, slope = (_NEAR, 1.0) if normalise and keys[0] != keys[n - 1] else (1.0, 0.0)
    size = 0.0
    for i in range(min(depth, n - 1)):
        changes(relevance[:n], discounts, state, i, lifts[:n])
        low = (i + 1) // BLOCK * BLOCK
        own_grade, key, levels = grades[i], keys[i], grades[low:]
        grades[i] = np.nan
        if wide:
            add_pairs_apart(
                own_grade,
                key,
                sigma,
                near,
                slope,
                levels,
                keys[low:],
                lifts[low:],
                bends[low:],
                out_push[low:],
                out_curvature[low:],
            )
        else:
            add_pairs(
                own_grade, key, odds[i], near, slope,
                levels, keys[low:], odds[low:], lifts[low:], bends[low:], out_push[low:], out_curvature[low:],
            )  # fmt: skip
        lift, bend, both_ways = totals_of(lifts[low:], bends[low:])
        out_push[i] += lift
        out_curvature[i] += bend
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
    keys, odds, worth, levels = work.numbers[0, :m], work.numbers[1, :m], work.numbers[2, :m], work.numbers[3, :m]
    lifts, bends, push, curvature = work.numbers[4, :m], work.numbers[5, :m], work.numbers[6, :m], work.numbers[7, :m]
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
        rank_again(push[:n], order, keys[:n], odds[:n], spare[:n])
    look_up_ranks(rows, order, keys, graded.relevance[start:end], graded.grades, worth, levels)
    prepare(worth[:n], discounts, state)
    sigma, normalise = graded.sigma, graded.normalise
    size = sum_pairs(
        changes, n, discounts, state, sigma, graded.depth, normalise, keys, odds, worth, levels, lifts, bends, push, curvature
    )
    factor = sigma * graded.scales[query]
    if normalise and size > 0.0:
        size *= 2.0 * factor  # each pair counts twice: as it pushes one document up and the other down
        factor *= logarithm_of_one_more(size) / (_LN2 * size)  # log2(1 + size) / size, also where size is next to nothing
    factor *= graded.weights[query]
    return write_back(rows, order, push, curvature, factor, factor * sigma, out_push, out_curvature)


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
