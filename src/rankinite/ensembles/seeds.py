"""Seeds: the same fit with other random numbers, averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankinite.checks import check_count
from rankinite.data.dataset import Dataset
from rankinite.ensembles.members import Member, mean_of_fits
from rankinite.evaluation.inputs import Scorer
from rankinite.learners.base import Callback, Trainer
from rankinite.learners.start import check_data
from rankinite.models.base import Fitted


@dataclass(frozen=True)
class Seeds:
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

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker. ``callbacks`` are given a round for each member that is done."""
        check_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        members = [Member(self.trainer.reseeded(number), train, valid) for number in range(self.count)]
        return mean_of_fits(members, "Seeds", base, callbacks, allow_overlap=allow_overlap)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {"trainer": "Seeds", "count": self.count, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Seeds:
        """The next ``count`` seeds."""
        return replace(self, trainer=self.trainer.reseeded(number * self.count))
