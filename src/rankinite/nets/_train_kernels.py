"""Stochastic gradient ascent, query by query: one pass forward, one λ per document, one pass back (paper 002 §2.1)."""

from __future__ import annotations

import numpy as np

from rankinite.engine._math_kernels import whole_power
from rankinite.engine.kernel import Features, Floats, Indices, RowNumbers, kernel
from rankinite.gradients._kernels import push_preferences, push_query, workspace_of
from rankinite.gradients._point_kernels import push_differences
from rankinite.gradients._state import Differing, Graded, JudgedPairs
from rankinite.measures._ranking_kernels import longest_query
from rankinite.measures._swap_kernels import changes_at, prepare_at
from rankinite.nets._net_kernels import backward, forward, take_rows, whole_blocks
from rankinite.nets._state import Frame, RowArrays, Steps

_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8  # Adam's usual settings


@kernel
def step(steps: Steps, gradient: Floats, weights: Floats) -> None:
    """Move the weights along the gradient: plainly, or as Adam does, by its mean over its spread."""
    rate, l2 = steps.rate, steps.l2
    if not steps.adam:
        for k in range(len(weights)):
            weights[k] += rate * (gradient[k] - l2 * weights[k])
        return
    steps.taken[0] += 1
    mean, square = steps.moments[0], steps.moments[1]
    early = 1.0 / (1.0 - whole_power(_FIRST, steps.taken[0]))
    early_square = 1.0 / (1.0 - whole_power(_SECOND, steps.taken[0]))
    for k in range(len(weights)):
        mean[k] = _FIRST * mean[k] + (1.0 - _FIRST) * gradient[k]
        square[k] = _SECOND * square[k] + (1.0 - _SECOND) * gradient[k] * gradient[k]
        weights[k] += rate * (mean[k] * early / (np.sqrt(square[k] * early_square) + _TINY) - l2 * weights[k])


@kernel
def room_for(documents: int, sizes: Indices, space: Floats) -> tuple[Floats, Floats]:
    """Units and pulls of a query, out of the room there is for the longest one."""
    shape = (sizes.sum(), whole_blocks(documents))
    needed = shape[0] * shape[1]
    return space[0, :needed].reshape(shape), space[1, :needed].reshape(shape)


@kernel
def score_query(
    frame: Frame, weights: Floats, features: Features, query_rows: RowNumbers, rows: RowArrays, units: Floats
) -> None:
    """The scores of a query's rows ``query_rows``, on top of those they start from."""
    take_rows(frame, features, query_rows, units)
    forward(frame.sizes, weights, units)
    for i in range(len(query_rows)):
        rows.scores[query_rows[i]] = rows.start[query_rows[i]] + units[len(units) - 1, i]


@kernel
def follow(
    frame: Frame,
    steps: Steps,
    query_rows: RowNumbers,
    rows: RowArrays,
    units: Floats,
    pulls: Floats,
    lines: Floats,
    gradient: Floats,
    weights: Floats,
) -> None:
    """One step along what the λ's of a query's rows say."""
    last = len(pulls) - 1
    for i in range(len(query_rows)):
        pulls[last, i] = rows.push[query_rows[i]]
    pulls[last, len(query_rows) :] = 0.0
    backward(frame.sizes, weights, units, pulls, lines, gradient)
    gradient[len(gradient) - 1] = 0.0  # Σλ is 0 but for rounding, on which Adam would let the bias of all scores walk
    step(steps, gradient, weights)


@kernel
def climb_grades(
    graded: Graded, frame: Frame, steps: Steps, features: Features, queries: Indices, rows: RowArrays, weights: Floats
) -> int:
    """One epoch over pairs of grades, the queries in this order; returns −1, or the query where scores are not finite."""
    prepare, changes = prepare_at(graded.prepare), changes_at(graded.changes)
    longest = longest_query(graded.offsets, 0, len(graded.offsets) - 1)
    work, gradient = workspace_of(longest), np.empty(len(weights))
    space = np.empty((3, frame.sizes.sum() * whole_blocks(longest)))
    for query in queries:
        if graded.scales[query] == 0.0 or graded.weights[query] == 0.0:
            continue
        query_rows = graded.rows[graded.offsets[query] : graded.offsets[query + 1]]
        units, pulls = room_for(len(query_rows), frame.sizes, space)
        score_query(frame, weights, features, query_rows, rows, units)
        if not push_query(prepare, changes, graded, query, rows.scores, work, rows.push, rows.curvature):
            return query
        follow(frame, steps, query_rows, rows, units, pulls, space[2], gradient, weights)
    return -1


@kernel
def climb_preferences(
    judged: JudgedPairs, frame: Frame, steps: Steps, features: Features, queries: Indices, rows: RowArrays, weights: Floats
) -> int:
    """The same over judged pairs."""
    longest = longest_query(judged.offsets, 0, len(judged.offsets) - 1)
    gradient = np.empty(len(weights))
    space = np.empty((3, frame.sizes.sum() * whole_blocks(longest)))
    for query in queries:
        if judged.pair_offsets[query] == judged.pair_offsets[query + 1] or judged.weights[query] == 0.0:
            continue
        query_rows = judged.rows[judged.offsets[query] : judged.offsets[query + 1]]
        units, pulls = room_for(len(query_rows), frame.sizes, space)
        score_query(frame, weights, features, query_rows, rows, units)
        push_preferences(judged, rows.scores, query, query + 1, rows.push, rows.curvature)
        follow(frame, steps, query_rows, rows, units, pulls, space[2], gradient, weights)
        if not np.isfinite(rows.push[query_rows].sum()):
            return query
    return -1


@kernel
def climb_differences(
    differing: Differing, frame: Frame, steps: Steps, features: Features, queries: Indices, rows: RowArrays, weights: Floats
) -> int:
    """The same over differences of grades."""
    longest = longest_query(differing.offsets, 0, len(differing.offsets) - 1)
    gradient = np.empty(len(weights))
    space = np.empty((3, frame.sizes.sum() * whole_blocks(longest)))
    for query in queries:
        query_rows = differing.rows[differing.offsets[query] : differing.offsets[query + 1]]
        if len(query_rows) < 2 or differing.weights[query] == 0.0:
            continue
        units, pulls = room_for(len(query_rows), frame.sizes, space)
        score_query(frame, weights, features, query_rows, rows, units)
        push_differences(differing, rows.scores, query, query + 1, rows.push, rows.curvature)
        follow(frame, steps, query_rows, rows, units, pulls, space[2], gradient, weights)
        if not np.isfinite(rows.push[query_rows].sum()):
            return query
    return -1
