"""RankNet: a cost for every pair of documents of which one should be above the other (paper 002 §2).

Pairs come from grades (``RankNetPairs``) or from judged preferences (``PreferencePairs``); ``pairs_of`` takes what there is.
"""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.identity import kept_content_order
from rankinite.engine.kernel import INDEX, SCORE, Floats, frozen
from rankinite.engine.over_members import is_any
from rankinite.engine.parallel import over_queries
from rankinite.errors import DataError
from rankinite.gradients import _pair_kernels
from rankinite.gradients.base import check_sigma, checked_scores, query_weights
from rankinite.gradients.lambdas import GradedPairs, one_grade_error, queries_that_vary
from rankinite.measures.base import Swap


class RankNetPairs(GradedPairs):
    """Cost log(1 + exp(−σ(s_i − s_j))) for every pair of a query with i graded above j: lambdas with ΔZ = 1. Starts from 0."""

    def __init__(self, data: Dataset, sigma: float = 1.0) -> None:
        check_judged(data)
        rows = kept_content_order(data)
        has_pairs = queries_that_vary(data.grades, data.offsets)
        if not is_any(data.members, (has_pairs & (query_weights(data) > 0)).any()):
            raise one_grade_error(data)
        longest = int(np.diff(data.offsets).max())
        super().__init__(
            data,
            rows=rows,
            swap=Swap(_pair_kernels.prepare_nothing, _pair_kernels.changes_one),
            relevance=data.grades[rows].astype(SCORE),
            discounts=np.ones(longest, SCORE),
            scales=has_pairs.astype(SCORE),
            sigma=sigma,
            depth=longest,
            normalise=False,
        )

    def __str__(self) -> str:
        return "RankNet's pairs of grades"


class PreferencePairs:
    """Cost −P̄ log P − (1−P̄) log(1−P) for every judged pair, where P = 1/(1 + exp(−σ(s_better − s_worse))).

    The push is σ(P̄ − P) for the one called better and its opposite for the other; both get the curvature σ²P(1−P). Judges may
    contradict each other: every pair counts as often as it occurs. Pairs are summed in the order of their documents'
    content, so the order of the list, or of the rows, does not matter: where rows are alike in everything, up to rounding.
    Starts from 0.
    """

    outputs = 1

    def __init__(self, data: Dataset, sigma: float = 1.0) -> None:
        self._data = data
        self.start: Floats = np.zeros(1, SCORE)
        judged = data.preferences
        if judged is None:
            raise DataError(
                "the data have no preferences",
                place=data.source,
                value=0,
                remedy="Read them with rankinite.read_preferences and add them by data.with_preferences(…), or learn from the "
                "grades",
                shell_remedy="Give them with --preferences, or learn from the grades",
            )
        rows, weights = kept_content_order(data), query_weights(data)
        place = np.empty(data.rows, INDEX)
        place[rows] = np.arange(data.rows)
        # Content places rise from query to query, so this order goes query by query.
        order = np.lexsort((judged.probability, place[judged.worse], place[judged.better]))
        order = order[judged.better[order] != judged.worse[order]]  # a document against itself teaches nothing
        queries = data.query_of_row()[judged.better[order]]
        if not weights[queries].any():
            raise DataError(
                f"there are no pairs to learn from: of {len(judged)} preferences none is between two documents of a query "
                "with a weight",
                place=data.source,
                value=len(judged),
                remedy="Give some, or give their queries a weight",
            )
        self.pairs = _pair_kernels.JudgedPairs(
            rows=rows,
            better=frozen(judged.better[order]),
            worse=frozen(judged.worse[order]),
            probability=frozen(judged.probability[order]),
            pair_offsets=frozen(np.searchsorted(queries, np.arange(data.queries + 1)).astype(INDEX)),
            offsets=data.offsets,
            weights=weights,
            sigma=check_sigma(sigma),
        )

    def __str__(self) -> str:
        return "RankNet's pairs of preferences"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows). They sum to 0 in each query, but for rounding."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)

        def work(first: int, last: int) -> None:
            _pair_kernels.push_preferences(self.pairs, scores[0], first, last, out_push[0], out_curvature[0])

        over_queries(work, self._data.offsets)


def pairs_of(data: Dataset, sigma: float) -> RankNetPairs | PreferencePairs:
    """Pairs from the preferences that the data carry, or else from their grades."""
    return RankNetPairs(data, sigma) if data.preferences is None else PreferencePairs(data, sigma)
