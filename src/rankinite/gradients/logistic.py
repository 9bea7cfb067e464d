"""Logistic loss on two classes or on graded probabilities (papers 002 §6 and 004 §4.2)."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.engine._math_kernels import logarithm
from rankinite.engine.kernel import SCORE, Floats, Reals, frozen
from rankinite.engine.over_members import gathered
from rankinite.engine.parallel import over_queries
from rankinite.errors import ArgumentError, DataError
from rankinite.gradients import _point_kernels as _kernels
from rankinite.gradients.base import check_sigma, checked_scores, weight_of_rows, weighted_mean
from rankinite.measures.gains import stopping_probability

Targets: TypeAlias = Literal["graded", "binary"]
"""What the probability of a row should be: (2^g − 1)/2^max_grade, or 1 from the lowest relevant grade on and 0 below."""


LOSSES = ("graded", "binary", "balanced")
"""The values of MART's ``loss`` that choose this cost."""


def probability(scores: Floats, sigma: float) -> Floats:
    """P = 1/(1 + exp(−2σ·score)), one per row: the probabilities of scores that were trained on this loss."""
    chances = np.empty(len(scores), SCORE)
    _kernels.all_chances(frozen(np.ascontiguousarray(scores, SCORE)), check_sigma(sigma), chances)
    return chances


class Logistic:
    """Cost −P̄ log P − (1−P̄) log(1−P), where P = 1/(1 + exp(−2σ·score)) and P̄ is the row's target.

    The push is 2σ(P̄ − P), the curvature 4σ²P(1−P). Starts from the constant that minimises the cost: there Σ(P̄ − P) = 0, so P
    is the mean target and the score log(P/(1−P))/2σ, which for two classes is Friedman's ½ log-odds.

    ``balanced`` (002 §6.1, two classes only) weights the rows of the n₊ relevant and n₋ other ones by n/2n₊ and n/2n₋, so
    that both classes count alike; it starts from 0.
    """

    outputs = 1

    def __init__(
        self,
        data: Dataset,
        targets: Targets = "graded",
        sigma: float = 1.0,
        *,
        balanced: bool = False,
        max_grade: int = 4,
        relevant: float = 1.0,
    ) -> None:
        _check_targets(targets, balanced=balanced)
        check_judged(data)
        self._data, self._sigma = data, check_sigma(sigma)
        self._kind = f"{targets} {'balanced ' if balanced else ''}targets"
        chances = _graded(data, max_grade) if targets == "graded" else _binary(data, relevant)
        weights = weight_of_rows(data)
        mean = weighted_mean(data, chances, weights)
        if not 0.0 < mean < 1.0:
            raise DataError(
                f"among the rows with a weight all targets are {mean:g}, so there are no two classes to tell apart",
                place=data.source,
                value=mean,
                remedy="Give other weights",
            )
        if balanced:
            weights = weights / np.where(chances > 0.0, 2.0 * mean, 2.0 * (1.0 - mean))
        odds = 0.0 if balanced else logarithm(mean / (1.0 - mean))
        self.start: Floats = np.asarray([odds / (2.0 * self._sigma)], SCORE)
        self._targets, self._weights = frozen(chances), frozen(weights)

    def __str__(self) -> str:
        return f"logistic loss on {self._kind}"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows)."""
        offsets, scores = self._data.offsets, checked_scores(1, self._data.rows, scores, out_push, out_curvature)

        def work(first: int, last: int) -> None:
            rows = (self._targets, self._weights, offsets, first, last)
            _kernels.push_logistic(scores, *rows, self._sigma, out_push, out_curvature)

        over_queries(work, offsets)


def _check_targets(targets: Targets, *, balanced: bool) -> None:
    """Refuse targets that are unknown, or that have no two classes to balance."""
    if targets not in get_args(Targets):
        raise ArgumentError(
            "is unknown",
            owner="Logistic",
            setting="targets",
            value=targets,
            rule=f"Known are {', '.join(get_args(Targets))}",
        )
    if balanced and targets != "binary":
        raise ArgumentError(
            "weights two classes",
            owner="Logistic",
            setting="balanced",
            value=balanced,
            remedy="Give `targets='binary'` with it",
        )


def _graded(data: Dataset, max_grade: int) -> Floats:
    """The probabilities that ERR assigns to the grades (004, equation 2)."""
    lowest, highest = _ends(data, data.grades)
    if max_grade not in range(1, 1024):
        raise ArgumentError(
            "is not the highest grade of a scale",
            setting="max_grade",
            value=max_grade,
            rule="It must be a whole number from 1 on",
        )
    if lowest < 0 or highest > max_grade:
        wrong, remedy = (lowest, "M") if lowest < 0 else (highest, f"Give `max_grade={math.ceil(highest)}`, or m")
        raise DataError(
            f"grade {wrong:g} is outside 0 … {max_grade}, the scale of the graded targets",
            place=data.source,
            value=wrong,
            remedy=f"{remedy}ap the grades to that scale",
        )
    if lowest == highest:
        raise DataError(
            f"all rows have grade {lowest:g}, so there is nothing to tell apart",
            place=data.source,
            value=lowest,
            remedy="Give data with several grades",
        )
    return stopping_probability(data.grades, max_grade)


def _binary(data: Dataset, relevant: float) -> Floats:
    """1 for relevant rows, else 0."""
    chances = (data.grades >= relevant).astype(SCORE)
    lowest, highest = _ends(data, chances)
    if lowest == highest:
        side = "at least" if lowest else "below"
        raise DataError(
            f"all grades are {side} `relevant={relevant:g}`, so there is only one class",
            place=data.source,
            value=relevant,
            rule="Grades run from {:g} to {:g}".format(*_ends(data, data.grades)),
            remedy="Choose a `relevant=…` that parts them",
        )
    return chances


def _ends(data: Dataset, values: Reals) -> tuple[float, float]:
    """The lowest and the highest of one value per row, members included."""
    ends = gathered(data.members, np.asarray([values.min(), values.max()], SCORE))
    return float(ends.min()), float(ends.max())
