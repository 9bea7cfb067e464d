"""Trial: a setting that was tried on some of the folds, and which trials are dropped.

Racing compares settings over whole folds, not after the first rounds of training, when small rates look bad that win in the
end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from rankinite.engine.kernel import Floats
from rankinite.tuning.evaluator import FoldValue

State = Literal["complete", "dropped", "refused", "unfinished"]


@dataclass(frozen=True, eq=False)
class Trial:
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


LEAST = 20
"""Queries without which nobody is dropped."""
CHANCE = 0.05
"""The chance that a setting as good as the leader is dropped after a fold, for all that are compared with it together."""


def losers(done: Mapping[int, Sequence[Floats]], incumbent: Sequence[Floats] | None) -> set[int]:
    """The settings to drop, given the values on the queries of the folds done, higher being better.

    They are compared, query by query, with the best so far: one of them, or the ``incumbent``, the best of earlier settings.
    """
    joined = {number: np.concatenate(list(values)) for number, values in done.items() if values}
    if not joined:
        return set()
    queries = len(next(iter(joined.values())))
    rivals = list(joined.values())
    if incumbent is not None:
        rivals.append(np.concatenate(list(incumbent))[:queries])
    leader = max(rivals, key=lambda values: float(values.mean()))
    errors = NormalDist().inv_cdf(1.0 - CHANCE / len(joined))  # Bonferroni's: the leader is the luckiest of many
    return {number for number, values in joined.items() if _is_behind(leader - values, errors)}


def _is_behind(differences: Floats, errors: float) -> bool:
    """Whether the mean difference is more than so many standard errors."""
    if len(differences) < LEAST:
        return False
    error = float(differences.std(ddof=1)) / np.sqrt(len(differences))
    return float(differences.mean()) > errors * error > 0.0
