"""Directions in the space of a ranker's weights, and the measure along them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats, Indices
from rankinite.engine.parallel import run, thread_count
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import Scorer
from rankinite.measures.base import Measure, sign_of
from rankinite.models.blend import Blend
from rankinite.models.weight_space import Moves, moves_of

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
