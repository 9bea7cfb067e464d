"""Pairs of documents of different grades: what stands around the one pair loop, which lambdas and RankNet share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import DataError, MeasureError
from rankinite.gradients import _kernels
from rankinite.gradients.base import checked_scores, query_weights
from rankinite.kernel import (
    ADDRESS,
    FLOAT,
    INDEX,
    INT,
    SCORE,
    TRUTH,
    Flags,
    Floats,
    Indices,
    Reals,
    address,
    array_type,
    compiled,
    frozen,
)
from rankinite.measures import _swap_kernels
from rankinite.measures.base import Swap
from rankinite.parallel import over_queries

_FLOATS, _FLOATS_IN = array_type(FLOAT), array_type(FLOAT, inputs=True)
_INDICES, _INDICES_IN = array_type(INT), array_type(INT, inputs=True)
_PUSH_PAIRS = INT(
    *(ADDRESS, ADDRESS),
    *(_FLOATS_IN, _INDICES_IN, _FLOATS_IN, _FLOATS_IN, _INDICES_IN, INT, INT),
    *(_FLOATS, _FLOATS_IN, _FLOATS_IN, FLOAT, INT, TRUTH),
    *(_INDICES, _FLOATS, _FLOATS),
)


@dataclass(frozen=True, eq=False)
class GradedPairs:
    """The pairs of every query and what swapping them is worth: all that stays the same while scores change.

    Documents are kept in the order of their content. It breaks ties of scores, so that the same rows in another order get
    the same pushes to the last bit.
    """

    data: Dataset
    rows: Indices
    """The content order."""
    swap: Swap
    relevance: Floats
    """One a row, in content order."""
    discounts: Floats
    """One a rank of the longest query."""
    scales: Floats
    """One a query; 0 leaves it out."""
    sigma: float
    depth: int
    """Pairs count whose upper rank is below this."""
    normalise: bool
    what: str
    """The objective, for messages."""
    grades: Floats = field(init=False)
    weights: Floats = field(init=False)
    order: Indices = field(init=False)
    """In content order: how the documents of each query were ranked at the last call, where the next one starts to sort."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "grades", frozen(self.data.grades[self.rows].astype(SCORE)))
        object.__setattr__(self, "weights", query_weights(self.data))
        starts = np.repeat(self.data.offsets[:-1], np.diff(self.data.offsets))
        object.__setattr__(self, "order", np.arange(self.data.rows, dtype=INDEX) - starts)

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows)."""
        data, scores = self.data, checked_scores(1, self.data.rows, scores, out_push, out_curvature)
        prepare = address(self.swap.prepare, _swap_kernels.PREPARE)
        changes = address(self.swap.changes, _swap_kernels.CHANGES)
        push_pairs = compiled(_kernels.push_pairs, _PUSH_PAIRS)

        def work(first: int, last: int) -> int:
            documents = (self.rows, self.grades, self.relevance, data.offsets, first, last)
            worth = (self.discounts, self.scales, self.weights, self.sigma, self.depth, self.normalise)
            return push_pairs(prepare, changes, scores[0], *documents, *worth, self.order, out_push[0], out_curvature[0])

        strange = [query for query in over_queries(work, data.offsets) if query >= 0]
        if strange:
            self._refuse(scores[0], strange[0])

    def _refuse(self, scores: Floats, query: int) -> None:
        qid, own = str(self.data.qids[query]), scores[self.data.offsets[query] : self.data.offsets[query + 1]]
        if not np.isfinite(own).all():
            raise DataError(
                f"{self.data.source}: query {qid!r} has a score of {own[~np.isfinite(own)][0]}. Training needs finite scores; "
                "if they come from a base, choose one that scores every document."
            )
        raise MeasureError(
            f"{self.what}: the pushes of query {qid!r} are not finite numbers. The measure's swap changes must be finite; "
            "where its gains are huge, map the grades to smaller ones."
        )


def differing(values: Reals, offsets: Indices) -> Flags:
    """One a query: whether it has two different values."""
    return np.maximum.reduceat(values, offsets[:-1]) > np.minimum.reduceat(values, offsets[:-1])


def one_grade_error(data: Dataset) -> DataError:
    """What to say when no query has documents of two grades."""
    return DataError(
        f"{data.source}: there are no pairs to learn from: each of the {data.queries} queries has documents of one grade only. "
        "Give queries with documents of different grades; if the qid is wrong (one a row?), read the data with the right one."
    )
