"""What ``rankinite adapt`` is given: rankers and data that fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.messages import say
from rankinite.cli.options import Reading, say_odd_features
from rankinite.errors import DataError, listed

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


@dataclass(frozen=True)
class Material:
    """What there is to adapt with, read."""

    backgrounds: Mapping[str, Any]
    files: Mapping[str, list[str]]
    """The files, by the option that named them."""
    data: Mapping[str, Dataset]
    """The data, by the option that named them."""

    @classmethod
    def read(
        cls,
        backgrounds: list[str],
        train: list[Path],
        valid: list[Path] | None,
        test: list[Path] | None,
        open_data: list[Path] | None,
        background_data: list[Path] | None,
        mapping: Mapping[float, float] | None,
        reading: Reading,
        *,
        allow_overlap: bool,
    ) -> Material:
        """Read all, with the features of the target; refuses queries that would be learnt from and judged by."""
        from rankinite.data.overlap import check_apart

        target, models = rankers.read_for(rankers.by_name(backgrounds), train, reading)
        others = {"valid": valid, "test": test, "open": open_data, "background_data": background_data}
        given = {name: paths for name, paths in others.items() if paths}
        data = {"train": target, **{name: reading.read(paths, like=target) for name, paths in given.items()}}
        if mapping is not None:
            try:
                data["background_data"] = data["background_data"].map_grades(dict(mapping))
            except DataError as problem:
                raise DataError(f"--map-grades: {problem}") from problem
        learnt = {f"--{name.replace('_', '-')}": data.get(name) for name in ("train", "valid", "background_data")}
        judged = {f"--{name}": data.get(name) for name in ("train", "valid", "test", "open")}
        check_apart(learnt, judged, allow_overlap=allow_overlap)
        say_odd_features(target)
        _say_unused(target, models)
        for other in [own for own in data.values() if own is not target]:
            _say_empty(target, other)
        files = {name: [str(path) for path in paths] for name, paths in {"train": train, **given}.items()}
        return cls(models, {"backgrounds": backgrounds, **files}, data)

    def check_measures(self, measures: list[str]) -> None:
        """Refuse measures that do not exist or do not fit the grades before anything is trained."""
        check_measures([self.data[name] for name in ("train", "test", "open") if name in self.data], measures)

    def named(self) -> dict[str, Any]:
        """The inputs as the evidence lists them."""
        sizes = {
            name: {"queries": data.queries, "rows": data.rows, "features": len(data.feature_names)}
            for name, data in self.data.items()
        }
        return {name: {"files": files, **sizes.get(name, {})} for name, files in self.files.items()}


def check_measures(every: Sequence[Dataset], measures: Sequence[Any]) -> None:
    """Refuse measures that do not exist or do not fit the grades of these data."""
    import numpy as np

    from rankinite.evaluation.evaluate import evaluate

    for data in every:
        with suppress(DataError):  # data that tell nothing are refused later, and better
            evaluate(np.zeros(data.rows), data, measures)


def _say_unused(target: Dataset, models: Mapping[str, Any]) -> None:
    """A word on features that only the methods which train on the target can use."""
    known = [model.feature_names for model in models.values() if len(model.feature_names) > 1]
    unused = [name for name in target.feature_names if not any(name in names for names in known)]
    if known and unused:
        say(f"{target.source}: no background knows {listed(unused, 5)}; methods that train on the target may use them")


def _say_empty(target: Dataset, other: Dataset) -> None:
    """A word on features that a file lacks: in LETOR, what is not there is 0."""
    lacking: Any = ~other.features.any(axis=0) & target.features.any(axis=0)
    names = [name for name, empty in zip(target.feature_names, lacking.tolist(), strict=True) if empty]
    if names:
        say(f"{other.source}: {listed(names, 5)} are 0 in every row, but not in {target.source}; are they missing?")
