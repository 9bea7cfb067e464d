"""Rescaled: a learner whose ranker's scores are put on another scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from rankinite.checks import check_choice
from rankinite.choices import ScoreScale
from rankinite.ensembles.composite import Composite
from rankinite.ensembles.fits import Fit, Material, hands_out
from rankinite.learners.base import Callback, Trainer
from rankinite.models.base import Fitted
from rankinite.models.normalised import Normalised


@dataclass(frozen=True)
class Rescaled(Composite):
    """A trainer of :class:`Normalised` rankers: what ``trainer`` trains, its scores scaled.

    >>> ranker = Rescaled(MART(loss="graded"), "probability").fit(train)                       # doctest: +SKIP
    """

    trainer: Trainer
    """Who trains."""
    scale: ScoreScale
    """The scale of the scores; "probability" is that of a loss with σ = 1."""

    def __post_init__(self) -> None:
        check_choice("Rescaled", "scale", self.scale, get_args(ScoreScale))

    @property
    def hands_out(self) -> bool:
        """Whether the inner trainer does."""
        return hands_out(self.trainer)

    def fit_to(self, given: Material, callbacks: Sequence[Callback]) -> Fitted:
        """Train, and scale the scores."""
        return Normalised(Fit(self.trainer, given).ranker(callbacks), self.scale)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {"trainer": "Rescaled", "scale": self.scale, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Rescaled:
        """Trained with other random numbers."""
        return replace(self, trainer=self.trainer.reseeded(number))
