"""Weighing: a way to combine members of an ensemble, found on queries that trained none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rankinite.choices import Scale
from rankinite.combine import cyclic, greedy, powell, stacked
from rankinite.ensembles.scored_members import ScoredMembers
from rankinite.evaluation.scorers import Scorer
from rankinite.measures.base import FactoredMeasure, Measure, TrainableMeasure
from rankinite.models.blend import Blend
from rankinite.models.normalised import Normalised

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


Way = Callable[[ScoredMembers, Measure], Weighing]
"""Finds a weighing that is good for a measure."""


def even(names: Iterable[str], scale: Scale = "all") -> Weighing:
    """The plain average of some members."""
    known = tuple(names)
    return Weighing(dict.fromkeys(known, 1.0 / len(known)), scale)


def ways_to_combine(members: int, measure: Measure, subsets: Mapping[str, Sequence[str]]) -> dict[str, Way]:
    """Every way that is feasible for this many members and this measure, the simplest first."""
    ways: dict[str, Way] = {
        AVERAGE: _average,
        "average by query": partial(_average, scale="query"),
        "average by rank": partial(_average, scale="rank"),
    }
    trainable = isinstance(measure, TrainableMeasure)
    swept = trainable and isinstance(measure, FactoredMeasure)
    if swept and members <= MOST:
        ways["exact, greedy"] = partial(_searched, search=greedy)
    if swept:
        ways["exact, cyclic"] = partial(_searched, search=cyclic)
    if members <= MOST:
        ways["Powell"] = partial(_searched, search=powell)
    if trainable:
        ways["stacked, linear"] = partial(_searched, search=stacked)
    if members > 2:
        ways["best subset listed"] = partial(_best_subset, subsets=subsets)
        ways["forward selection"] = _forward
    return ways


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
