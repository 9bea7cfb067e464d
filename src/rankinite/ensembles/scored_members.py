"""ScoredMembers: the members of an ensemble by their scores on judged data, and averages of some of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import FEATURE, Floats, Indices
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import Scorer, scores_of
from rankinite.measures.base import Measure, sign_of
from rankinite.models.feature import Feature


@dataclass(frozen=True, eq=False)
class ScoredMembers:
    """Members that share a scale, each one feature of the judged data: so whatever combines rankers combines them."""

    names: tuple[str, ...]
    data: Dataset
    """The judged queries; feature k is the score of member k."""

    @classmethod
    def of(cls, rankers: Mapping[str, Scorer], data: Dataset) -> ScoredMembers:
        """Score the data with every member."""
        if len(rankers) < 2:
            raise ArgumentError("there are fewer than two members", value=list(rankers), remedy="Give at least two, by name")
        scores = np.column_stack([scores_of(ranker, data, name) for name, ranker in rankers.items()])
        names = tuple(rankers)
        return cls(names, replace(data, features=scores.astype(FEATURE), feature_names=names))

    @property
    def rankers(self) -> dict[str, Feature]:
        """The members as rankers of ``data``."""
        return {name: Feature(number) for number, name in enumerate(self.names)}

    def of_queries(self, queries: Indices) -> ScoredMembers:
        """The same members on some of the queries."""
        return replace(self, data=self.data.select_queries(queries))

    def average(self, names: Iterable[str]) -> Floats:
        """The mean score of some members, one per row."""
        columns = [self.names.index(name) for name in names]
        return self.data.in_row_order(self.data.features[:, columns].mean(axis=1, dtype=float))

    def value(self, names: Sequence[str], measure: Measure) -> float:
        """The measure of the average of some members; higher is better."""
        return sign_of(measure) * evaluate(self.average(names), self.data, [measure])[measure].mean

    def but(self, left_out: str) -> tuple[str, ...]:
        """All members but one."""
        return tuple(name for name in self.names if name != left_out)
