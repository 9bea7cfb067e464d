"""Average: unlike trainers, whose rankers are scaled to unit variance and averaged (paper 004 §4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankinite.combine.averaging import average
from rankinite.data.dataset import Dataset
from rankinite.ensembles.interruption import check_whole
from rankinite.ensembles.kept_fits import KeptFits
from rankinite.ensembles.members import tell
from rankinite.errors import ArgumentError
from rankinite.evaluation.inputs import Scorer
from rankinite.learners.base import Callback, Trainer
from rankinite.learners.start import check_data, refuse_checkpoints
from rankinite.models.base import Fitted


@dataclass(frozen=True)
class Average:
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

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker. ``callbacks`` are given a round for each trainer that is done."""
        check_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        refuse_checkpoints("Average", callbacks)
        kept = None if self.keep is None else KeptFits(self.keep, train, valid, base)
        rankers: dict[str, Fitted] = {}
        for name, trainer in self.trainers.items():  # one after the other: each uses all threads
            ranker = None if kept is None else kept.get(name, trainer)
            if ranker is None:
                ranker = trainer.fit(train, valid, base=base, allow_overlap=allow_overlap)
                check_whole(ranker)
                if kept is not None:
                    kept.put(name, trainer, ranker)
            rankers[name] = ranker
            tell(callbacks, len(rankers), len(self.trainers), ranker)
        found = average(rankers, train).ranker
        assert isinstance(found, Fitted)
        return found

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        return {"trainer": "Average", "of": {name: trainer.settings() for name, trainer in self.trainers.items()}}

    def reseeded(self, number: int) -> Average:
        """Every trainer with other random numbers."""
        return replace(self, trainers={name: trainer.reseeded(number) for name, trainer in self.trainers.items()})
