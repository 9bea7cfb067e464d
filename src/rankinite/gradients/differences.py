"""Squared loss of differences: scores that follow real numbers within each query, such as a teacher's scores."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.identity import kept_content_order
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.engine.parallel import over_queries
from rankinite.gradients import _point_kernels as _kernels
from rankinite.gradients._state import Differing
from rankinite.gradients.base import checked_scores, query_weights
from rankinite.gradients.pairs import differing, one_grade_error


class Differences:
    """Cost ½((g_i − g_j) − (s_i − s_j))² for every pair of a query, divided by its number of documents.

    That is squared loss once grades and scores of a query have the mean 0: what no ranking sees costs nothing. The push is the
    row's grade less its score, less the mean of this over the query; the curvature is 1 − 1/n. Starts from 0.
    """

    outputs = 1

    def __init__(self, data: Dataset) -> None:
        check_judged(data)
        weights = query_weights(data)
        if not (differing(data.grades, data.offsets) & (weights > 0)).any():
            raise one_grade_error(data)
        self._data = data
        self.start: Floats = np.zeros(1, SCORE)
        grades = frozen(data.grades.astype(SCORE))
        self.pairs = Differing(kept_content_order(data), grades, data.offsets, weights)

    def __str__(self) -> str:
        return "squared loss of differences"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows). Pushes sum to 0 in each query, but for rounding."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)

        def work(first: int, last: int) -> None:
            _kernels.push_differences(self.pairs, scores[0], first, last, out_push[0], out_curvature[0])

        over_queries(work, self._data.offsets)
