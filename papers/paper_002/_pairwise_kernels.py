"""RankNet as it was first trained (paper 002 §2.1): every pair goes through the net by itself, and makes a step."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Features, Floats, Indices, kernel
from rankinite.gradients._pair_kernels import Graded
from rankinite.measures._swap_kernels import changes_at, prepare_at
from rankinite.nets._net_kernels import Frame, RowArrays, Steps, backward, forward, score_query, step, take_rows, whole_blocks


@kernel
def climb_pair_by_pair(
    graded: Graded, frame: Frame, steps: Steps, features: Features, queries: Indices, rows: RowArrays, weights: Floats
) -> int:
    """An epoch in which every pair takes two documents forward, two back, and a step; what ``climb_grades`` does at once.

    Ranks, and with them |ΔZ|, are those from before the query's first step. Pairs that change nothing are left out.
    """
    prepare, changes = prepare_at(graded.prepare), changes_at(graded.changes)
    size = frame.sizes.sum()
    units, pulls, lines = np.empty((size, 4)), np.zeros((size, 4)), np.empty(4 * size)  # faster than with two columns
    gradient, pair = np.empty(len(weights)), np.empty(2, np.int64)
    for query in queries:
        if graded.scales[query] == 0.0:
            continue
        start, end = graded.offsets[query], graded.offsets[query + 1]
        own = graded.rows[start:end]
        n = len(own)
        score_query(frame, weights, features, own, rows, np.empty((size, whole_blocks(n))))
        order = np.argsort(-rows.scores[own])
        ranked, grades, discounts = graded.relevance[start:end][order], graded.grades[own[order]], graded.discounts[:n]
        state, swaps = np.empty((2, n + 1)), np.empty(n)
        prepare(ranked, discounts, state)
        for i in range(min(graded.depth, n - 1)):
            changes(ranked, discounts, state, i, swaps)
            for j in range(i + 1, n):
                if grades[i] == grades[j] or swaps[j] == 0.0:
                    continue
                up, down = (i, j) if grades[i] > grades[j] else (j, i)
                pair[0], pair[1] = own[order[up]], own[order[down]]
                take_rows(frame, features, pair, units)
                forward(frame.sizes, weights, units)
                apart = graded.sigma * (units[size - 1, 0] - units[size - 1, 1])
                push = graded.sigma * graded.scales[query] * abs(swaps[j]) / (1.0 + np.exp(apart))
                pulls[size - 1, 0], pulls[size - 1, 1] = push, -push
                backward(frame.sizes, weights, units, pulls, lines, gradient)
                step(steps, gradient, weights)
    return -1
