"""RankNet's pairs from grades (paper 002 §2)."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.identity import kept_content_order
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.engine.over_members import is_any
from rankinite.gradients import _kernels
from rankinite.gradients.base import check_sigma, query_weights
from rankinite.gradients.pairs import GradedPairs, differing, one_grade_error
from rankinite.gradients.preferences import PreferencePairs
from rankinite.measures.base import Swap


class RankNetPairs:
    """Cost log(1 + exp(−σ(s_i − s_j))) for every pair of a query with i graded above j: lambdas with ΔZ = 1. Starts from 0."""

    outputs = 1

    def __init__(self, data: Dataset, sigma: float = 1.0) -> None:
        check_judged(data)
        rows = kept_content_order(data)
        pairs = differing(data.grades, data.offsets)
        if not is_any(data.members, (pairs & (query_weights(data) > 0)).any()):
            raise one_grade_error(data)
        longest = int(np.diff(data.offsets).max())
        self.start: Floats = np.zeros(1, SCORE)
        self.pairs = GradedPairs(
            data=data,
            rows=rows,
            swap=Swap(_kernels.prepare_nothing, _kernels.changes_one),
            relevance=frozen(data.grades[rows].astype(SCORE)),
            discounts=np.ones(longest, SCORE),
            scales=frozen(pairs.astype(SCORE)),
            sigma=check_sigma(sigma),
            depth=longest,
            normalise=False,
            what=str(self),
        )

    def __str__(self) -> str:
        return "RankNet's pairs of grades"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows). They sum to 0 in each query, but for rounding."""
        self.pairs.gradients(scores, out_push, out_curvature)


def pairs_of(data: Dataset, sigma: float) -> RankNetPairs | PreferencePairs:
    """Pairs from the preferences that the data carry, or else from their grades."""
    return RankNetPairs(data, sigma) if data.preferences is None else PreferencePairs(data, sigma)
