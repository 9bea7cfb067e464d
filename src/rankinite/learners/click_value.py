"""ClickValue: the watched measure on clicks, debiased: what training stops by where nobody judged the validation queries."""

from __future__ import annotations

import math

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import GRADE, INDEX, Floats, frozen
from rankinite.gradients.base import query_weights
from rankinite.gradients.examination import Examination, shown_positions
from rankinite.measures.base import Measure
from rankinite.measures.ranking import rank_checked


class ClickValue:
    """The mean, over all clicks, of what the measure is where that click alone counts.

    A click at position k counts 1/t⁺_k times the weight of its query: were the estimate right, each document would count as
    often as if everything had been shown first. The weights are divided by their sum, so that a few clicks far down do not
    decide. For NDCG this is the mean discount of the ranks that the ranker gives to clicked documents.
    """

    def __init__(self, data: Dataset, measure: Measure) -> None:
        self._measure = measure
        clicks = np.flatnonzero(data.grades > 0)
        queries = data.query_of_row()[clicks]
        sizes = np.diff(data.offsets)[queries]
        self._offsets = frozen(np.concatenate((np.zeros(1, INDEX), np.cumsum(sizes))))
        shift = np.repeat(data.offsets[:-1][queries] - self._offsets[:-1], sizes)
        self._rows = shift + np.arange(self._offsets[-1])
        """The rows of a click's query, once for each of its clicks."""
        grades = np.zeros(len(self._rows), GRADE)
        places = self._offsets[:-1] + clicks - data.offsets[:-1][queries]
        grades[places] = data.grades[clicks]
        self._grades = frozen(grades)
        self._positions, self._weights = shown_positions(data)[clicks], query_weights(data)[queries]

    def __len__(self) -> int:
        return len(self._weights)

    def __call__(self, scores: Floats, examination: Examination) -> float:
        """The mean for these scores, one per row of the data."""
        ranking = rank_checked(scores[self._rows], self._grades, self._offsets, "expected", None)
        values = self._measure.per_query(ranking)
        weights = self._weights / examination.at(self._positions)
        known = np.isfinite(values)
        total = math.fsum(weights[known].tolist())
        return math.fsum((weights * values)[known].tolist()) / total if total else math.nan
