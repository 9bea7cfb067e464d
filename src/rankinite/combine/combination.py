"""Combination, the result of every method; ScoredRankers, what every method starts from.

:func:`score_rankers` checks the rankers and scores the data with each. A method finds a ranker and weights from these scores,
and :meth:`ScoredRankers.combination` measures it and gathers the warnings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rankinite.combine.fixed_scores import FixedScores, as_rankers, notes_on_missing, notes_on_tail, returned_by_any
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.data.io.text_files import AnyPath
from rankinite.drawing import INK
from rankinite.engine.kernel import Flags, Floats, frozen
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.caveats import TrainingOverlaps, overlap_warnings
from rankinite.evaluation.outputs import write_scores
from rankinite.evaluation.scorers import RankerLike, Scorer, checked_scores, is_path, is_scorer, match_to, scores_of
from rankinite.evaluation.values import mean_value
from rankinite.frames import ArrowTable, Tabular, arrow_of
from rankinite.grid import Grid, GridResult
from rankinite.measures.base import Measure
from rankinite.measures.spelling import as_measures
from rankinite.models.base import Fitted
from rankinite.models.blend import Blend
from rankinite.models.normalised import centre_and_spread
from rankinite.plurals import agreeing, counted
from rankinite.sweep.curve import Curve
from rankinite.sweep.ratios import RatioCurve, alpha_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Rankers = Mapping[str, RankerLike] | Sequence[RankerLike]
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
class Combination(GridResult, Tabular):
    """Rankers combined to one, and its measure on the data it was chosen on.

    Where arrays, score files or runs were combined there is no model: ``ranker`` then scores only the rows that all of these
    have scores for, and cannot be saved. ``scores`` are the combined scores, which :meth:`write_scores` writes.
    """

    method: str
    ranker: Fitted
    """The combination: save it, score with it. Of given scores it cannot be saved, and scores only rows that they are for."""
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
    """What to bear in mind: which rankers were, or may have been, trained on the data, whose features were matched, and which
    documents runs do not return."""
    rankers: tuple[Scorer, ...] = field(kw_only=True, repr=False)
    """What was combined, in the order of ``names``."""
    data: Dataset = field(kw_only=True)
    """The data: those given, or, of judgements without features, these and the documents that runs return for their queries."""
    scores: Floats = field(kw_only=True, repr=False)
    """The combined scores, one per row of ``data``; −inf for documents that no run returns."""

    @property
    def is_model(self) -> bool:
        """Whether only rankers were combined, so that the result can be saved and scores any data."""
        return not any(isinstance(ranker, FixedScores) for ranker in self.rankers)

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries its rankers were trained on, and the weights chosen by."""
        return self.ranker.trained_on

    def score(self, data: Dataset, /) -> Floats:
        """The combined scores of other data: −inf for documents that no run returns."""
        scores, returned = self.ranker.score(data), returned_by_any(self.rankers, data)
        return scores if returned is None else data.in_row_order(np.where(returned, scores, -np.inf))

    def write_scores(self, path: AnyPath) -> None:
        """Write the combined scores of ``data`` in the format of the suffix: see :func:`rankinite.write_scores`."""
        write_scores(path, self.data, self.scores)

    def to_arrow(self) -> ArrowTable:
        """One row per ranker with its weight and its value, then one for the combination."""
        weights = self.weights or [None] * len(self.names)
        rows = [*zip(self.names, weights, self.alone, strict=True), (f"combined ({self.method})", None, self.value)]
        measure = str(self.measure)
        return arrow_of(
            [{"ranker": name, "weight": weight, "measure": measure, "value": value} for name, weight, value in rows]
        )

    def grid(self) -> Grid:
        """Every ranker with its weight and its value, then the combination."""
        weights = [f"{weight:.6g}" for weight in self.weights] or ["–"] * len(self.names)
        rows = [(name, weight, f"{value:.4f}") for name, weight, value in zip(self.names, weights, self.alone, strict=True)]
        rows.append((f"combined ({self.method})", "", f"{self.value:.4f}"))
        steps = (f"{step.what}: α = {alpha_text(step.alpha)}, {self.measure} {step.value:.4f}" for step in self.steps)
        notes = (*self.warnings, *steps)
        return Grid(("ranker", "weight", str(self.measure)), tuple(rows), align="lrr", notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the ranker and the curve as JSON has it; there ∞ is the text "Infinity"."""

        # JSON has no infinite numbers; Python's float() and JavaScript's Number() read the text.
        def number(alpha: float) -> float | str:
            return "Infinity" if math.isinf(alpha) else alpha

        return {
            "method": self.method,
            "measure": str(self.measure),
            "value": self.value,
            "rankers": list(self.names),
            "weights": list(self.weights),
            "alone": list(self.alone),
            "alpha": None if self.alpha is None else number(self.alpha),
            "steps": [{"what": step.what, "alpha": number(step.alpha), "value": step.value} for step in self.steps],
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
    """What was done to rankers and documents so that all have scores."""
    returned: Flags | None = None
    """Which documents any of the rankers returns; None where all are."""

    def value(self, scores: Floats) -> float:
        """The measure of some scores; documents that no ranker returns count as not returned."""
        scores = checked_scores(self._without_unreturned(scores), self.data, "")
        return mean_value(scores, self.data, self.measure)

    def _without_unreturned(self, scores: Floats) -> Floats:
        return scores if self.returned is None else np.where(self.returned, scores, -np.inf)

    def weighted_sum(self, weights: Sequence[float] | Floats) -> Floats:
        """The weighted sum of all scores, added in order, as a blend adds them."""
        total = weights[0] * self.scores[0]
        for weight, scores in zip(weights[1:], self.scores[1:], strict=True):
            total = total + weight * scores
        return total

    def even_weights(self) -> Floats:
        """The weights of raw scores with which all rankers count alike: one over their spreads."""
        return 1.0 / np.where(self.spreads > 0.0, self.spreads, 1.0)

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
        named = dict(zip(self.names, self.rankers, strict=True))
        overlaps, scores = TrainingOverlaps(self.data), self._without_unreturned(ranker.score(self.data))
        tail = notes_on_tail(named, weights, self.data)
        trained = {f"ranker {name}": overlaps.of(one) for name, one in named.items()}
        return Combination(
            method=method,
            ranker=ranker,
            names=self.names,
            weights=tuple(weights),
            measure=self.measure,
            value=self.value(scores),
            alone=tuple(
                # Given scores count as they were given, without what stands in for documents that are not returned.
                self.value(one.raw_for(self.data) if isinstance(one, FixedScores) else own)
                for one, own in zip(self.rankers, self.scores, strict=True)
            ),
            alpha=alpha,
            curve=curve,
            steps=tuple(steps),
            warnings=(*overlap_warnings(trained, self.data.source), *self.notes, *tail),
            rankers=self.rankers,
            data=self.data,
            scores=self.data.in_row_order(frozen(scores)),
        )


def blend_of(weights: Sequence[float], rankers: Sequence[Scorer], chosen_on: Dataset) -> Blend:
    """The weighted sum, which knows the queries that chose its weights; rankers of weight 0 are left out."""
    parts = tuple(zip(weights, rankers, strict=True))
    return Blend(tuple(part for part in parts if part[0] != 0.0) or parts[:1], sketch_of(chosen_on))


def sketch_of(chosen_on: Dataset) -> QuerySketch | None:
    """By which queries weights were chosen; without features there is nothing to know them by again."""
    return QuerySketch.of(chosen_on) if chosen_on.feature_names else None


def score_rankers(rankers: Rankers, data: Dataset, measure: Measure | str) -> ScoredRankers:
    """Score the data with every ranker; refuses what cannot be combined."""
    named = _by_name(rankers)
    judged: Any = data
    if not isinstance(judged, Dataset):
        kind = type(judged).__name__
        raise DataError(f"the data are a {kind}", value=kind, remedy="Give a Dataset, as rankinite.read returns")
    known, data = as_rankers(named, data)
    matched: dict[str, Scorer] = {}
    notes: list[str] = []
    for name, ranker in known.items():
        try:
            matched[name], changes = match_to(ranker, data)
        except DataError as problem:
            raise problem.at(f"ranker {name} on {data.source}") from problem
        notes += [f"ranker {name}: {change}." for change in changes]
    scores = np.asarray([_finite_scores(ranker, data, f"ranker {name} on {data.source}") for name, ranker in matched.items()])
    ordered = np.sort(scores, axis=1)  # sums must not depend on the order of the rows
    spreads = np.asarray(
        [centre_and_spread(row, f"ranker {name} on {data.source}")[1] for name, row in zip(matched, ordered, strict=True)]
    )
    if not spreads.any():
        problem = f"every ranker gives all {data.rows} rows the same score"
        raise DataError(problem, place=data.source, value=data.rows, remedy="Give other rankers")
    notes += notes_on_missing(known, data)
    scorers = tuple(matched.values())
    returned = returned_by_any(scorers, data)
    return ScoredRankers(scorers, tuple(matched), data, as_measures(measure)[0], scores, spreads, tuple(notes), returned)


def _by_name(rankers: Any) -> dict[str, Any]:
    """The rankers by name; refuses what are none, or too few."""
    if isinstance(rankers, Mapping):
        named = {str(name): ranker for name, ranker in cast("Mapping[Any, Any]", rankers).items()}
    elif isinstance(rankers, Sequence) and not isinstance(rankers, str):
        named = {str(number): ranker for number, ranker in enumerate(cast("Sequence[Any]", rankers), 1)}
    else:
        kind = type(rankers).__name__
        raise ArgumentError(f"the rankers are a {kind}", value=kind, remedy="Give a list of rankers, or a dict by name")
    if len(named) < 2:
        problem = f"there {agreeing(len(named), 'is')} {counted(len(named), 'ranker')} to combine"
        raise ArgumentError(problem, value=len(named), remedy="Give at least 2")
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


def _finite_scores(ranker: Scorer, data: Dataset, place: str) -> Floats:
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
