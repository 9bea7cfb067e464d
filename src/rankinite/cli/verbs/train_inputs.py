"""TrainingData: the data and the base ranker of ``rankinite train``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankinite.cli import options
from rankinite.cli.messages import say_all

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.models.base import Ranker


@dataclass(frozen=True)
class TrainingData:
    """What a model is trained from and tested on."""

    train: Dataset
    valid: Dataset | None
    test: Dataset | None
    base: Ranker | None

    @classmethod
    def read(
        cls,
        data: list[Path],
        valid: list[Path] | None,
        test: list[Path] | None,
        base: str | None,
        preferences: Path | None,
        reading: options.Reading,
    ) -> TrainingData:
        """Read all; validation and test data have the features of the training data."""
        from rankinite.cli.ranker_arguments import ranker, read_for

        train, bases = read_for({} if base is None else {base: ranker(base)}, data, reading)
        if preferences is not None:
            from rankinite.data.io.preference_files import read_preferences

            train = train.with_preferences(read_preferences(preferences, train))
        return cls(
            train=train,
            valid=reading.read(valid, like=train) if valid else None,
            test=reading.read(test, like=train) if test else None,
            base=None if base is None else bases[base],
        )

    def check_apart(self, *, allow_overlap: bool) -> None:
        """Refuse queries that would be learnt from and judged by; print a note where the base knows those of --valid."""
        from rankinite.data.overlap import check_apart
        from rankinite.evaluation.training_overlap import TrainingOverlaps, overlap_warnings

        learnt = {"the training data": self.train, "--valid": self.valid}
        check_apart(learnt, {"--valid": self.valid, "--test": self.test}, allow_overlap=allow_overlap)
        if self.base is not None and self.valid is not None:
            overlap = TrainingOverlaps(self.valid).of(self.base)
            say_all(overlap_warnings({"the base": overlap} if overlap and overlap.queries else {}, self.valid.source))
