"""Composite: what trainers around other trainers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rankinite.data.dataset import Dataset
from rankinite.ensembles.fits import Fit, Material, fit_all, mean, telling
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.base import Callback
from rankinite.learners.training_checks import refuse_checkpoints, training_data
from rankinite.models.base import Fitted


class Composite(ABC):
    """A trainer whose ranker is put together from what other trainers train, or that treats their data first."""

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker. Where several fits are made, ``callbacks`` are given a round for each that is done."""
        train = training_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        if self.hands_out:
            refuse_checkpoints(type(self).__name__, callbacks)
        return self.fit_to(Material(train, valid, base, allow_overlap), callbacks)

    @property
    def hands_out(self) -> bool:
        """Whether it makes several fits, which it hands out itself, to threads or to a cluster."""
        return True

    @abstractmethod
    def fit_to(self, given: Material, callbacks: Sequence[Callback]) -> Fitted:
        """Train a ranker on data that were checked."""


class MeanOfFits(Composite):
    """A trainer whose ranker is the mean of those of several fits, which are made side by side."""

    def fit_to(self, given: Material, callbacks: Sequence[Callback]) -> Fitted:
        """Train all members, and average their scores."""
        members = self.members_of(given)
        return mean(fit_all(members, telling(callbacks, len(members))))

    @abstractmethod
    def members_of(self, given: Material) -> list[Fit]:
        """The fits that are averaged."""
