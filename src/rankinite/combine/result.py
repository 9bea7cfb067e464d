"""Combination: rankers combined to one, and how it was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.combine.given_scores import GivenScores, returned_by_any
from rankinite.data.dataset import Dataset
from rankinite.data.io.text_files import AnyPath
from rankinite.data.sketch import QuerySketch
from rankinite.drawing import INK
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.evaluation.outputs import write_scores
from rankinite.evaluation.scorers import Scorer
from rankinite.frames import ArrowTable, Tabular, arrow_of
from rankinite.grid import Grid, GridResult
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted
from rankinite.sweep.curve import Curve
from rankinite.sweep.ratios import RatioCurve, alpha_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        return not any(isinstance(ranker, GivenScores) for ranker in self.rankers)

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


def _in_json(alpha: float) -> float | str:
    """JSON has no infinite numbers; Python's float() and JavaScript's Number() read the text."""
    return "Infinity" if math.isinf(alpha) else alpha
