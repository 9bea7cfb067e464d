"""λ-gradients: pairs pushed apart by what swapping them does to a measure (papers 002 §4 and §7, 000 §3)."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.identity import kept_content_order
from rankinite.engine.kernel import SCORE, Floats, Grades, RowNumbers, frozen
from rankinite.engine.over_members import is_any
from rankinite.errors import ArgumentError, DataError, MeasureError
from rankinite.gradients.base import check_sigma
from rankinite.gradients.pairs import GradedPairs, differing, one_grade_error
from rankinite.measures.base import TrainableMeasure, require_trainable, scales_of
from rankinite.measures.data_grades import naming_bad_grades


class Lambdas:
    """For each pair of a query with i graded above j: ρ = 1/(1 + exp(σ(s_i − s_j))), push i up and j down by σρ|ΔZ|.

    Both get the curvature σ²ρ(1−ρ)|ΔZ|. |ΔZ| is the change of the measure when the two swap ranks; tied documents are ranked
    by their content. Queries on which the measure is undefined push nothing. Starts from 0.

    ``truncation`` leaves out the pairs whose upper document is ranked at or below it; a measure's cutoff does that by itself.

    ``normalise`` is LightGBM's ``lambdarank_norm``: in a query whose scores are not all equal, |ΔZ| of each pair is divided by
    0.01 + |s_i − s_j|; then pushes and curvatures of the query are multiplied by log2(1 + S)/S, where S sums the pushes of all
    pairs, up and down. σ then no longer merely scales the scores, as the distance 0.01 has a unit.

    ``rows``: the order of rows that breaks ties, where it is not that of their content alone.
    """

    outputs = 1

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
        measure = require_trainable(measure)
        check_truncation(truncation)
        check_judged(data)
        self._measure = measure
        self.start: Floats = np.zeros(1, SCORE)
        rows = kept_content_order(data) if rows is None else rows
        longest = int(np.diff(data.offsets).max())
        seen = measure.discounts(longest)
        with naming_bad_grades(data, measure):
            relevance = _relevance(measure, data.grades[rows])
        discounts = np.zeros(longest, SCORE)
        discounts[: len(seen)] = seen
        depth = int(np.flatnonzero(discounts).max(initial=-1)) + 1
        self.pairs = GradedPairs(
            data=data,
            rows=rows,
            swap=measure.swap,
            relevance=relevance,
            discounts=discounts,
            scales=_scales(data, measure, relevance, seen),
            sigma=check_sigma(sigma),
            depth=depth if truncation is None else min(depth, truncation),
            normalise=normalise,
            what=str(self),
        )

    def __str__(self) -> str:
        return f"lambdas of {self._measure}"

    def gradients(self, scores: Floats, out_push: Floats, out_curvature: Floats) -> None:
        """Push and curvature of every row; all of shape (1, rows). They sum to 0 in each query, but for rounding."""
        self.pairs.gradients(scores, out_push, out_curvature)


def check_truncation(truncation: int | None) -> None:
    """Refuse what is not a number of ranks."""
    whole: object = truncation  # users may pass anything
    if truncation is not None and (not isinstance(whole, int) or isinstance(whole, bool) or whole < 1):
        raise ArgumentError(
            "is not a number of ranks",
            setting="truncation",
            value=whole,
            rule="It must be a whole number from 1 on",
            remedy="Leave it out for all ranks",
        )


def _relevance(measure: TrainableMeasure, grades: Grades) -> Floats:
    values = np.ascontiguousarray(measure.relevance(grades), SCORE)
    if values.shape != grades.shape or not np.isfinite(values).all():
        raise MeasureError(
            f"the relevance of {len(grades)} grades has shape {values.shape}, or is not finite",
            place=measure,
            value=values.shape,
            rule="The relevance of a grade must be one finite number",
        )
    return frozen(values)


def _scales(data: Dataset, measure: TrainableMeasure, relevance: Floats, discounts: Floats) -> Floats:
    """The scale of each query, 0 where no swap changes the measure; refuses data where that is so everywhere."""
    scales = scales_of(measure, relevance, data.offsets, discounts)
    scales[~np.isfinite(scales) | ~differing(relevance, data.offsets)] = 0.0
    weights = data.weights
    if not is_any(data.members, (scales if weights is None else scales * weights).any()):
        if not is_any(data.members, differing(data.grades, data.offsets).any()):
            raise one_grade_error(data)
        raise DataError(
            f"there are no pairs to learn from: in every query all documents are worth the same to {measure}, or it is "
            "undefined on the query, or the query weighs 0",
            place=data.source,
            value=str(measure),
            rule=f"Grades run from {data.grades.min():g} to {data.grades.max():g}",
            remedy="Choose a measure that tells the grades apart (its lowest relevant grade, its gains), or other weights",
        )
    return frozen(scales)
