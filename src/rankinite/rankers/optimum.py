"""Whether weights are a local optimum of a measure: the Monte-Carlo test of paper 002 §4.2.

A measure such as NDCG is flat almost everywhere as a function of the weights, so there is no gradient to look at. The test
moves the weights a little in many random directions and sees whether the measure ever rises. If it does not in n directions,
then with confidence 1 − (1 − p)ⁿ fewer than a share p of all directions lead up: 99 % for p = 0.01 and n = 459.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.checks import check_count, check_number, check_positive
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.evaluate import Scorer, evaluate
from rankinite.grid import Grid
from rankinite.kernel import Floats, Indices
from rankinite.measures.base import Measure
from rankinite.parallel import run, thread_count
from rankinite.rankers.blend import Blend
from rankinite.rankers.moves import Moves, moves_of
from rankinite.rankers.training import one_measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = (0.01, 0.03, 0.1, 0.3)
"""Lengths tried, as shares of the length of all weights together."""
STEP = 0.1
"""The length at which the verdict is given."""
FEW = 1000
"""With fewer queries the measure is so coarse a function of the weights that the verdict says little."""
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


@dataclass(frozen=True, eq=False)
class Optimum:
    """What the test found."""

    measure: Measure
    value: float
    """The measure at the weights themselves."""
    weights: int
    """How many weights there are that make a difference."""
    directions: int
    """Random directions tried."""
    share: float
    """The share of directions that the verdict is about: p."""
    step: float
    """The length of the moves that the verdict is about."""
    steps: tuple[float, ...]
    """All lengths tried."""
    queries: tuple[int, ...]
    """How many queries were looked at: parts of the data drawn at random, and in the end all that count."""
    rising: Indices
    """Directions along which the measure rose, shape (steps, queries)."""
    level: Indices
    """Directions along which it did not change at all, shape (steps, queries)."""
    curves: Curves | None = None

    @property
    def is_optimum(self) -> bool:
        """Whether no direction led up at the step of the verdict, on all queries."""
        return self._rising == 0

    @property
    def confidence(self) -> float:
        """How sure it is, for an optimum, that fewer than ``share`` of all directions lead up."""
        return 1.0 - (1.0 - self.share) ** self.directions

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind."""
        said: list[str] = []
        if self.queries[-1] < FEW:
            said.append(
                f"On {self.queries[-1]:,} queries the measure is a step function of the weights: it may rise by chance or not "
                f"move at all. Test on {FEW:,} or more."
            )
        level = int(self.level[self.steps.index(self.step), -1])
        if 2 * level > self.directions:
            said.append(f"Along {level} of {self.directions} directions nothing changed at all: take a longer step.")
        return tuple(said)

    def verdict(self) -> str:
        """The outcome in a sentence."""
        where = f"at steps of {self.step:g} × the length of the weights"
        if self.is_optimum:
            return (
                f"A local optimum of {self.measure} {where}: none of {self.directions} random directions leads up, so with "
                f"{self.confidence:.1%} confidence fewer than {self.share:.1%} of all directions do."
            )
        from scipy.stats import binomtest

        interval = binomtest(self._rising, self.directions).proportion_ci(0.95, method="exact")
        return (
            f"Not a local optimum of {self.measure} {where}: {self._rising} of {self.directions} random directions lead up "
            f"({self._rising / self.directions:.1%}; 95 % interval {interval.low:.1%} to {interval.high:.1%})."
        )

    def grid(self) -> Grid:
        """The share of directions that lead up, by step and number of queries."""
        rows = tuple(
            (f"{step:g}" + (" *" if step == self.step else ""), *(f"{100 * count / self.directions:.1f} %" for count in counts))
            for step, counts in zip(self.steps, self.rising.tolist(), strict=True)
        )
        return Grid(
            ("step", *(f"{count:,} queries" for count in self.queries)),
            rows,
            title=f"directions that lead up, of {self.directions} in a space of {self.weights} weights; "
            f"{self.measure} {self.value:.4f}",
            notes=("* the step of the verdict",),
        )

    def __str__(self) -> str:
        return "\n\n".join([self.grid().text(), self.verdict(), *self.warnings])

    def _repr_html_(self) -> str:
        return self.grid().html() + "".join(f"\n<p>{html.escape(said)}</p>" for said in (self.verdict(), *self.warnings))

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
            "rising": self.rising.tolist(),
            "level": self.level.tolist(),
            "curves": None
            if curves is None
            else {"names": list(curves.names), "moved": curves.moved.tolist(), "values": curves.values.tolist()},
        }

    def plot(self) -> Figure:
        """Draw the curves, one small picture a weight."""
        from rankinite.rankers.plots import plot_curves

        if self.curves is None:
            raise ArgumentError("there are no curves to draw. Ask for some: local_optimum(…, curves=12).")
        return plot_curves(self.curves, str(self.measure), self.value)

    @property
    def _rising(self) -> int:
        return int(self.rising[self.steps.index(self.step), -1])


def local_optimum(
    ranker: Scorer,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    step: float = STEP,
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
    Weights are moved by ``step`` × the length of all weights together, on features of one scale; ``steps`` are other lengths to
    compare. ``directions``: how many; if left out, as many as ``confidence`` in less than ``share`` of rising directions
    takes. ``curves``: for how many of the largest weights to follow the measure as that weight alone is moved.
    ``told(done, all)`` is called as work goes on.
    """
    name = "local_optimum"
    asked = one_measure(name, "measure", measure)
    check_number(name, "share", share, 0.0, 0.5, above=True)
    check_number(name, "confidence", confidence, 0.0, 0.999999, above=True)
    for length in (step, *steps):
        check_positive(name, "step", length)
    check_count(name, "curves", curves, 0)
    count = math.ceil(math.log(1.0 - confidence) / math.log(1.0 - share)) if directions is None else directions
    check_count(name, "directions", count)
    lengths = tuple(sorted({float(step), *map(float, steps)}))
    test = _Test(ranker, data, asked, np.random.default_rng(seed), told, count * len(lengths))
    rising, level = test.count(count, lengths)
    return Optimum(
        measure=asked,
        value=test.sign * float(test.start[-1]),
        weights=test.moves.count,
        directions=count,
        share=float(share),
        step=float(step),
        steps=lengths,
        queries=tuple(test.parts.tolist()),
        rising=rising,
        level=level,
        curves=test.curves(min(curves, test.moves.count)) if curves else None,
    )


class _Test:
    """The measure along directions."""

    def __init__(
        self,
        ranker: Scorer,
        data: Dataset,
        measure: Measure,
        random: np.random.Generator,
        told: Callable[[int, int], None] | None,
        work: int,
    ) -> None:
        if not isinstance(data, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
            raise DataError(f"the data are a {type(data).__name__}. Give a Dataset, as rankinite.read returns.")
        if measure.pooled:
            raise ArgumentError(f"{measure} judges all rows together. Test a measure that has a value for each query.")
        self.sign = 1.0 if measure.higher_is_better else -1.0
        self.data, self.measure, self.random, self.told, self.work = data, measure, random, told, work
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
        return self.sign * evaluate(scores, self.data, [self.measure])[self.measure].per_query

    def means(self, values: Floats) -> Floats:
        """Over the first queries of each part."""
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
            if self.told is not None:
                self.told(min(first + batch, directions) * len(steps), self.work)
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
