"""Average: unlike trainers, whose rankers are scaled to unit variance and averaged (paper 004 §4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankinite.combine.inexact_weights import average
from rankinite.ensembles.composite import Composite
from rankinite.ensembles.fits import Fit, Material, fit_all, telling
from rankinite.ensembles.kept_fits import KeptFits
from rankinite.errors import ArgumentError
from rankinite.learners.base import Callback, Trainer
from rankinite.models.base import Fitted


@dataclass(frozen=True)
class Average(Composite):
    """A trainer whose ranker is the mean of those of others, each scaled to mean 0 and variance 1 on the training data.

    >>> ranker = Average({"trees": Bag(LambdaMART()), "net": LambdaRank()}).fit(train)         # doctest: +SKIP
    """

    trainers: Mapping[str, Trainer]
    """The trainers by name."""
    keep: Path | str | None = None
    """A folder for finished rankers, from which an interrupted run goes on; of other code, settings or data it uses none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "trainers", dict(self.trainers))
        if len(self.trainers) < 2:
            raise ArgumentError(
                "has fewer than two trainers",
                owner="Average",
                setting="trainers",
                value=list(self.trainers),
                remedy="Give at least two, as {'name': trainer, …}",
            )

    def fit_to(self, given: Material, callbacks: Sequence[Callback]) -> Fitted:
        """Train one after the other, each on all threads, or all at once on a cluster."""
        fits = {name: Fit(trainer, given) for name, trainer in self.trainers.items()}
        kept = None if self.keep is None else KeptFits(self.keep)
        tell = telling(callbacks, len(fits))
        rankers: dict[str, Fitted] = {}
        for name, fit in fits.items():
            found = None if kept is None else kept.get(name, fit)
            if found is not None:
                rankers[name] = found
                tell(0, found)
        left = [name for name in fits if name not in rankers]

        def done(number: int, ranker: Fitted) -> None:
            if kept is not None:
                kept.put(left[number], fits[left[number]], ranker)
            tell(number, ranker)

        rankers |= zip(left, fit_all([fits[name] for name in left], done, in_turn=True), strict=True)
        found = average({name: rankers[name] for name in fits}, given.train).ranker
        assert isinstance(found, Fitted)
        return found

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {"trainer": "Average", "of": {name: trainer.settings() for name, trainer in self.trainers.items()}}

    def reseeded(self, number: int) -> Average:
        """Every trainer with other random numbers."""
        return replace(self, trainers={name: trainer.reseeded(number) for name, trainer in self.trainers.items()})
