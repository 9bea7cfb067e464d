"""Experiment: the fits behind one or several tables and figures, in cases that are run, kept and repeated one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankinite.errors import ArgumentError
from rankinite.reproduce.outcome import Outcome


@dataclass(frozen=True)
class Case:
    """One piece of an experiment: some data, perhaps a part, a size and a draw of them."""

    name: str
    """What it is called; no other case of the experiment is called so."""
    unit: str
    """What is independent of all else: a data set, a pair of domains, an artificial world."""
    data: str = ""
    """The folder of real data that it needs, below the one given; empty where the data are artificial."""
    queries: str = ""
    """What its test queries are: cases of a unit with the same text here are tested on the same queries."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What tells it from other cases of its unit: a fold, a number of queries, a draw."""
    seconds: float = 60.0
    """About how long it takes on two cores."""

    @property
    def real(self) -> bool:
        """Whether its data are real."""
        return bool(self.data)


@dataclass(frozen=True)
class Lab:
    """Where an experiment is made: with which data, and how thoroughly."""

    data: Path | None = None
    """The folder with real data; without it artificial data alone are used."""
    quick: bool = False
    """The version of a few seconds, which shows that all works and decides nothing."""

    def path(self, *parts: str) -> Path:
        """A file of real data."""
        assert self.data is not None, "cases that need real data are left out without it"
        path = self.data.joinpath(*parts)
        if not path.exists():
            raise ArgumentError(
                f"has no {'/'.join(parts)}",
                owner="reproduce",
                setting="data",
                value=str(self.data),
                rule="Experiments on real data read mq2007, mq2008 and classic below that folder",
                remedy="Give the folder that has them, or leave `data` out to use artificial data alone",
            )
        return path

    def size(self, full: int, quick: int) -> int:
        """A number of the full version, or of the quick one."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Experiment:
    """Cases, and how each is run."""

    name: str
    """What its kept outcomes are called."""
    cases: Callable[[Lab], Sequence[Case]]
    """The cases of the full version or of the quick one."""
    run: Callable[[Case, Lab], Outcome]
    """What a case gives."""
    version: int = 1
    """To be raised with every change of settings: outcomes of other versions are not used."""

    def possible(self, lab: Lab) -> list[Case]:
        """The cases that can be run with the data there are."""
        return [case for case in self.cases(lab) if lab.data is not None or not case.real]


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of an item's experiments, with the cases that they are of."""

    found: Sequence[tuple[Case, Outcome]]

    def __iter__(self) -> Iterator[tuple[Case, Outcome]]:
        return iter(self.found)

    def __bool__(self) -> bool:
        return bool(self.found)

    def where(self, *, real: bool | None = None, unit: str | None = None, **settings: Any) -> Outcomes:
        """Those of real or of artificial data, of a unit, or with these settings."""
        return Outcomes(
            [
                (case, outcome)
                for case, outcome in self.found
                if (real is None or case.real is real)
                and (unit is None or case.unit == unit)
                and all(case.settings.get(name) == value for name, value in settings.items())
            ]
        )

    @property
    def units(self) -> list[str]:
        """The units, in the order of the cases."""
        return list(dict.fromkeys(case.unit for case, _ in self.found))

    def settings(self, name: str) -> list[Any]:
        """The values that a setting has, in the order of the cases."""
        return list(dict.fromkeys(case.settings[name] for case, _ in self.found if name in case.settings))

    def systems(self, test: str = "test") -> list[str]:
        """The systems of a test, in their order."""
        return list(dict.fromkeys(name for _, outcome in self.found for name in outcome.tests.get(test, {})))
