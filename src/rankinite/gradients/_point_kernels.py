"""Losses of single rows, on plain arrays.

All kernels work on the queries first … last−1. ``weights`` has one entry per query, ``grades`` and ``targets`` one per row;
``scores``, ``out_push`` and ``out_curvature`` have shape (outputs, rows). Push is up: the negative gradient of the cost.
"""

from __future__ import annotations

from typing import NamedTuple

from rankinite.engine._math_kernels import LARGEST, exponential
from rankinite.engine.kernel import Floats, Grades, Indices, RowNumbers, kernel


class Differing(NamedTuple):
    """Numbers whose differences within queries are to be followed."""

    rows: RowNumbers
    """(rows,) the content order."""
    grades: Floats
    """(rows,) in the order of the data."""
    offsets: Indices
    """(queries + 1,)."""
    weights: Floats
    """(queries,)."""


@kernel
def sigmoid(x: float) -> float:
    """1/(1 + exp(−x)), without overflow for any x."""
    small = exponential(-min(abs(x), LARGEST))
    return 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)


@kernel
def chance(score: float, sigma: float) -> float:
    """The probability that a score stands for under logistic loss, P = sigmoid(2σ · score) (002 §6)."""
    return sigmoid(2.0 * sigma * score)


@kernel
def all_chances(scores: Floats, sigma: float, out_chances: Floats) -> None:
    """:func:`chance` of every score; both arrays have shape (rows,)."""
    for row in range(len(scores)):
        out_chances[row] = chance(scores[row], sigma)


@kernel
def push_squared(
    scores: Floats,
    grades: Grades,
    weights: Floats,
    offsets: Indices,
    first: int,
    last: int,
    out_push: Floats,
    out_curvature: Floats,
) -> None:
    """Cost ½(grade − score)²."""
    for query in range(first, last):
        weight = weights[query]
        for row in range(offsets[query], offsets[query + 1]):
            out_push[0, row] = weight * (grades[row] - scores[0, row])
            out_curvature[0, row] = weight


@kernel
def push_differences(
    differing: Differing, scores: Floats, first: int, last: int, out_push: Floats, out_curvature: Floats
) -> None:
    """Squared loss of what is left of grades and scores once each query's mean is taken away; all arrays have shape (rows,).

    Sums run in the order of content, so that not a bit depends on the order of the rows.
    """
    grades = differing.grades
    for query in range(first, last):
        rows = differing.rows[differing.offsets[query] : differing.offsets[query + 1]]
        weight, total = differing.weights[query], 0.0
        for row in rows:
            total += grades[row] - scores[row]
        mean = total / len(rows)
        for row in rows:
            out_push[row] = weight * (grades[row] - scores[row] - mean)
            out_curvature[row] = weight * (1.0 - 1.0 / len(rows))


@kernel
def push_logistic(
    scores: Floats,
    targets: Floats,
    row_weights: Floats,
    offsets: Indices,
    first: int,
    last: int,
    sigma: float,
    out_push: Floats,
    out_curvature: Floats,
) -> None:
    """Cost −P̄ log P − (1−P̄) log(1−P) with P the :func:`chance` of the score; ``row_weights`` has one entry per row."""
    for row in range(offsets[first], offsets[last]):
        weight, p = row_weights[row], chance(scores[0, row], sigma)
        out_push[0, row] = weight * 2.0 * sigma * (targets[row] - p)
        out_curvature[0, row] = weight * 4.0 * sigma * sigma * p * (1.0 - p)


@kernel
def push_multiclass(
    scores: Floats,
    classes: Indices,
    weights: Floats,
    offsets: Indices,
    first: int,
    last: int,
    out_push: Floats,
    out_curvature: Floats,
) -> None:
    """Cost −log p_class with p the softmax of a row's K scores; ``classes``: (rows,) numbers from 0 to K−1."""
    count = len(scores)
    for query in range(first, last):
        weight = weights[query]
        stiffness = weight * count / (count - 1.0)
        for row in range(offsets[query], offsets[query + 1]):
            highest = scores[0, row]
            for k in range(1, count):
                highest = max(highest, scores[k, row])
            total = 0.0
            for k in range(count):
                out_push[k, row] = exponential(max(scores[k, row] - highest, -LARGEST))
                total += out_push[k, row]
            for k in range(count):
                p = out_push[k, row] / total
                out_push[k, row] = weight * ((1.0 if classes[row] == k else 0.0) - p)
                out_curvature[k, row] = stiffness * p * (1.0 - p)
