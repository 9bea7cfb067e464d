"""Local optimum: the Monte-Carlo test of paper 002 §4.2 for whether weights are one of a measure.

A measure such as NDCG is flat almost everywhere as a function of the weights, so there is no gradient to look at. The test
moves the weights a little in many random directions and sees whether the measure ever rises. If it does not in n directions,
then with confidence 1 − (1 − p)ⁿ fewer than a share p of all directions lead up: 99 % for p = 0.01 and n = 459.

How far to move decides what is found. A long step leads over a nearby hilltop, and so certifies weights that are not on it;
a short one leaves the measure as it is, and shows nothing. So several steps are tried, and the verdict is that of the
shortest one that is *reliable*: at which fewer than 5 % of the directions leave the measure unchanged.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.checks import check_count, check_number, check_positive
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Indices
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer
from rankinite.grid import Grid
from rankinite.measures.base import Measure
from rankinite.measures.spelling import one_measure
from rankinite.models.directions import Curves, Directions
from rankinite.plurals import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OWNER = "local_optimum"
STEPS = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Lengths tried, as shares of the length of all weights together."""
UNCHANGED = 0.05
"""A step is reliable if fewer than this share of the directions leave the measure unchanged."""
FEW = 1000
"""With fewer queries the measure is too coarse a function of the weights for the verdict to mean much."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """What the test found."""

    measure: Measure
    value: float
    """The measure at the weights themselves."""
    weights: int
    """How many weights make a difference."""
    directions: int
    """Random directions tried."""
    share: float
    """The share of directions that the verdict is about: p."""
    step: float | None
    """The length of the moves that the verdict is about: the shortest reliable one, or the one asked for. None: no verdict."""
    steps: tuple[float, ...]
    """All lengths tried, the shortest first."""
    queries: tuple[int, ...]
    """How many queries were looked at: parts of the data drawn at random, and in the end all that count."""
    rising: Indices
    """Directions along which the measure rose, shape (steps, queries)."""
    level: Indices
    """Directions along which it did not change at all, shape (steps, queries)."""
    curves: Curves | None = None

    @property
    def falling(self) -> Indices:
        """Directions along which the measure fell, shape (steps, queries)."""
        return self.directions - self.rising - self.level

    @property
    def reliable(self) -> tuple[bool, ...]:
        """For each step, whether few enough directions leave the measure unchanged, on all queries."""
        return _reliable(self.level, self.directions)

    @property
    def is_optimum(self) -> bool | None:
        """Whether no direction led up at the step of the verdict, on all queries; None where no step is reliable."""
        return None if self.step is None else self._rising(self.step) == 0

    @property
    def confidence(self) -> float:
        """How certain it is, for an optimum, that fewer than ``share`` of all directions lead up."""
        return 1.0 - (1.0 - self.share) ** self.directions

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind."""
        sentences: list[str] = []
        if self.queries[-1] < FEW:
            sentences.append(
                f"On {counted(self.queries[-1], 'query')} the measure is a step function of the weights: it may rise by "
                f"chance or not move at all. Test on {FEW:,} or more."
            )
        others = [step for step, reliable in zip(self.steps, self.reliable, strict=True) if reliable and self._rising(step)]
        if self.is_optimum and self.step is not None and others:
            highest = max(others, key=self._rising)
            meaning = (
                "the weights are near an optimum, not at one"
                if highest < self.step
                else "a small bump, with higher ground near"
            )
            rising = self._rising(highest) / self.directions
            sentences.append(f"But at steps of {highest:g}, {rising:.1%} of the directions lead up: {meaning}.")
        return tuple(sentences)

    def verdict(self) -> str:
        """The outcome in one sentence, with the step it is about."""
        if self.step is None:
            return (
                f"No verdict on {self.measure}: at every step that was to decide, {UNCHANGED:.0%} or more of the "
                f"{self.directions} random directions leave it unchanged. Test on more queries, or at longer steps."
            )
        where = f"at steps of {self.step:g} × the length of the weights"
        if self.is_optimum:
            return (
                f"A local optimum of {self.measure} {where}: none of {self.directions} random directions leads up, so with "
                f"{self.confidence:.1%} confidence fewer than {self.share:.1%} of all directions do."
            )
        from scipy.stats import binomtest

        rising = self._rising(self.step)
        interval = binomtest(rising, self.directions).proportion_ci(0.95, method="exact")
        return (
            f"Not a local optimum of {self.measure} {where}: {rising} of {self.directions} random directions lead up "
            f"({rising / self.directions:.1%}; 95 % interval {interval.low:.1%} to {interval.high:.1%})."
        )

    def grid(self) -> Grid:
        """Where directions lead at each step: up, down or nowhere on all queries; and up on parts of them."""
        rows: list[tuple[str, ...]] = []
        for step, up, down, level in zip(self.steps, self.rising, self.falling, self.level, strict=True):
            counts = (up[-1], down[-1], level[-1], *up[:-1])
            rows.append((f"{step:g}{self._mark(step)}", *(f"{100 * count / self.directions:.1f} %" for count in counts)))
        notes = {
            "*": "* the step of the verdict",
            "†": f"† too short to tell: {UNCHANGED:.0%} of the directions or more leave the measure unchanged",
        }
        return Grid(
            ("step", "up", "down", "unchanged", *(f"up on {counted(count, 'query')}" for count in self.queries[:-1])),
            tuple(rows),
            title=f"where {self.directions} directions lead in a space of {self.weights} weights, on {self.queries[-1]:,} "
            f"queries; {self.measure} {self.value:.4f}",
            notes=tuple(note for mark, note in notes.items() if any(row[0].endswith(mark) for row in rows)),
        )

    def __str__(self) -> str:
        return "\n\n".join([self.grid().text(), self.verdict(), *self.warnings])

    def _repr_html_(self) -> str:
        return self.grid().html() + "".join(f"\n<p>{html.escape(text)}</p>" for text in (self.verdict(), *self.warnings))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        curves = self.curves
        return {
            "measure": str(self.measure),
            "value": self.value,
            "optimum": self.is_optimum,
            "confidence": self.confidence if self.is_optimum else None,
            "verdict": self.verdict(),
            "warnings": list(self.warnings),
            **{name: getattr(self, name) for name in ("weights", "directions", "share", "step")},
            **{name: list(getattr(self, name)) for name in ("steps", "queries")},
            **{name: getattr(self, name).tolist() for name in ("rising", "falling", "level")},
            "reliable": list(self.reliable),
            "curves": None
            if curves is None
            else {"names": list(curves.names), "moved": curves.moved.tolist(), "values": curves.values.tolist()},
        }

    def plot(self) -> Figure:
        """Draw the curves, one small picture per weight."""
        from rankinite.models.plots import plot_curves

        if self.curves is None:
            raise ArgumentError(
                "there are no curves to draw", place="local_optimum", remedy="Ask for some: local_optimum(…, curves=12)"
            )
        return plot_curves(self.curves, str(self.measure), self.value)

    def _rising(self, step: float) -> int:
        return int(self.rising[self.steps.index(step), -1])

    def _mark(self, step: float) -> str:
        return " *" if step == self.step else "" if self.reliable[self.steps.index(step)] else " †"


