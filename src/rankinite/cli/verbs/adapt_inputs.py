"""Inputs of ``rankinite adapt``: rankers and data that fit together."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankinite.cli import ranker_arguments as rankers
from rankinite.cli.messages import say
from rankinite.cli.options import say_odd_features
from rankinite.cli.reading_options import Reading, grade_map
from rankinite.errors import ArgumentError, DataError, RankiniteError, listed

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


@dataclass(frozen=True)
class GradeMaps:
    """The grades that words and numbers stand for, in the background's data and in those of the target."""

    background: str | None = None
    """What --map-grades says."""
    target: str | None = None
    """What --map-target-grades says."""

    def check(self, background_data: list[Path] | None) -> None:
        """Refuse maps that cannot be understood before anything is read, and one without data that it is for."""
        if self.target is not None:
            with self.named_in_errors():
                grade_map(self.target)
        if self.background is not None:
            grade_map(self.background)
            if background_data is None:
                problem = "is about the grades of `background_data`, which is missing"
                remedy = "Leave it out, or give the data; `map_target_grades` is for the grades of `train`"
                raise ArgumentError(problem, setting="map_grades", value=self.background, remedy=remedy)

    def for_target(self, reading: Reading) -> Reading:
        """How data of the target are read."""
        return replace(reading, map_grades=self.target)

    def read(self, name: str, files: list[Path], reading: Reading, *, like: Dataset) -> Dataset:
        """The data of an option."""
        if name == "background_data":
            return replace(reading, map_grades=self.background).read(files, like=like)
        with self.named_in_errors():
            return self.for_target(reading).read(files, like=like)

    @contextmanager
    def named_in_errors(self) -> Generator[None]:
        """Let errors about data of the target name the option for them."""
        try:
            yield
        except RankiniteError as problem:
            renamed = problem.replaced("map_grades", "map_target_grades").replaced("map-grades", "map-target-grades")
            raise renamed from problem


@dataclass(frozen=True)
class Inputs:
    """The rankers and data of an adaptation, read."""

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
        others: Mapping[str, list[Path] | None],
        maps: GradeMaps,
        reading: Reading,
        *,
        allow_overlap: bool,
    ) -> Inputs:
        """Read all files, with the features of the target; refuses queries that would be learnt from and judged by.

        ``others``: files besides ``train``, by their option; ``maps``: new grades of both domains.
        """
        from rankinite.data.identity import check_apart

        known = rankers.by_name(backgrounds)
        with maps.named_in_errors():
            target, models = rankers.read_for(known, train, maps.for_target(reading))
        paths = {name: files for name, files in others.items() if files}
        data = {"train": target}
        for name, files in paths.items():
            data[name] = maps.read(name, files, reading, like=target)
        learnt = {f"--{name.replace('_', '-')}": data.get(name) for name in ("train", "valid", "background_data")}
        judged = {f"--{name}": data.get(name) for name in ("train", "valid", "test", "shifted")}
        check_apart(learnt, judged, allow_overlap=allow_overlap)
        say_odd_features(target)
        _say_unused(target, models)
        for name in paths:
            _say_empty(target, data[name])
        files = {name: [str(path) for path in files] for name, files in {"train": train, **paths}.items()}
        return cls(models, {"backgrounds": backgrounds, **files}, data)

    def check_measures(self, measures: list[str]) -> None:
        """Refuse measures that do not exist or do not fit the grades before anything is trained."""
        check_measures([self.data[name] for name in ("train", "test", "shifted") if name in self.data], measures)

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
        with suppress(DataError):  # data that cannot judge are refused later, with a better message
            evaluate(data.in_row_order(np.zeros(data.rows)), data, measures)


def _say_unused(target: Dataset, models: Mapping[str, Any]) -> None:
    """Print a note on features that only the methods which train on the target can use."""
    known = [model.feature_names for model in models.values() if len(model.feature_names) > 1]
    unused = [name for name in target.feature_names if not any(name in names for names in known)]
    if known and unused:
        say(f"{target.source}: no background knows {listed(unused, 5)}; methods that train on the target may use them")


def _say_empty(target: Dataset, other: Dataset) -> None:
    """Print a note on features that a file does not have: in LETOR, an absent feature is 0."""
    missing: Any = ~other.features.any(axis=0) & target.features.any(axis=0)
    names = [name for name, empty in zip(target.feature_names, missing.tolist(), strict=True) if empty]
    if names:
        say(f"{other.source}: every row has 0 for {listed(names, 5)}, unlike {target.source}; are values missing?")


def split_names(entries: list[str] | None) -> list[str] | None:
    """Names from a repeated option, each entry of which may be several with commas: ``["a,b", "c"]`` → a, b, c."""
    return None if entries is None else [name.strip() for entry in entries for name in entry.split(",") if name.strip()]


def check_background_rate(rate: float | None) -> None:
    """Refuse a rate outside (0, 1]."""
    if rate is not None and not 0.0 < rate <= 1.0:
        raise ArgumentError("must be above 0 and at most 1", setting="background_rate", value=rate, remedy="0.1 is usual")
