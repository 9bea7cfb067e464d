"""λ-gradients: pairs pushed apart by what swapping them does to a measure (papers 002 §4 and §7, 000 §3).

``GradedPairs`` hands what stays the same while scores change to the one pair loop, ``_pair_kernels.sum_pairs``; ``Lambdas``
gives it the swap changes of a measure. RankNet, whose pairs all count alike, is in ``ranknet``.
"""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.identity import kept_content_order
from rankinite.engine.kernel import INDEX, SCORE, Flags, Floats, Indices, Reals, RowNumbers, address, frozen
from rankinite.engine.over_members import is_any
from rankinite.engine.parallel import over_queries
from rankinite.errors import ArgumentError, DataError, MeasureError, quoted
from rankinite.gradients import _pair_kernels
from rankinite.gradients.base import check_sigma, checked_scores, query_weights
from rankinite.measures import _swap_kernels
from rankinite.measures.base import Swap, TrainableMeasure, require_trainable, scales_of
from rankinite.measures.data_grades import naming_bad_grades


class GradedPairs:
    """An objective on the pairs of documents of a query that have different grades. Starts from 0.

    Documents are kept in the order of their content. It breaks ties of scores, so that the same rows in another order get
    the same pushes to the last bit.

    ``rows``: the content order; ``relevance``: one per row, in this order; ``discounts``: one per rank of the longest query;
    ``scales``: one per query, 0 leaves it out; ``depth``: pairs count whose upper rank is below this.
    """

    outputs = 1

    def __init__(
        self,
        data: Dataset,
        *,
        rows: RowNumbers,
        swap: Swap,
        relevance: Floats,
        discounts: Floats,
        scales: Floats,
        sigma: float,
        depth: int,
        normalise: bool,
    ) -> None:
        self._data = data
        self.start: Floats = np.zeros(1, SCORE)
        self.pairs = _pair_kernels.Graded(
            prepare=address(swap.prepare, _swap_kernels.PREPARE),
            changes=address(swap.changes, _swap_kernels.CHANGES),
            rows=frozen(rows),
            grades=data.grades,
            relevance=frozen(relevance),
            offsets=data.offsets,
            discounts=discounts,
            scales=frozen(scales),
            weights=query_weights(data),
            sigma=check_sigma(sigma),
            depth=depth,
            normalise=normalise,
            order=np.arange(data.rows, dtype=INDEX) - np.repeat(data.offsets[:-1], np.diff(data.offsets)),
        )
        """What the kernels take."""

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows). They sum to 0 in each query, but for rounding."""
        scores = checked_scores(1, self._data.rows, scores, out_push, out_curvature)

        def work(first: int, last: int) -> int:
            return _pair_kernels.push_pairs(self.pairs, scores[0], first, last, out_push[0], out_curvature[0])

        strange = [query for query in over_queries(work, self._data.offsets) if query >= 0]
        if strange:
            raise self.not_finite_error(scores[0], strange[0])

    def not_finite_error(self, scores: Floats, query: int) -> DataError | MeasureError:
        """The error of a query whose scores, or whose pushes, are not finite."""
        data = self._data
        place = f"{data.source}, query {quoted(str(data.qids[query]))}"
        query_scores = scores[data.offsets[query] : data.offsets[query + 1]]
        if not np.isfinite(query_scores).all():
            strange = float(query_scores[~np.isfinite(query_scores)][0])
            return DataError(
                f"a document has the score {strange}",
                place=place,
                value=strange,
                rule="Training needs finite scores",
                remedy="If they come from a base, choose one that scores every document",
            )
        return MeasureError(
            "the pushes are not finite numbers",
            place=f"{self}: {place}",
            value=str(self),
            rule="The measure's swap changes must be finite",
            remedy="Where its gains are huge, map the grades to smaller ones",
        )


class Lambdas(GradedPairs):
    """For each pair of a query with i graded above j: ρ = 1/(1 + exp(σ(s_i − s_j))), push i up and j down by σρ|ΔZ|.

    Both get the curvature σ²ρ(1−ρ)|ΔZ|. |ΔZ| is the change of the measure when the two swap ranks; tied documents are ranked
    by their content. Queries on which the measure is undefined push nothing. Starts from 0.

    ``truncation`` leaves out the pairs whose upper document is ranked at or below it; a measure's cutoff does that by itself.

    ``normalise`` is LightGBM's ``lambdarank_norm``: in a query whose scores are not all equal, |ΔZ| of each pair is divided by
    0.01 + |s_i − s_j|; then pushes and curvatures of the query are multiplied by log2(1 + S)/S, where S sums the pushes of all
    pairs, up and down. σ then no longer merely scales the scores, as the distance 0.01 has a unit.

    ``rows``: the order of rows that breaks ties, where it is not that of their content alone.
    """

    def __init__(
        self,
        data: Dataset,
        measure: TrainableMeasure,
        sigma: float = 1.0,
        truncation: int | None = None,
        *,
        normalise: bool = False,
        rows: RowNumbers | None = None,
    ) -> None:
        self._measure = require_trainable(measure)
        whole: object = truncation  # users may pass anything
        if truncation is not None and (not isinstance(whole, int) or isinstance(whole, bool) or whole < 1):
            raise ArgumentError(
                "is not a number of ranks",
                setting="truncation",
                value=whole,
                rule="It must be a whole number from 1 on",
                remedy="Leave it out for all ranks",
            )
        check_judged(data)
        rows = kept_content_order(data) if rows is None else rows
        grades = data.grades[rows]
        with naming_bad_grades(data, measure):
            relevance = np.ascontiguousarray(measure.relevance(grades), SCORE)
            if relevance.shape != grades.shape or not np.isfinite(relevance).all():
                raise MeasureError(
                    f"the relevance of {len(grades)} grades has shape {relevance.shape}, or is not finite",
                    place=measure,
                    value=relevance.shape,
                    rule="The relevance of a grade must be one finite number",
                )
        longest = int(np.diff(data.offsets).max())
        seen = measure.discounts(longest)
        discounts = np.zeros(longest, SCORE)
        discounts[: len(seen)] = seen
        depth = int(np.flatnonzero(discounts).max(initial=-1)) + 1
        super().__init__(
            data,
            rows=rows,
            swap=measure.swap,
            relevance=relevance,
            discounts=discounts,
            scales=_scales(data, measure, relevance, seen),
            sigma=sigma,
            depth=depth if truncation is None else min(depth, truncation),
            normalise=normalise,
        )

    def __str__(self) -> str:
        return f"lambdas of {self._measure}"


def _scales(data: Dataset, measure: TrainableMeasure, relevance: Floats, discounts: Floats) -> Floats:
    """The scale of each query, 0 where no swap changes the measure; refuses data where that is so everywhere."""
    scales = scales_of(measure, relevance, data.offsets, discounts)
    scales[~np.isfinite(scales) | ~queries_that_vary(relevance, data.offsets)] = 0.0
    weights = data.weights
    if not is_any(data.members, (scales if weights is None else scales * weights).any()):
        if not is_any(data.members, queries_that_vary(data.grades, data.offsets).any()):
            raise one_grade_error(data)
        raise DataError(
            f"there are no pairs to learn from: in every query all documents are worth the same to {measure}, or it is "
            "undefined on the query, or the query weighs 0",
            place=data.source,
            value=str(measure),
            rule=f"Grades run from {data.grades.min():g} to {data.grades.max():g}",
            remedy="Choose a measure that tells the grades apart (its lowest relevant grade, its gains), or other weights",
        )
    return scales


def queries_that_vary(values: Reals, offsets: Indices) -> Flags:
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
