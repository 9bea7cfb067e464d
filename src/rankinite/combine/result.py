"""Combination: rankers combined to one, with the scored rankers that every method of combining starts from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.sketch import QuerySketch
from rankinite.drawing import INK
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.inputs import Scorer, as_measures, matched_to, scores_of
from rankinite.evaluation.training_overlap import TrainingOverlaps, overlap_warnings
from rankinite.grid import Grid
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted, is_scorer
from rankinite.models.blend import Blend
from rankinite.models.normalised import centre_and_spread
from rankinite.plurals import agreeing, counted
from rankinite.sweep.curve import Curve
from rankinite.sweep.ratios import RatioCurve, alpha_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rankers = Mapping[str, Scorer] | Sequence[Scorer]
"""The rankers to combine: by name, or in an order, in which case they are called "1", "2", …."""


AnyCurve = Curve | RatioCurve
"""The measure over the weight of a second ranker: in a range, or for every ratio."""


@dataclass(frozen=True)
class CombinationStep:
    """One of the steps in which a combination was found."""

    what: str
    """The rankers combined: ``(1 + 3) with (2)``."""
    alpha: float
    """The weight of the second beside the first: ∞ where the first was left out."""
    value: float
    """The measure of the two together, on the data that α was chosen on."""


@dataclass(frozen=True, eq=False)
class Combination:
    """Rankers combined to one, and its measure on the data it was chosen on."""

    method: str
    ranker: Fitted
    """The combination: save it, score with it."""
    names: tuple[str, ...]
    """The rankers that were combined."""
    weights: tuple[float, ...]
    """The weight of each one's own scores; empty where a net combines them."""
    measure: Measure
    value: float
    """The measure of the combination on the data."""
    alone: tuple[float, ...]
    """The measure of each ranker alone."""
    alpha: float | None = None
    """The weight of the second ranker beside the first, where two were combined exactly: ∞ where the first is left out."""
    curve: AnyCurve | None = None
    """The measure for every α, where two were combined exactly."""
    steps: tuple[CombinationStep, ...] = ()
    """How it was found, where that took several steps."""
    warnings: tuple[str, ...] = ()
    """What to bear in mind: which rankers were, or may have been, trained on the data, and whose features were matched."""

    def grid(self) -> Grid:
        """Every ranker with its weight and its value, then the combination."""
        weights = [f"{weight:.6g}" for weight in self.weights] or ["–"] * len(self.names)
        rows = [(name, weight, f"{value:.4f}") for name, weight, value in zip(self.names, weights, self.alone, strict=True)]
        rows.append((f"combined ({self.method})", "", f"{self.value:.4f}"))
        steps = (f"{step.what}: α = {alpha_text(step.alpha)}, {self.measure} {step.value:.4f}" for step in self.steps)
        notes = (*self.warnings, *steps)
        return Grid(("ranker", "weight", str(self.measure)), tuple(rows), align="lrr", notes=notes)

    def __str__(self) -> str:
        return self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()

    def to_dict(self) -> dict[str, Any]:
        """Everything but the ranker and the curve as JSON has it; there ∞ is the text "Infinity"."""
        return {
            "method": self.method,
            "measure": str(self.measure),
            "value": self.value,
            "rankers": list(self.names),
            "weights": list(self.weights),
            "alone": list(self.alone),
            "alpha": None if self.alpha is None else _in_json(self.alpha),
            "steps": [{"what": step.what, "alpha": _in_json(step.alpha), "value": step.value} for step in self.steps],
            "warnings": list(self.warnings),
        }

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the measure over α, and the α that was chosen where that is not the best of the curve."""
        if self.curve is None:
            raise ArgumentError(
                f"there is no curve to draw: {self.method} has none",
                value=self.method,
                rule="Only two rankers that are combined exactly have one",
            )
        canvas = self.curve.plot(axes)
        if self.alpha is not None and self.alpha != self.curve.best()[0]:  # it was smoothed first
            label = f"chosen: α = {alpha_text(self.alpha, 4)}, {self.measure} = {self.value:.4f}"
            canvas.plot([self.curve.place(self.alpha)], [self.value], "D", color=INK, label=label)
            canvas.legend(frameon=False)
        return canvas


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
    """Which features of the data were taken for those of models that do not know their names."""

    def value(self, scores: Floats) -> float:
        """The measure of some scores."""
        return evaluate(scores, self.data, [self.measure])[self.measure].mean

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
        overlaps = TrainingOverlaps(self.data)
        trained = {f"ranker {name}": overlaps.of(ranker) for name, ranker in zip(self.names, self.rankers, strict=True)}
        return Combination(
            method=method,
            ranker=ranker,
            names=self.names,
            weights=tuple(weights),
            measure=self.measure,
            value=self.value(ranker.score(self.data)),
            alone=tuple(self.value(scores) for scores in self.scores),
            alpha=alpha,
            curve=curve,
            steps=tuple(steps),
            warnings=(*overlap_warnings(trained, self.data.source), *self.notes),
        )


def _in_json(alpha: float) -> float | str:
    """JSON has no infinite numbers; Python's float() and JavaScript's Number() read the text."""
    return "Infinity" if math.isinf(alpha) else alpha


def blend_of(weights: Sequence[float], rankers: Sequence[Scorer], chosen_on: Dataset) -> Blend:
    """The weighted sum, which knows the queries that chose its weights; rankers of weight 0 are left out."""
    parts = tuple(zip(weights, rankers, strict=True))
    return Blend(tuple(part for part in parts if part[0] != 0.0) or parts[:1], QuerySketch.of(chosen_on))


def gather(rankers: Rankers, data: Dataset, measure: Measure | str, *, least: int = 2) -> ScoredRankers:
    """Score the data with every ranker; refuses what cannot be combined."""
    names, scorers = _named(rankers, least)
    judged: Any = data
    if not isinstance(judged, Dataset):
        kind = type(judged).__name__
        raise DataError(f"the data are a {kind}", value=kind, remedy="Give a Dataset, as rankinite.read returns")
    scorers, notes = _matched(names, scorers, data)
    scores = np.asarray([_scores(scorer, data, name) for name, scorer in zip(names, scorers, strict=True)])
    places = [f"ranker {name} on {data.source}" for name in names]
    ordered = np.sort(scores, axis=1)  # sums must not depend on the order of the rows
    spreads = np.asarray([centre_and_spread(one, place)[1] for one, place in zip(ordered, places, strict=True)])
    if not spreads.any():
        problem = f"every ranker gives all {data.rows} rows the same score"
        raise DataError(problem, place=data.source, value=data.rows, remedy="Give other rankers")
    return ScoredRankers(scorers, names, data, as_measures(measure)[0], scores, spreads, notes)


def _matched(names: tuple[str, ...], scorers: tuple[Any, ...], data: Dataset) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The rankers with their features as the data call them, and what was done to them."""
    found, notes = list[Any](), list[str]()
    for name, scorer in zip(names, scorers, strict=True):
        try:
            matched, said = matched_to(scorer, data)
        except DataError as problem:
            raise problem.at(f"ranker {name} on {data.source}") from problem
        found.append(matched)
        notes += [f"ranker {name}: {note}." for note in said]
    return tuple(found), tuple(notes)


def _named(rankers: Any, least: int) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names of the rankers, and the rankers; refuses what are none, or too few."""
    if isinstance(rankers, Mapping):
        names, scorers = tuple(map(str, rankers)), tuple(rankers.values())
    elif isinstance(rankers, Sequence) and not isinstance(rankers, str):
        names, scorers = tuple(str(number) for number in range(1, len(rankers) + 1)), tuple(rankers)
    else:
        kind = type(rankers).__name__
        raise ArgumentError(f"the rankers are a {kind}", value=kind, remedy="Give a list of rankers, or a dict by name")
    if len(scorers) < least:
        problem = f"there {agreeing(len(scorers), 'is')} {counted(len(scorers), 'ranker')} to combine"
        raise ArgumentError(problem, value=len(scorers), remedy=f"Give at least {least}")
    for name, scorer in zip(names, scorers, strict=True):
        if not is_scorer(scorer):
            raise ArgumentError(
                f"{quoted(scorer)} cannot be combined",
                place=f"ranker {name}",
                value=scorer,
                remedy="Give an object with a method score(data)",
            )
    return names, scorers


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