def local_optimum(
    ranker: Scorer,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    step: float | None = None,
    steps: Sequence[float] = STEPS,
    share: float = 0.01,
    confidence: float = 0.99,
    directions: int | None = None,
    curves: int = 0,
    seed: int = 0,
    told: Callable[[int, int], None] | None = None,
) -> Optimum:
    """Test whether the weights of a net or a linear ranker are a local optimum of a measure on these data.

    ``ranker``: a :class:`Net`, a :class:`Linear`, or a blend that ends in one (what it was trained on top of stays as it is).
    Weights are moved by each of ``steps`` × the length of all weights together, on features of one scale. The verdict is that
    of the shortest reliable step: at which fewer than 5 % of the directions leave the measure unchanged. ``step``: gives the
    verdict at this length instead, if it is reliable; the others are then there to compare. ``directions``: how many; if left
    out, as many as ``confidence`` in less than ``share`` of rising directions takes. ``curves``: for how many of the largest
    weights to follow the measure as that weight alone is moved. ``told(done, all)`` is called as work goes on.
    """
    chosen = one_measure(OWNER, "measure", measure)
    check_number(OWNER, "share", share, 0.0, 0.5, above=True)
    check_number(OWNER, "confidence", confidence, 0.0, 0.999999, above=True)
    check_count(OWNER, "curves", curves, 0)
    lengths, deciding = _lengths(step, steps)
    count = _needed_directions(share, confidence) if directions is None else directions
    check_count(OWNER, "directions", count)
    test = Directions(ranker, data, chosen, np.random.default_rng(seed), told, count * len(lengths))
    found = _outcome(test, count, lengths, deciding, float(share))
    return replace(found, curves=test.curves(min(curves, found.weights))) if curves else found


def _outcome(test: Directions, count: int, lengths: tuple[float, ...], deciding: set[float], share: float) -> Optimum:
    """What moving along ``count`` directions shows, without curves."""
    rising, level = test.count(count, lengths)
    reliable = [length for length, can in zip(lengths, _reliable(level, count), strict=True) if can and length in deciding]
    return Optimum(
        measure=test.measure,
        value=test.sign * float(test.start[-1]),
        weights=test.moves.count,
        directions=count,
        share=share,
        step=reliable[0] if reliable else None,
        steps=lengths,
        queries=tuple(test.parts.tolist()),
        rising=rising,
        level=level,
    )


def _lengths(step: float | None, steps: Sequence[float]) -> tuple[tuple[float, ...], set[float]]:
    """All lengths to try, the shortest first, and those that may decide."""
    deciding = tuple(steps) if step is None else (step,)
    if step is not None:
        check_positive(OWNER, "step", step)
    for length in steps:
        check_positive(OWNER, "steps", length)
    if not deciding:
        raise ArgumentError(
            "contains no step",
            owner=OWNER,
            setting="steps",
            value=steps,
            remedy="Give some, such as 0.01 and 0.1, or leave it out",
        )
    return tuple(sorted({float(length) for length in (*deciding, *steps)})), {float(length) for length in deciding}


def _needed_directions(share: float, confidence: float) -> int:
    """How many directions none of which leads up make us confident that fewer than a share of all do."""
    return math.ceil(math.log(1.0 - confidence) / math.log(1.0 - share))


def _reliable(level: Indices, directions: int) -> tuple[bool, ...]:
    """Whether each step is reliable, given the directions that leave the measure unchanged, shape (steps, queries)."""
    return tuple((level[:, -1] < UNCHANGED * directions).tolist())
