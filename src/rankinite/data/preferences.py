"""Preferences: which of two documents of a query is better, and how surely (paper 002 §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import INDEX, SCORE, Floats, Indices, frozen
from rankinite.errors import DataError
from rankinite.pickles import StablePickle


@dataclass(frozen=True, eq=False)
class Preferences(StablePickle):
    """Pairs of rows of one query each. Inconsistent sets are allowed: judges may contradict each other."""

    better: Indices
    """Row numbers of the documents that are preferred with this probability."""
    worse: Indices
    """Row numbers of the documents they are preferred to."""
    probability: Floats
    """P̄: the judged probability, in [0, 1], that ``better`` should rank above ``worse``."""

    def __post_init__(self) -> None:
        for name, kind in (("better", INDEX), ("worse", INDEX), ("probability", SCORE)):
            array = np.asarray(getattr(self, name))
            if (
                array.ndim != 1
                or len(array) != len(self.better)
                or (kind == INDEX and array.size and array.dtype.kind not in "iu")
            ):
                raise DataError(
                    f"the shape is {array.shape} and the type {array.dtype}",
                    place=f"preferences, {name}",
                    value=array.shape,
                    remedy=f"Give one {'row number' if kind == INDEX else 'probability'} for each pair",
                )
            if kind == INDEX:
                _check_row_numbers(array, name)
            object.__setattr__(self, name, frozen(array.astype(kind)))
        bad = np.flatnonzero(~((self.probability >= 0) & (self.probability <= 1)))
        if len(bad):
            probability = float(self.probability[bad[0]])
            raise DataError(
                f"the probability is {probability}",
                place=f"preference {bad[0]}",
                value=probability,
                rule="It must lie in [0, 1]",
            )

    def __len__(self) -> int:
        return len(self.better)

    def check(self, query_of_row: Indices) -> None:
        """Refuse pairs whose rows do not exist, or belong to different queries."""
        rows = len(query_of_row)
        lost = np.flatnonzero((np.minimum(self.better, self.worse) < 0) | (np.maximum(self.better, self.worse) >= rows))
        if len(lost):
            raise self._bad_pair(int(lost[0]), f"but rows run from 0 to {rows - 1}", "Row numbers must be those of the data")
        apart = np.flatnonzero(query_of_row[self.better] != query_of_row[self.worse])
        if len(apart):
            raise self._bad_pair(int(apart[0]), "which belong to different queries", "Pair rows of one query")

    def _bad_pair(self, number: int, reason: str, rule: str) -> DataError:
        better, worse = int(self.better[number]), int(self.worse[number])
        return DataError(
            f"it pairs rows {better} and {worse}, {reason}", place=f"preference {number}", value=(better, worse), rule=rule
        )

    def take(self, rows: Indices, of_rows: int) -> Preferences:
        """The pairs both of whose rows are among ``rows`` of a data set of ``of_rows`` rows, renumbered."""
        place = np.full(of_rows, -1, np.int64)
        place[rows] = np.arange(len(rows))
        better, worse = place[self.better], place[self.worse]
        kept = (better >= 0) & (worse >= 0)
        return Preferences(better[kept], worse[kept], self.probability[kept])

    @staticmethod
    def concat(parts: Sequence[Preferences | None], starts: Sequence[int] | Indices) -> Preferences | None:
        """The pairs of several data sets whose rows begin at ``starts`` in the joined one."""
        shifted = [(p, int(start)) for p, start in zip(parts, starts, strict=True) if p is not None]
        if not shifted:
            return None
        return Preferences(
            np.concatenate([p.better + start for p, start in shifted]),
            np.concatenate([p.worse + start for p, start in shifted]),
            np.concatenate([p.probability for p, _ in shifted]),
        )


def _check_row_numbers(numbers: npt.NDArray[Any], name: str) -> None:
    """Refuse what no data set can have; :meth:`Preferences.check` knows how many rows there are."""
    lost = np.flatnonzero((numbers < 0) | (numbers > np.iinfo(INDEX).max))  # larger ones would wrap round
    if len(lost):
        row = int(numbers[lost[0]])
        raise DataError(
            f"{name} is row {row}", place=f"preference {lost[0]}", value=row, rule="Row numbers count from 0, in 64 bits"
        )
