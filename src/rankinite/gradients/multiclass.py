"""Multiclass loss on the grades: what McRank boosts."""

from __future__ import annotations

import math

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.engine._math_kernels import logarithm
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.engine.parallel import over_queries
from rankinite.errors import DataError, listed
from rankinite.gradients import _point_kernels as _kernels
from rankinite.gradients.base import checked_scores, query_weights, weight_of_rows
from rankinite.plurals import counted

MOST = 50
"""More distinct grades than this are not classes but a quantity."""


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
        if len(levels) > MOST:
            raise DataError(
                f"there are {len(levels)} different grades ({listed(levels.tolist(), 5)})",
                place=data.source,
                value=len(levels),
                rule=f"A class for each makes sense for at most {MOST}",
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
