"""How prominently positions are looked at, from what was clicked and what was not, on plain arrays.

Sums are of whole units, so that neither threads nor the order of rows and queries matter.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine._math_kernels import logarithm
from rankinite.engine.kernel import Flags, Floats, Grades, Indices, Positions, kernel
from rankinite.gradients._point_kernels import sigmoid

CERTAIN, UNLIKELY = 0.999, 1e-12
"""Bounds of a click's probability, so that no row counts without end."""


@kernel
def likely_click(score: float, clicked: float) -> tuple[float, float]:
    """The probability m = t⁺/(1 + exp(−score)) of a click, at most ``CERTAIN``, and 1 − r, where r is its second factor."""
    relevance = sigmoid(score)
    return min(clicked * relevance, CERTAIN), 1.0 - relevance


@kernel
def push_clicks(
    scores: Floats,
    clicks: Grades,
    row_weights: Floats,
    levels: Positions,
    clicked: Floats,
    held: Flags,
    first: int,
    last: int,
    out_push: Floats,
    out_curvature: Floats,
) -> None:
    """Cost −c log m − (1−c) log(1−m) of the rows first … last−1; c is their share of clicks. ``held`` ones get 0."""
    for row in range(first, last):
        if held[row]:
            out_push[0, row], out_curvature[0, row] = 0.0, 0.0
            continue
        m, rest = likely_click(scores[0, row], clicked[int(levels[row])])
        odds, c, weight = m / (1.0 - m), clicks[row], row_weights[row]
        out_push[0, row] = weight * rest * (c - (1.0 - c) * odds)
        out_curvature[0, row] = weight * rest * rest * odds


@kernel
def add_up_clicks(
    scores: Floats,
    clicks: Grades,
    row_weights: Floats,
    levels: Positions,
    clicked: Floats,
    held: Flags,
    line: tuple[float, float],
    units: float,
    first: int,
    last: int,
    out_sums: Indices,
) -> None:
    """What a step of Fisher scoring needs, from the rows first … last−1 that are ``held``, by level; shape (10, levels).

    A score x, of the shape (rows,), stands for the log-odds a + b·x, with (a, b) the ``line``. Along log t⁺, a and b, log m has
    the slopes u = (1, 1−r, (1−r)x). The sums are those of the log-likelihood, of its slopes e·u with e = c − (1−c)·m/(1−m),
    and of the expected curvature m/(1−m)·u·uᵀ, its upper triangle by rows. They are in ``units`` to one.
    """
    intercept, slope = line
    for row in range(first, last):
        if not held[row]:
            continue
        level, c, x = int(levels[row]), clicks[row], scores[row]
        m, rest = likely_click(intercept + slope * x, clicked[level])
        odds = m / (1.0 - m)
        along = rest * x
        weight = units * row_weights[row]
        value = c * logarithm(max(m, UNLIKELY)) + (1.0 - c) * logarithm(1.0 - m)
        error = weight * (c - (1.0 - c) * odds)
        stiff = weight * odds
        out_sums[0, level] += np.int64(np.rint(weight * value))
        out_sums[1, level] += np.int64(np.rint(error))
        out_sums[2, level] += np.int64(np.rint(error * rest))
        out_sums[3, level] += np.int64(np.rint(error * along))
        out_sums[4, level] += np.int64(np.rint(stiff))
        out_sums[5, level] += np.int64(np.rint(stiff * rest))
        out_sums[6, level] += np.int64(np.rint(stiff * along))
        out_sums[7, level] += np.int64(np.rint(stiff * rest * rest))
        out_sums[8, level] += np.int64(np.rint(stiff * rest * along))
        out_sums[9, level] += np.int64(np.rint(stiff * along * along))


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
