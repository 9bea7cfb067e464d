"""Debiased pushes and the estimates behind them, one pair at a time, straight from their definitions."""

from __future__ import annotations

from math import exp

import numpy as np

from oracles.gradients import ranked


def debiased(data, scores, changes, clicked, skipped, sigma=1.0):
    """λ of each pair, divided by the two curves at the positions of the clicked and of the skipped document."""
    push, curvature = np.zeros(data.rows), np.zeros(data.rows)
    for _, rows in ranked(data, scores):
        delta = changes(data.grades[rows].astype(float))
        for upper, i in enumerate(rows):
            for lower in range(upper + 1, len(rows)):
                j = rows[lower]
                if data.grades[i] == data.grades[j]:
                    continue
                better, worse = (i, j) if data.grades[i] > data.grades[j] else (j, i)
                worth = abs(delta[upper, lower]) / (clicked(data.positions[better]) * skipped(data.positions[worse]))
                rho = 1 / (1 + exp(sigma * (scores[better] - scores[worse])))
                push[better] += sigma * rho * worth
                push[worse] -= sigma * rho * worth
                for row in (better, worse):
                    curvature[row] += sigma**2 * rho * (1 - rho) * worth
    return push, curvature


def balance(data, scores, slope=1.0):
    """The left and the right side of the balance at each two positions, as functions of θ; by position pairs."""
    sums: dict[tuple[int, int], list[float]] = {}
    for query in range(data.queries):
        rows = range(int(data.offsets[query]), int(data.offsets[query + 1]))
        for a in rows:
            for b in rows:
                i, j = int(data.positions[a]), int(data.positions[b])
                if i != j and data.grades[a] > 0:
                    rho = 1 / (1 + exp(slope * (scores[a] - scores[b])))
                    pair = sums.setdefault((i, j), [0.0, 0.0])
                    pair[0] += rho
                    pair[1] += rho if data.grades[b] > 0 else 0.0
    return sums
