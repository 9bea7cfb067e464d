"""Augmented: training data enlarged by samples of each query's documents (paper 004 §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankinite.checks import check_count, check_number, check_seed
from rankinite.data.dataset import Dataset
from rankinite.data.sampling import AUG70, augment
from rankinite.evaluation.inputs import Scorer
from rankinite.learners.base import Callback, Trainer
from rankinite.learners.start import check_data
from rankinite.models.base import Fitted


@dataclass(frozen=True)
class Augmented:
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

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker."""
        check_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        larger = augment(train, self.share, self.copies, seed=self.seed)
        return self.trainer.fit(larger, valid, base=base, callbacks=callbacks, allow_overlap=allow_overlap)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        drawn = {"share": self.share, "copies": self.copies, "seed": self.seed}
        return {"trainer": "Augmented", **drawn, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Augmented:
        """Other samples."""
        return replace(self, seed=(self.seed + number) % (1 << 64))
