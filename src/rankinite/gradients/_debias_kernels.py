"""How prominently positions are looked at, from pairs of clicked and other documents, on plain arrays.

Sums are of whole units, so that neither threads nor the order of rows and queries matter.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Flags, Floats, Grades, Indices, Positions, kernel
from rankinite.gradients._point_kernels import sigmoid


@kernel
def count_doubts(
    grades: Grades,
    levels: Positions,
    weights: Floats,
    asked: Flags,
    offsets: Indices,
    scores: Floats,
    slope: float,
    units: float,
    fine_units: float,
    first: int,
    last: int,
    out_doubts: Indices,
    out_leans: Indices,
) -> None:
    """For every clicked document a and other document b of the queries first … last−1 that are ``asked``: ρ, that b is better.

    ρ = 1/(1 + exp(slope · x)) with x = s_a − s_b is added up in ``units`` to one, in ``out_doubts[0]`` at the levels of a and
    b, where b was clicked too also in ``out_doubts[1]``; shape (2, levels, levels). ``out_leans``, (4, levels, levels), has
    ρ·x for both, then ρ(1−ρ)·x² for both, in ``fine_units``. Clicked are documents of a grade above 0.
    """
    for query in range(first, last):
        if not asked[query]:
            continue
        weight = weights[query]
        for a in range(offsets[query], offsets[query + 1]):
            if not grades[a] > 0.0:
                continue
            for b in range(offsets[query], offsets[query + 1]):
                if levels[a] == levels[b]:
                    continue
                i, j, x = levels[a], levels[b], scores[a] - scores[b]
                chance = sigmoid(-slope * x)
                doubt = np.int64(np.rint(weight * chance * units))
                lean = np.int64(np.rint(weight * chance * x * fine_units))
                bend = np.int64(np.rint(weight * chance * (1.0 - chance) * x * x * fine_units))
                out_doubts[0, i, j] += doubt
                out_leans[0, i, j] += lean
                out_leans[2, i, j] += bend
                if grades[b] > 0.0:
                    out_doubts[1, i, j] += doubt
                    out_leans[1, i, j] += lean
                    out_leans[3, i, j] += bend


@kernel
def solve_balance(matrix: Floats, right: Floats) -> None:
    """Solve matrix · x = right by elimination, in place; ``right`` becomes x.

    No rows are exchanged: in every column the diagonal is at least as large as all else together. A level without any pairs
    keeps what is in ``right``.
    """
    n = len(right)
    for k in range(n):
        if not matrix[k, k] > 0.0:
            continue
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k, n):
                matrix[i, j] -= factor * matrix[k, j]
            right[i] -= factor * right[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            right[k] -= matrix[k, j] * right[j]
        if matrix[k, k] > 0.0:
            right[k] /= matrix[k, k]


@kernel
def count_pushes(
    push: Floats, curvature: Floats, levels: Positions, units: float, first: int, last: int, out_sums: Indices
) -> None:
    """Add up the pushes and curvatures of the rows first … last−1 by level, in ``units`` to one; shape (2, levels)."""
    for row in range(first, last):
        out_sums[0, levels[row]] += np.int64(np.rint(push[row] * units))
        out_sums[1, levels[row]] += np.int64(np.rint(curvature[row] * units))


@kernel
def add_biases(scores: Floats, levels: Positions, biases: Floats, out_scores: Floats) -> None:
    """The scores, shape (rows,), with the bias of each row's level."""
    for row in range(len(scores)):
        out_scores[row] = scores[row] + biases[levels[row]]
