"""TrainingData: the data and the base ranker of ``rankinite train``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankinite.cli import options
from rankinite.cli.messages import detail, say_all
from rankinite.plurals import data_size

if TYPE_CHECKING:
    from rankinite.binned.data import Binned
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

        models = {} if base is None else {base: ranker(base)}
        train, bases = bins_for(models, data) if is_coded(data) else read_for(models, data, reading)
        if preferences is not None:
            from rankinite.data.io.preference_files import read_preferences

            train = train.with_preferences(read_preferences(preferences, train))
        return cls(
            train=train,
            valid=(coded(valid) if is_coded(valid) else reading.read(valid, like=train)) if valid else None,
            test=reading.read(test, like=train) if test else None,
            base=None if base is None else bases[base],
        )

    @property
    def is_coded(self) -> bool:
        """Whether the training data are folders of bins."""
        from rankinite.binned.data import Binned

        return isinstance(self.train, Binned)

    def check_apart(self, *, allow_overlap: bool) -> None:
        """Refuse queries that would be learnt from and judged by; print a note where the base knows those of --valid."""
        from rankinite.data.identity import check_apart
        from rankinite.evaluation.caveats import TrainingOverlaps, overlap_warnings

        learnt = {"the training data": self.train, "--valid": self.valid}
        check_apart(learnt, {"--valid": self.valid, "--test": self.test}, allow_overlap=allow_overlap)
        if self.base is not None and self.valid is not None:
            overlap = TrainingOverlaps(self.valid).of(self.base)
            say_all(overlap_warnings({"the base": overlap} if overlap and overlap.queries else {}, self.valid.source))


def is_coded(paths: list[Path]) -> bool:
    """Whether the first of the paths is a folder of bins; Binned refuses others among them."""
    from rankinite.binned.folder import is_bins

    return bool(paths) and is_bins(paths[0])


def coded(folders: list[Path]) -> Binned:
    """Folders of bins as one data set."""
    from rankinite.binned.data import Binned

    found = Binned(folders)
    detail(f"{found.source}: {data_size(found.queries, found.rows, len(found.feature_names))}, coded")
    return found


def bins_for(models: dict[str, Ranker], folders: list[Path]) -> tuple[Binned, dict[str, Ranker]]:
    """Folders of bins, and the rankers with features as the bins call them."""
    from rankinite.models.files.matching import match_features

    data = coded(folders)
    return data, {name: match_features(model, data.feature_names, data.source)[0] for name, model in models.items()}
