"""Scored rankers: rankers, or given scores, with the data they are combined by; what every method of combining starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rankinite.combine.given_scores import GivenScores, as_scorers, notes_on, only_left_out, returned_by_any
from rankinite.combine.result import AnyCurve, Combination, CombinationStep
from rankinite.data.dataset import Dataset
from rankinite.data.sketch import QuerySketch
from rankinite.engine.kernel import Flags, Floats, frozen
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.caveats import TrainingOverlaps, overlap_warnings
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.inputs import as_measures
from rankinite.evaluation.scorers import RankerLike, Scorer, is_path, is_scorer, match_to, scores_of
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted
from rankinite.models.blend import Blend
from rankinite.models.normalised import centre_and_spread
from rankinite.plurals import agreeing, counted

Rankers = Mapping[str, RankerLike] | Sequence[RankerLike]
"""The rankers to combine: by name, or in an order, in which case they are called "1", "2", …."""


@dataclass(frozen=True, eq=False)
class ScoredRankers:
    """Rankers and their scores on the data they are combined by."""

    rankers: tuple[Scorer, ...]
    names: tuple[str, ...]
    data: Dataset
    measure: Measure
    scores: Floats
    """One row per ranker."""
    spreads: Floats
    """The standard deviation of each ranker's scores."""
    notes: tuple[str, ...] = ()
    """What was done to rankers and documents so that all have scores."""
    returned: Flags | None = None
    """Which documents any of the rankers returns; None where all are."""

    def value(self, scores: Floats) -> float:
        """The measure of some scores."""
        returned = self.data.in_row_order(self.only_returned(scores))
        return evaluate(returned, self.data, [self.measure])[self.measure].mean

    def only_returned(self, scores: Floats) -> Floats:
        """The scores without those of documents that no ranker returns."""
        return scores if self.returned is None else np.where(self.returned, scores, -np.inf)

    def combined(self, weights: Sequence[float] | Floats) -> Floats:
        """The weighted sum of all scores, added in order, as a blend adds them."""
        total = weights[0] * self.scores[0]
        for weight, scores in zip(weights[1:], self.scores[1:], strict=True):
            total = total + weight * scores
        return total

    def combination(
        self,
        method: str,
        ranker: Fitted,
        weights: Sequence[float],
        *,
        alpha: float | None = None,
        curve: AnyCurve | None = None,
        steps: Sequence[CombinationStep] = (),
    ) -> Combination:
        """The result of a method: a ranker, and the weight of each of these in it."""
        overlaps, scores = TrainingOverlaps(self.data), self.only_returned(ranker.score(self.data))
        tail = only_left_out(dict(zip(self.names, self.rankers, strict=True)), weights, self.data)
        trained = {f"ranker {name}": overlaps.of(ranker) for name, ranker in zip(self.names, self.rankers, strict=True)}
        return Combination(
            method=method,
            ranker=ranker,
            names=self.names,
            weights=tuple(weights),
            measure=self.measure,
            value=self.value(scores),
            alone=tuple(self._alone(number) for number in range(len(self.names))),
            alpha=alpha,
            curve=curve,
            steps=tuple(steps),
            warnings=(*overlap_warnings(trained, self.data.source), *self.notes, *tail),
            rankers=self.rankers,
            data=self.data,
            scores=self.data.in_row_order(frozen(scores)),
        )

    def _alone(self, number: int) -> float:
        """The measure of one ranker; that of given scores as they were given."""
        ranker = self.rankers[number]
        return self.value(ranker.raw_for(self.data) if isinstance(ranker, GivenScores) else self.scores[number])


def blend_of(weights: Sequence[float], rankers: Sequence[Scorer], chosen_on: Dataset) -> Blend:
    """The weighted sum, which knows the queries that chose its weights; rankers of weight 0 are left out."""
    parts = tuple(zip(weights, rankers, strict=True))
    return Blend(tuple(part for part in parts if part[0] != 0.0) or parts[:1], sketch_of(chosen_on))


