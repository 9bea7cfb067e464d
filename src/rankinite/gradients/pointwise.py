"""Losses of single rows: squared, logistic and multiclass; and differences, which are squared loss within each query.

Each gives the inputs of a leaf's Newton step, Σ push / Σ curvature: the push is the negative gradient of the cost by the score,
the curvature its second derivative. The formulas are in ``_point_kernels``.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.identity import kept_content_order
from rankinite.engine._math_kernels import logarithm
from rankinite.engine.kernel import SCORE, Floats, Reals, frozen
from rankinite.engine.over_members import gathered
from rankinite.engine.parallel import over_queries
from rankinite.errors import ArgumentError, DataError, listed
from rankinite.gradients import _point_kernels as _kernels
from rankinite.gradients.base import check_sigma, checked_scores, query_weights, weight_of_rows, weighted_mean
from rankinite.gradients.lambdas import one_grade_error, queries_that_vary
from rankinite.measures.gains import stopping_probability
from rankinite.plurals import counted

LOSSES = ("graded", "binary", "balanced")
"""The values of MART's ``loss`` that choose :class:`Logistic`."""
MOST_CLASSES = 50
"""More distinct grades than this are not classes but a quantity."""

Targets: TypeAlias = Literal["graded", "binary"]
"""What the probability of a row should be: (2^g − 1)/2^max_grade, or 1 from the lowest relevant grade on and 0 below."""


