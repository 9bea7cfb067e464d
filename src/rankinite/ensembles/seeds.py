"""Seeds: the same fit with other random numbers, averaged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rankinite.checks import check_count
from rankinite.ensembles.composite import MeanOfFits
from rankinite.ensembles.fits import Fit, Material
from rankinite.learners.base import Trainer


@dataclass(frozen=True)
class Seeds(MeanOfFits):
    """A trainer whose ranker is the mean of ``count`` rankers that differ in their random numbers alone.

    >>> ranker = Seeds(LambdaMART(row_share=0.7), count=5).fit(train, valid)                   # doctest: +SKIP
    """

    trainer: Trainer
    """Who trains each of them: a learner that draws something at random."""
    count: int = 5
    """Rankers that are trained."""

    def __post_init__(self) -> None:
        check_count("Seeds", "count", self.count)
        self.trainer.reseeded(1)  # refuses where nothing is random

    def members_of(self, given: Material) -> list[Fit]:
        """A fit with each seed."""
        return [Fit(self.trainer.reseeded(number), given) for number in range(self.count)]

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {"trainer": "Seeds", "count": self.count, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Seeds:
        """The next ``count`` seeds."""
        return replace(self, trainer=self.trainer.reseeded(number * self.count))
