"""Pairs of documents of different grades: the arrays of the one pair loop, which lambdas and RankNet share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import INDEX, Flags, Floats, Indices, Reals, RowNumbers, address, frozen
from rankinite.engine.parallel import over_queries
from rankinite.errors import DataError, MeasureError, quoted
from rankinite.gradients import _kernels
from rankinite.gradients._state import Graded
from rankinite.gradients.base import checked_scores, query_weights
from rankinite.measures import _swap_kernels
from rankinite.measures.base import Swap


@dataclass(frozen=True, eq=False)
class GradedPairs:
    """The pairs of every query and what swapping them is worth: all that stays the same while scores change.

    Documents are kept in the order of their content. It breaks ties of scores, so that the same rows in another order get
    the same pushes to the last bit.
    """

    data: Dataset
    rows: RowNumbers
    """The content order."""
    swap: Swap
    relevance: Floats
    """One per row, in content order."""
    discounts: Floats
    """One per rank of the longest query."""
    scales: Floats
    """One per query; 0 leaves it out."""
    sigma: float
    depth: int
    """Pairs count whose upper rank is below this."""
    normalise: bool
    what: str
    """The objective, for messages."""
    arrays: Graded = field(init=False)
    """The same for the kernels."""

    def __post_init__(self) -> None:
        starts = np.repeat(self.data.offsets[:-1], np.diff(self.data.offsets))
        arrays = Graded(
            prepare=address(self.swap.prepare, _swap_kernels.PREPARE),
            changes=address(self.swap.changes, _swap_kernels.CHANGES),
            rows=frozen(self.rows),
            grades=self.data.grades,
            relevance=frozen(self.relevance),
            offsets=self.data.offsets,
            discounts=self.discounts,
            scales=frozen(self.scales),
            weights=query_weights(self.data),
            sigma=self.sigma,
            depth=self.depth,
            normalise=self.normalise,
            order=np.arange(self.data.rows, dtype=INDEX) - starts,
        )
        object.__setattr__(self, "arrays", arrays)

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows)."""
        scores = checked_scores(1, self.data.rows, scores, out_push, out_curvature)

        def work(first: int, last: int) -> int:
            return _kernels.push_pairs(self.arrays, scores[0], first, last, out_push[0], out_curvature[0])

        strange = [query for query in over_queries(work, self.data.offsets) if query >= 0]
        if strange:
            self.refuse(scores[0], strange[0])

    def refuse(self, scores: Floats, query: int) -> NoReturn:
        """Raise the error of a query whose scores, or whose pushes, are not finite."""
        place = f"{self.data.source}, query {quoted(str(self.data.qids[query]))}"
        query_scores = scores[self.data.offsets[query] : self.data.offsets[query + 1]]
        if not np.isfinite(query_scores).all():
            strange = float(query_scores[~np.isfinite(query_scores)][0])
            raise DataError(
                f"a document has the score {strange}",
                place=place,
                value=strange,
                rule="Training needs finite scores",
                remedy="If they come from a base, choose one that scores every document",
            )
        raise MeasureError(
            "the pushes are not finite numbers",
            place=f"{self.what}: {place}",
            value=self.what,
            rule="The measure's swap changes must be finite",
            remedy="Where its gains are huge, map the grades to smaller ones",
        )


def differing(values: Reals, offsets: Indices) -> Flags:
    """One per query: whether it has two different values."""
    return np.maximum.reduceat(values, offsets[:-1]) > np.minimum.reduceat(values, offsets[:-1])


def one_grade_error(data: Dataset) -> DataError:
    """The error of data in which no query has documents of two grades."""
    return DataError(
        "there are no pairs to learn from: every query has documents of one grade only",
        place=data.source,
        value=data.queries,
        remedy="Give queries with documents of different grades; if the qid is wrong (one per row?), read the data with the "
        "right one, `qid=…`",
    )
