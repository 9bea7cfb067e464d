"""Tried: the settings of one trial, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankinite.engine.kernel import Floats
from rankinite.tuning.fold_values import FoldValue

State = Literal["complete", "dropped", "refused", "unfinished"]


@dataclass(frozen=True, eq=False)
class Tried:
    """One trial."""

    number: int
    """From 0 on, in the order of the proposals."""
    settings: Mapping[str, Any]
    """The settings that were searched."""
    folds: Sequence[FoldValue]
    """What they are worth on each fold that was done."""
    state: State
    """complete: on all folds; dropped: they surely lose; refused: nothing can be trained so; unfinished: time was up."""

    @property
    def mean(self) -> float:
        """The mean over the queries of the folds done; NaN where there are none."""
        values = self.values()
        return float(values.mean()) if len(values) else float("nan")

    def values(self) -> Floats:
        """The values of all queries of the folds done, higher being better."""
        return np.concatenate([fold.values for fold in self.folds]) if self.folds else np.empty(0)

    def running_means(self) -> list[float]:
        """The mean after each fold."""
        done = [fold for fold in self.folds if len(fold.values)]
        return [float(np.concatenate([fold.values for fold in done[: count + 1]]).mean()) for count in range(len(done))]

    @property
    def size(self) -> float:
        """The mean size of the models."""
        return float(np.mean([fold.size for fold in self.folds])) if self.folds else 0.0

    @property
    def rounds(self) -> int:
        """The median of the folds' best rounds; at least 1."""
        return max(1, round(float(np.median([fold.rounds for fold in self.folds])))) if self.folds else 0

    @property
    def seconds(self) -> float:
        """What its fits took."""
        return sum(fold.seconds for fold in self.folds)

    @property
    def refusal(self) -> str:
        """Why nothing can be trained so."""
        return next((fold.refusal for fold in self.folds if fold.refusal), "")
