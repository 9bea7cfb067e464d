"""Squared loss: regression on the grades (MART, papers 002 §5 and 003 §3)."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.engine.kernel import SCORE, Floats
from rankinite.engine.parallel import over_queries
from rankinite.gradients import _point_kernels as _kernels
from rankinite.gradients.base import checked_scores, query_weights, weight_of_rows, weighted_mean


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
