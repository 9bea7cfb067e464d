"""Bag: several fits, each with another part of the queries as its validation data, averaged (paper 004 §4.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rankinite.checks import check_count, check_seed
from rankinite.data.folds import holdouts
from rankinite.data.joining import reunited
from rankinite.ensembles.composite import MeanOfFits
from rankinite.ensembles.fits import Fit, Material
from rankinite.learners.base import Trainer


@dataclass(frozen=True)
class Bag(MeanOfFits):
    """A trainer whose ranker is the mean of several, each trained on all queries but another part of them.

    The part left out says when that ranker's training stops, so that all queries are learnt from and no separate validation
    data are needed; what is given as such is learnt from as well.

    >>> ranker = Bag(LambdaMART(measure="err"), parts=10).fit(train)                           # doctest: +SKIP
    """

    trainer: Trainer
    """Who trains each of them."""
    parts: int = 10
    """Parts that the queries are dealt into, and rankers that are trained."""
    seed: int = 0
    """Seed of the dealing."""
    members: int | None = None
    """Rankers to train, each without another part; one per part if left out. One is a single fit that stops by a part."""

    def __post_init__(self) -> None:
        check_count("Bag", "parts", self.parts, 2)
        check_seed("Bag", self.seed)
        if self.members is not None:
            check_count("Bag", "members", self.members, most=self.parts)

    def members_of(self, given: Material) -> list[Fit]:
        """A fit without each part; validation data are learnt from too."""
        data = given.train if given.valid is None else reunited(given.train, given.valid)
        dealt = holdouts(data, self.parts, seed=self.seed)[: self.members]
        return [Fit(self.trainer, replace(given, train=part.rest, valid=part.held)) for part in dealt]

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        dealt = {"parts": self.parts, "seed": self.seed, "members": self.members}
        return {"trainer": "Bag", **dealt, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> Bag:
        """Dealt otherwise."""
        return replace(self, seed=(self.seed + number) % (1 << 64))