def sketch_of(chosen_on: Dataset) -> QuerySketch | None:
    """By which queries weights were chosen; without features there is nothing to know them by again."""
    return QuerySketch.of(chosen_on) if chosen_on.feature_names else None


def gather(rankers: Rankers, data: Dataset, measure: Measure | str, *, least: int = 2) -> ScoredRankers:
    """Score the data with every ranker; refuses what cannot be combined."""
    named = _named(rankers, least)
    judged: Any = data
    if not isinstance(judged, Dataset):
        kind = type(judged).__name__
        raise DataError(f"the data are a {kind}", value=kind, remedy="Give a Dataset, as rankinite.read returns")
    found, data = as_scorers(named, data)
    names = tuple(found)
    scorers, notes = _matched(names, tuple(found.values()), data)
    scores = np.asarray([_scores(scorer, data, name) for name, scorer in zip(names, scorers, strict=True)])
    places = [f"ranker {name} on {data.source}" for name in names]
    ordered = np.sort(scores, axis=1)  # sums must not depend on the order of the rows
    spreads = np.asarray([centre_and_spread(one, place)[1] for one, place in zip(ordered, places, strict=True)])
    if not spreads.any():
        problem = f"every ranker gives all {data.rows} rows the same score"
        raise DataError(problem, place=data.source, value=data.rows, remedy="Give other rankers")
    notes = (*notes, *notes_on(found, data))
    returned = returned_by_any(scorers, data)
    return ScoredRankers(scorers, names, data, as_measures(measure)[0], scores, spreads, notes, returned)


def _matched(names: tuple[str, ...], scorers: tuple[Any, ...], data: Dataset) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The rankers with their features as the data call them, and what was done to them."""
    found, notes = list[Any](), list[str]()
    for name, scorer in zip(names, scorers, strict=True):
        try:
            matched, said = match_to(scorer, data)
        except DataError as problem:
            raise problem.at(f"ranker {name} on {data.source}") from problem
        found.append(matched)
        notes += [f"ranker {name}: {note}." for note in said]
    return tuple(found), tuple(notes)


def _named(rankers: Any, least: int) -> dict[str, Any]:
    """The rankers by name; refuses what are none, or too few."""
    if isinstance(rankers, Mapping):
        named = {str(name): ranker for name, ranker in cast("Mapping[Any, Any]", rankers).items()}
    elif isinstance(rankers, Sequence) and not isinstance(rankers, str):
        named = {str(number): ranker for number, ranker in enumerate(cast("Sequence[Any]", rankers), 1)}
    else:
        kind = type(rankers).__name__
        raise ArgumentError(f"the rankers are a {kind}", value=kind, remedy="Give a list of rankers, or a dict by name")
    if len(named) < least:
        problem = f"there {agreeing(len(named), 'is')} {counted(len(named), 'ranker')} to combine"
        raise ArgumentError(problem, value=len(named), remedy=f"Give at least {least}")
    for name, ranker in named.items():
        given_scores = is_path(ranker) or isinstance(ranker, Sequence) or hasattr(ranker, "__array__")
        if not (is_scorer(ranker) or given_scores or hasattr(ranker, "predict")):  # scores_of answers those that predict
            raise ArgumentError(
                f"{quoted(ranker)} cannot be combined",
                place=f"ranker {name}",
                value=ranker,
                remedy="Give an object with a method score(data), one score per row, or the path of a run or of scores",
            )
    return named


def _scores(ranker: Scorer, data: Dataset, name: str) -> Floats:
    place = f"ranker {name} on {data.source}"
    try:
        scores = scores_of(ranker, data)
    except DataError as problem:
        raise problem.at(place) from problem
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores)))
        raise DataError(
            f"the score of row {row} is {scores[row]}, which cannot be added to others",
            place=place,
            value=row,
            remedy="Give rankers that score every document",
        )
    return scores
