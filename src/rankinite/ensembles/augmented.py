"""Augmented: training data enlarged by samples of each query's documents (paper 004 §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankinite.checks import check_count, check_number, check_seed
from rankinite.data.sampling import AUG70, augment
from rankinite.ensembles.composite import Composite
from rankinite.ensembles.fits import Fit, Material, hands_out
from rankinite.learners.base import Callback, Trainer
from rankinite.models.base import Fitted


@dataclass(frozen=True)
class Augmented(Composite):
    """A trainer that learns from the training data and ``copies`` samples of them; validation data stay as they are.

    >>> ranker = Augmented(LambdaMART(), *AUG50).fit(train, valid)                             # doctest: +SKIP
    """

    trainer: Trainer
    """Who learns from the augmented data."""
    share: float = AUG70[0]
    """Share of each query's documents in a sample."""
    copies: int = AUG70[1]
    """Samples of each query."""
    seed: int = 0
    """Seed of the samples."""

    def __post_init__(self) -> None:
        check_number("Augmented", "share", self.share, 0.0, 1.0, above=True)
        check_count("Augmented", "copies", self.copies)
        check_seed("Augmented", self.seed)

    @property
    def hands_out(self) -> bool:
        """Whether the inner trainer does."""
        return hands_out(self.trainer)

    def fit_to(self, given: Material, callbacks: Sequence[Callback]) -> Fitted:
        """Train on the data and their samples."""
        larger = augment(given.train, self.share, self.copies, seed=self.seed)
        return Fit(self.trainer, replace(given, train=larger)).ranker(callbacks)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        drawn = {"share": self.share, "copies": self.copies, "seed": self.seed}
        return {"trainer": "Augmented", **drawn, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Augmented:
        """Other samples."""
        return replace(self, seed=(self.seed + number) % (1 << 64))