class SquaredLoss:
    """Cost ½(grade − score)²: the push is grade − score, the curvature 1. Starts from the mean grade."""

    outputs = 1

    def __init__(self, data: Dataset) -> None:
        check_judged(data)
        self._data, self._weights = data, query_weights(data)
        self.start: Floats = np.asarray([weighted_mean(data, data.grades, weight_of_rows(data))], SCORE)

    def __str__(self) -> str:
        return "squared loss"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows)."""
        data, scores = self._data, checked_scores(1, self._data.rows, scores, out_push, out_curvature)

        def work(first: int, last: int) -> None:
            rows = (data.grades, self._weights, data.offsets, first, last)
            _kernels.push_squared(scores, *rows, out_push, out_curvature)

        over_queries(work, data.offsets)


class Differences:
    """Cost ½((g_i − g_j) − (s_i − s_j))² for every pair of a query, divided by its number of documents.

    That is squared loss once grades and scores of a query have the mean 0: what no ranking sees costs nothing. The push is the
    row's grade less its score, less the mean of this over the query; the curvature is 1 − 1/n. Starts from 0.
    """

    outputs = 1

    def __init__(self, data: Dataset) -> None:
        check_judged(data)
        weights = query_weights(data)
        if not (queries_that_vary(data.grades, data.offsets) & (weights > 0)).any():
            raise one_grade_error(data)
        self._data = data
        self.start: Floats = np.zeros(1, SCORE)
        grades = frozen(data.grades.astype(SCORE))
        self.pairs = _kernels.Differing(kept_content_order(data), grades, data.offsets, weights)

    def __str__(self) -> str:
        return "squared loss of differences"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows). Pushes sum to 0 in each query, but for rounding."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)

        def work(first: int, last: int) -> None:
            _kernels.push_differences(self.pairs, scores[0], first, last, out_push[0], out_curvature[0])

        over_queries(work, self._data.offsets)


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
        check_judged(data)
        self._data, self._sigma = data, check_sigma(sigma)
        self._kind = f"{targets} {'balanced ' if balanced else ''}targets"
        chances = _graded_targets(data, max_grade) if targets == "graded" else _binary_targets(data, relevant)
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


def probability(scores: Floats, sigma: float) -> Floats:
    """P = 1/(1 + exp(−2σ·score)), one per row: the probabilities of scores that were trained on this loss."""
    chances = np.empty(len(scores), SCORE)
    _kernels.all_chances(frozen(np.ascontiguousarray(scores, SCORE)), check_sigma(sigma), chances)
    return chances


def _graded_targets(data: Dataset, max_grade: int) -> Floats:
    """The probabilities that ERR assigns to the grades (004, equation 2)."""
    lowest, highest = _lowest_and_highest(data, data.grades)
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


def _binary_targets(data: Dataset, relevant: float) -> Floats:
    chances = (data.grades >= relevant).astype(SCORE)
    lowest, highest = _lowest_and_highest(data, chances)
    if lowest == highest:
        side = "at least" if lowest else "below"
        raise DataError(
            f"all grades are {side} `relevant={relevant:g}`, so there is only one class",
            place=data.source,
            value=relevant,
            rule="Grades run from {:g} to {:g}".format(*_lowest_and_highest(data, data.grades)),
            remedy="Choose a `relevant=…` that parts them",
        )
    return chances


def _lowest_and_highest(data: Dataset, values: Reals) -> tuple[float, float]:
    """The lowest and the highest of one value per row, members included."""
    ends = gathered(data.members, np.asarray([values.min(), values.max()], SCORE))
    return float(ends.min()), float(ends.max())


class Multiclass:
    """Cost −log p of a row's own grade, where p is the softmax of its K scores, one for each grade in the data.

    The push on score k is y_k − p_k, with y_k = 1 for the row's own grade. The curvature is K/(K−1)·p_k(1−p_k), so that a leaf
    becomes (K−1)/K · Σ(y−p) / Σp(1−p), Friedman's. The second derivative alone is p(1−p). But adding the same to all K scores
    changes nothing, so one class may be held at 0 as the base; averaged over the K choices of that base, a Newton step of
    each class keeps K−1 of its K parts. (Friedman writes |r|(1−|r|) with r = y−p, which is p(1−p) for y = 0 and y = 1.)
    Starts from the logs of the shares of the grades, which minimise the cost among constants.
    """

    def __init__(self, data: Dataset) -> None:
        check_judged(data)
        levels, classes = np.unique(data.grades, return_inverse=True)
        if len(levels) < 2:
            raise DataError(
                f"all rows have grade {levels[0]:g}, so there are no classes",
                place=data.source,
                value=float(levels[0]),
                remedy="Give data with several grades",
            )
        if len(levels) > MOST_CLASSES:
            raise DataError(
                f"there are {len(levels)} different grades ({listed(levels.tolist(), 5)})",
                place=data.source,
                value=len(levels),
                rule=f"A class for each makes sense for at most {MOST_CLASSES}",
                remedy="Use squared loss, or map the grades to fewer levels",
            )
        self._data, self._classes, self._weights = data, frozen(classes.astype(np.int64)), query_weights(data)
        weights = weight_of_rows(data)
        shares = np.asarray([math.fsum(weights[classes == k].tolist()) for k in range(len(levels))]) / math.fsum(
            weights.tolist()
        )
        if not shares.all():
            raise DataError(
                f"grade {levels[np.argmin(shares)]:g} occurs only in queries of weight 0",
                place=data.source,
                value=float(levels[np.argmin(shares)]),
                remedy="Leave those queries out, or give them a weight",
            )
        self.grades: Floats = frozen(levels.astype(SCORE))
        """The grade of each class, rising."""
        self.start: Floats = np.asarray([logarithm(share) for share in shares.tolist()], SCORE)

    @property
    def outputs(self) -> int:
        """One score per class."""
        return len(self.grades)

    def __str__(self) -> str:
        return f"multiclass loss on {counted(self.outputs, 'grade')}"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row's K scores; all of shape (K, rows)."""
        data, scores = self._data, checked_scores(self.outputs, self._data.rows, scores, out_push, out_curvature)

        def work(first: int, last: int) -> None:
            rows = (self._classes, self._weights, data.offsets, first, last)
            _kernels.push_multiclass(scores, *rows, out_push, out_curvature)

        over_queries(work, data.offsets)
