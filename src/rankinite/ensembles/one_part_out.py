"""OnePartOut: a single fit of a bag, which stops by one part of the queries and learns from all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankinite.checks import check_count, check_seed
from rankinite.data.folds import holdouts
from rankinite.data.joining import reunited
from rankinite.ensembles.composite import Composite
from rankinite.ensembles.fits import Fit, Material, hands_out
from rankinite.learners.base import Callback, Trainer
from rankinite.models.base import Fitted


@dataclass(frozen=True)
class OnePartOut(Composite):
    """A trainer of one member of a :class:`rankinite.Bag`: all of them, by number, are the bag's, and can be kept one by one.

    >>> ranker = OnePartOut(LambdaMART(), parts=10, number=3).fit(train)                       # doctest: +SKIP
    """

    trainer: Trainer
    """Who trains."""
    parts: int = 10
    """Parts that the queries are dealt into."""
    number: int = 0
    """The part that says when to stop, counted from 0."""
    seed: int = 0
    """Seed of the dealing."""

    def __post_init__(self) -> None:
        check_count("OnePartOut", "parts", self.parts, 2)
        check_count("OnePartOut", "number", self.number, 0, self.parts - 1)
        check_seed("OnePartOut", self.seed)

    @property
    def hands_out(self) -> bool:
        """Whether the inner trainer does."""
        return hands_out(self.trainer)

    def fit_to(self, given: Material, callbacks: Sequence[Callback]) -> Fitted:
        """Train a ranker; what is given as validation data is dealt with the rest, as in a bag."""
        data = given.train if given.valid is None else reunited(given.train, given.valid)
        part = holdouts(data, self.parts, seed=self.seed)[self.number]
        return Fit(self.trainer, replace(given, train=part.rest, valid=part.held)).ranker(callbacks)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        dealt = {"parts": self.parts, "number": self.number, "seed": self.seed}
        return {"trainer": "OnePartOut", **dealt, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> OnePartOut:
        """Dealt otherwise."""
        return replace(self, seed=(self.seed + number) % (1 << 64))
