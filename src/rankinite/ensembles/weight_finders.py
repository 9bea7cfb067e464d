"""Weight finders: ways to combine members of an ensemble, found by their scores on queries that trained none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rankinite.choices import Scale
from rankinite.combine import cyclic, greedy, powell, stacked
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import FEATURE, Floats, Indices
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import Scorer, scores_of
from rankinite.measures.base import FactoredMeasure, Measure, TrainableMeasure, sign_of
from rankinite.models.blend import Blend
from rankinite.models.feature import Feature
from rankinite.models.normalised import Normalised


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


AVERAGE = "average"
"""The plain average of all members, each at unit variance: the simplest combination, which the others must beat."""
MOST = 20
"""More members than this are not combined by searches whose time grows with the square of their number."""


@dataclass(frozen=True)
class Weighing:
    """The weight of each member, by name, and the scale on which its scores are added up."""

    weights: Mapping[str, float]
    """Members of weight 0 are left out."""
    scale: Scale = "all"
    """"all": the scores as the members give them, at unit variance; "query" and "rank": scaled within each query first."""

    def blend(self, members: Mapping[str, Scorer]) -> Blend:
        """The members combined."""
        return Blend(tuple((weight, self._scaled(members[name])) for name, weight in self.weights.items() if weight))

    def _scaled(self, member: Scorer) -> Scorer:
        if self.scale == "all":
            return member
        if isinstance(member, Normalised) and member.scale == "all":  # which no scale within queries can see
            member = member.ranker
        return Normalised(member, self.scale)


WeightFinder = Callable[[ScoredMembers, Measure], Weighing]
"""Finds a weighing that is good for a measure."""


def even(names: Iterable[str], scale: Scale = "all") -> Weighing:
    """The plain average of some members."""
    known = tuple(names)
    return Weighing(dict.fromkeys(known, 1.0 / len(known)), scale)


def weight_finders(members: int, measure: Measure, subsets: Mapping[str, Sequence[str]]) -> dict[str, WeightFinder]:
    """Every way that is feasible for this many members and this measure, the simplest first."""
    finders: dict[str, WeightFinder] = {
        AVERAGE: _average,
        "average by query": partial(_average, scale="query"),
        "average by rank": partial(_average, scale="rank"),
    }
    trainable = isinstance(measure, TrainableMeasure)
    swept = trainable and isinstance(measure, FactoredMeasure)
    if swept and members <= MOST:
        finders["exact, greedy"] = partial(_searched, search=greedy)
    if swept:
        finders["exact, cyclic"] = partial(_searched, search=cyclic)
    if members <= MOST:
        finders["Powell"] = partial(_searched, search=powell)
    if trainable:
        finders["stacked, linear"] = partial(_searched, search=stacked)
    if members > 2:
        finders["best subset listed"] = partial(_best_subset, subsets=subsets)
        finders["forward selection"] = _forward
    return finders


def forward_path(members: ScoredMembers, measure: Measure) -> list[tuple[tuple[str, ...], float]]:
    """Subsets from the best member to all, each with the member that helps most, and the value of each; higher is better."""
    path: list[tuple[tuple[str, ...], float]] = []
    chosen: tuple[str, ...] = ()
    while len(chosen) < len(members.names):
        waiting = [name for name in members.names if name not in chosen]
        values = {name: members.value((*chosen, name), measure) for name in waiting}
        best = max(values, key=lambda name: values[name])  # the first of equals
        chosen = (*chosen, best)
        path.append((chosen, values[best]))
    return path


def _average(members: ScoredMembers, _measure: Measure, scale: Scale = "all") -> Weighing:
    return even(members.names, scale)


def _searched(members: ScoredMembers, measure: Measure, search: Callable[..., Any]) -> Weighing:
    found = search(members.rankers, members.data, measure)
    return Weighing(dict(zip(members.names, found.weights, strict=True)))


def _best_subset(members: ScoredMembers, measure: Measure, subsets: Mapping[str, Sequence[str]]) -> Weighing:
    return even(max(subsets.values(), key=lambda names: members.value(names, measure)))


def _forward(members: ScoredMembers, measure: Measure) -> Weighing:
    ensembles = forward_path(members, measure)[1:]  # one member alone is no ensemble
    return even(max(ensembles, key=lambda step: step[1])[0])
