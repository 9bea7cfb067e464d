"""OnePartOut: a single fit of a bag, which stops by one part of the queries and learns from all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankinite.checks import check_count, check_seed
from rankinite.data.dataset import Dataset
from rankinite.data.folds import holdouts
from rankinite.data.joining import concat
from rankinite.evaluation.inputs import Scorer
from rankinite.learners.base import Callback, Trainer
from rankinite.learners.start import check_data
from rankinite.models.base import Fitted


@dataclass(frozen=True)
class OnePartOut:
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

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker; what is given as validation data is dealt with the rest, as in a bag."""
        check_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        data = train if valid is None else replace(concat([train, valid]), source=train.source)
        part = holdouts(data, self.parts, seed=self.seed)[self.number]
        return self.trainer.fit(part.rest, part.held, base=base, callbacks=callbacks, allow_overlap=allow_overlap)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        dealt = {"parts": self.parts, "number": self.number, "seed": self.seed}
        return {"trainer": "OnePartOut", **dealt, "of": self.trainer.settings()}

    def reseeded(self, number: int) -> OnePartOut:
        """Dealt otherwise."""
        return replace(self, seed=(self.seed + number) % (1 << 64))
