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
from rankinite.engine.kernel import SCORE, Features, Flags, Floats, Indices, frozen
from rankinite.engine.parallel import run, thread_count
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import Scorer
from rankinite.grid import Grid
from rankinite.measures.base import Measure, sign_of
from rankinite.measures.spelling import one_measure
from rankinite.models.blend import Blend
from rankinite.models.inputs import columns_of
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.nets._net_kernels import Frame
from rankinite.nets.features import check_features, fit_standard
from rankinite.nets.network import add_scores, layers_of
from rankinite.plurals import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Moves:
    """The weights of a ranker that make a difference to a ranking, and its scores when they are moved."""

    names: tuple[str, ...]
    """The feature or unit that each weight belongs to."""
    frame: Frame
    every: Floats
    """All weights."""
    free: Flags
    """Those that make a difference: not the last bias, which all scores share, nor those of features that never vary."""
    features: Features
    factor: float

    @property
    def weights(self) -> Floats:
        """The weights that make a difference."""
        return self.every[self.free]

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.free.sum())

    @property
    def length(self) -> float:
        """√Σ weight²."""
        return float(np.linalg.norm(self.weights))

    def scores(self, move: Floats) -> Floats:
        """The scores of all rows after adding ``move`` to the weights that make a difference."""
        moved = self.every.copy()
        moved[self.free] += move
        scores = np.zeros(len(self.features), SCORE)
        add_scores(self.frame, moved, self.features, scores)
        scores *= self.factor
        return scores


def moves_of(ranker: Scorer, data: Dataset, factor: float) -> Moves:
    """The weights of a ranker, whose scores are multiplied by ``factor``."""
    if not isinstance(ranker, Net | Linear):
        kind = type(ranker).__name__
        raise ArgumentError(
            f"a {kind} has no weights to move",
            value=kind,
            remedy="Give a Net or a Linear ranker, or a blend that ends in one",
        )
    columns = columns_of(data.feature_names, ranker.feature_names, data.source)
    features = data.features if columns is None else frozen(np.ascontiguousarray(data.features[:, columns]))
    check_features(features, ranker.feature_names, data.source, missing=ranker.nan == "mean")
    frame, weights = ranker.frame, ranker.weights
    if isinstance(ranker, Linear):
        spread = fit_standard(features, np.arange(data.rows), data.source).scale
        inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        weights = np.append(ranker.weights * inverse, ranker.bias)
        frame = Frame(frame.sizes, frame.centre, frozen(spread))
    counts = np.ones(len(weights))
    counts[-1] = 0.0
    layers_of(frame.sizes, counts)[0][0][:, frame.scale == 0.0] = 0.0
    free = counts > 0.0
    if not weights[free].any():
        raise ArgumentError(
            "all weights are 0, so that there is no length to measure steps by", place=repr(ranker), remedy="Train it first"
        )
    names = np.asarray(_names(ranker, frame), object)[free]
    return Moves(tuple(names.tolist()), frame, weights, free, features, factor)


def _names(ranker: Net | Linear, frame: Frame) -> list[str]:
    """One name per weight, in the order of the weights."""
    if isinstance(ranker, Linear):
        return [*ranker.feature_names, "bias"]
    names: list[str] = []
    for number in range(len(frame.sizes) - 1):
        inputs, outputs = int(frame.sizes[number]), int(frame.sizes[number + 1])
        below = ranker.feature_names if number == 0 else [f"unit {number}.{k}" for k in range(inputs)]
        above = ["score"] if number == len(frame.sizes) - 2 else [f"unit {number + 1}.{k}" for k in range(outputs)]
        names += [f"{one} → {unit}" for unit in above for one in below]
        names += [f"bias → {unit}" for unit in above]
    return names


_SAME = 1e-12  # sums of the same values in another order differ by less


@dataclass(frozen=True, eq=False)
class Curves:
    """The measure as one weight alone is moved."""

    names: tuple[str, ...]
    """The weights."""
    moved: Floats
    """How far they are moved, as a share of the length of all weights together; shape (points,)."""
    values: Floats
    """The measure, shape (weights, points)."""


class Directions:
    """The measure of a ranker as its weights are moved along random directions."""

    def __init__(
        self,
        ranker: Scorer,
        data: Dataset,
        measure: Measure,
        random: np.random.Generator,
        progress: Callable[[int, int], None] | None,
        work: int,
    ) -> None:
        if not isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
            kind = type(data).__name__
            raise DataError(f"the data are a {kind}", value=kind, remedy="Give a Dataset, as rankinite.read returns")
        if measure.pooled:
            raise ArgumentError(
                "judges all rows together",
                owner="local_optimum",
                setting="measure",
                value=str(measure),
                remedy="Test a measure that has a value for each query",
            )
        self.sign = sign_of(measure)
        self.data, self.measure, self.random, self.progress, self.work = data, measure, random, progress, work
        *fixed, (weight, moving) = ranker.parts if isinstance(ranker, Blend) else ((1.0, ranker),)
        self.fixed = Blend(tuple(fixed)).score(data) if fixed else None
        self.moves: Moves = moves_of(moving, data, weight)
        value = self.values(np.zeros(self.moves.count))
        self.counted = random.permutation(np.flatnonzero(~np.isnan(value)))
        queries = len(self.counted)
        self.parts = np.unique([max(1, queries // 100), max(1, queries // 10), max(1, queries // 3), queries])
        self.start = self.means(value)

    def values(self, move: Floats) -> Floats:
        """The measure of every query after a move of the weights, higher being better."""
        scores = self.moves.scores(move)
        if self.fixed is not None:
            scores += self.fixed
        return self.sign * evaluate(self.data.in_row_order(scores), self.data, [self.measure])[self.measure].per_query

    def means(self, values: Floats) -> Floats:
        """The means over the first queries of each part."""
        return np.cumsum(values[self.counted])[self.parts - 1] / self.parts

    def count(self, directions: int, steps: Sequence[float]) -> tuple[Indices, Indices]:
        """In how many directions the measure rises, and stays the same: by step and part of the queries."""
        rising, level = np.zeros((2, len(steps), len(self.parts)), np.int64)
        seeds = self.random.spawn(directions)
        batch = 4 * thread_count()
        for first in range(0, directions, batch):
            for gains in run(lambda random: self._gains(random, steps), seeds[first : first + batch]):
                rising += gains > _SAME
                level += np.abs(gains) <= _SAME
            if self.progress is not None:
                self.progress(min(first + batch, directions) * len(steps), self.work)
        return rising, level

    def _gains(self, random: np.random.Generator, steps: Sequence[float]) -> Floats:
        """What moving along one direction adds to the measure, shape (steps, parts)."""
        direction = random.normal(size=self.moves.count)
        direction *= self.moves.length / np.linalg.norm(direction)
        return np.asarray([self.means(self.values(step * direction)) - self.start for step in steps])

    def curves(self, count: int, points: int = 21, reach: float = 0.3) -> Curves:
        """The measure as each of the largest weights is moved alone."""
        largest = np.argsort(-np.abs(self.moves.weights), kind="stable")[:count]
        moved = np.linspace(-reach, reach, points)

        def follow(weight: int) -> list[float]:
            values: list[float] = []
            for share in moved.tolist():
                move = np.zeros(self.moves.count)
                move[weight] = share * self.moves.length
                values.append(float(self.means(self.values(move))[-1]))
            return values

        values = self.sign * np.asarray(run(follow, largest.tolist()))
        return Curves(tuple(self.moves.names[weight] for weight in largest.tolist()), moved, values)


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
