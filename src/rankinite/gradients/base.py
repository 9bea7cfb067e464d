"""Objective: what a loss promises to the learners, and the few pieces losses are built from.

An objective is bound to its training data when it is made, and refuses data it cannot learn from then. To add one of your
own, write a class with the members of :class:`Objective`.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import SCORE, Floats, Reals, frozen
from rankinite.engine.over_members import exact_sum, is_any
from rankinite.errors import ArgumentError, DataError


class Objective(Protocol):
    """A loss that tells, for any scores, where each row's score should go."""

    @property
    def outputs(self) -> int:
        """Scores per row: one, or one per class."""
        ...

    @property
    def start(self) -> Floats:
        """The scores training starts from without a base, shape (outputs,)."""
        ...

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Fill in the push (positive = up: the negative gradient of the cost) and the curvature (≥ 0) of every score.

        All three have shape (outputs, rows), C-contiguous, float64. The weight of a query multiplies both.
        """
        ...


def check_sigma(sigma: float) -> float:
    """σ as a float; refuses what is no positive number."""
    if not (math.isfinite(sigma) and sigma > 0):
        raise ArgumentError("is no slope of a sigmoid", setting="sigma", value=sigma, rule="It must be a positive number")
    return float(sigma)


def query_weights(data: Dataset) -> Floats:
    """One weight per query, 1 where the data have none; refuses data in which no query counts."""
    if data.weights is None:
        return frozen(np.ones(data.queries, SCORE))
    if not is_any(data.members, data.weights.any()):
        raise DataError(
            "the weights of all queries are 0, so there is nothing to learn from",
            place=data.source,
            value=0.0,
            remedy="Give some queries a weight above 0",
        )
    return data.weights


def weight_of_rows(data: Dataset) -> Floats:
    """The weight of each row's query."""
    return np.repeat(query_weights(data), np.diff(data.offsets))


def weighted_mean(data: Dataset, values: Reals, weights: Floats) -> float:
    """The weighted mean of one value per row of the data, members included.

    Its sums are exact before they are rounded, so that neither the order of the rows nor who has them matters.
    """
    return exact_sum(data.members, (values * weights).tolist()) / exact_sum(data.members, weights.tolist())


def checked_scores(outputs: int, rows: int, scores: Floats, out_push: Floats, out_curvature: Floats) -> Floats:
    """The scores as kernels take them; refuses arrays of another shape, which kernels would overrun."""
    for name, array in (("scores", scores), ("out_push", out_push), ("out_curvature", out_curvature)):
        if array.shape != (outputs, rows) or array.dtype != SCORE or not array.flags.c_contiguous:
            raise ArgumentError(
                f"the array has shape {array.shape} and type {array.dtype}",
                place=name,
                value=array.shape,
                rule=f"This objective needs contiguous float64 of shape {(outputs, rows)}: one row of numbers for each score "
                "of a document",
            )
    return frozen(scores)
