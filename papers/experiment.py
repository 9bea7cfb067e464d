"""Experiment: the fits behind one or several tables and figures, in cases that are run, kept and repeated one by one.

A case is some data, perhaps a fold, a number of target queries and a draw of them. It gives an outcome: plain numbers by which
any two of its systems can be compared later, paired. Outcomes are the results of several cases, which items select from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite import ArgumentError, Dataset, Measure, Scorer, evaluate

Floats = npt.NDArray[np.float64]
Values = Mapping[str, Mapping[str, Floats]]
"""System → measure → one value per query, NaN where the query tells nothing."""
Points = tuple[Sequence[float], Sequence[float]]
"""The x and y of a curve."""
DIGITS, DIGITS_OF_MEANS = 5, 10
"""Decimals that are kept: more than any mean is shown with."""


@dataclass(frozen=True)
class RunContext:
    """With which data experiments are run, and how thoroughly."""

    data: Path | None = None
    """The folder with real data; without it artificial data alone are used."""
    quick: bool = False
    """The version of a few seconds, which shows that all works and decides nothing."""

    def path(self, *parts: str) -> Path:
        assert self.data is not None, "cases that need real data are left out without it"
        path = self.data.joinpath(*parts)
        if not path.exists():
            raise ArgumentError(
                f"has no {'/'.join(parts)}",
                owner="papers",
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
class Case:
    """One piece of an experiment."""

    name: str
    """No other case of the experiment is called so."""
    unit: str
    """What is independent of all else: a data set, a pair of domains, an artificial world."""
    data: str = ""
    """The folder of real data that it needs, below the one given; empty where the data are artificial."""
    queries: str = ""
    """Cases of a unit with the same text here are tested on the same queries."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What distinguishes it from other cases of its unit: a fold, a number of queries, a draw."""
    seconds: float = 60.0
    """About how long it takes on two cores."""

    @property
    def real(self) -> bool:
        return bool(self.data)


@dataclass(frozen=True)
class Outcome:
    """The values of every system on every test, curves, and further facts."""

    tests: Mapping[str, Values] = field(default_factory=dict)
    """Test → system → measure → one value per query, or their mean alone."""
    curves: Mapping[str, Mapping[str, Points]] = field(default_factory=dict)
    """What is drawn → system → points."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else the item's tables show: numbers and texts that JSON holds."""

    def record(self, *, means: bool = False) -> dict[str, Any]:
        """The outcome as JSON holds it: values as multiples of 0.00001, or, with ``means``, their means over the queries."""
        if means:
            tests = {"means": self._tests_as(lambda values: round(float(np.nanmean(values)), DIGITS_OF_MEANS))}
        else:
            tests = {"values": self._tests_as(_multiples)}
        curves = {
            drawn: {system: tuple(map(_rounded, points)) for system, points in systems.items()}
            for drawn, systems in self.curves.items()
        }
        return {**tests, "curves": curves, "facts": dict(self.facts)}

    def _tests_as(self, form: Callable[[Floats], Any]) -> dict[str, Any]:
        return {
            test: {system: {m: form(values) for m, values in measured.items()} for system, measured in systems.items()}
            for test, systems in self.tests.items()
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Outcome:
        """What :meth:`record` gave; a mean counts as the value of a single query."""
        means = record.get("means")
        tests: dict[str, dict[str, dict[str, Any]]] = record["values"] if means is None else means
        arrays = {
            test: {system: {m: _array(values) for m, values in measured.items()} for system, measured in systems.items()}
            for test, systems in tests.items()
        }
        curves = {drawn: {s: (xs, ys) for s, (xs, ys) in systems.items()} for drawn, systems in record["curves"].items()}
        return cls(arrays, curves, record["facts"])


def _multiples(values: Floats) -> list[int | None]:
    return [None if np.isnan(value) else round(round(value, DIGITS) * 10**DIGITS) for value in values.tolist()]


def _array(kept: float | list[int | None]) -> Floats:
    return np.array([kept]) if isinstance(kept, float | int) else np.array(kept, np.float64) / 10**DIGITS


def _rounded(values: Sequence[float]) -> list[float]:
    """Coordinates of a curve; whole numbers without a point."""
    rounded = [round(float(value), DIGITS) for value in values]
    return [int(value) if value.is_integer() else value for value in rounded]


@dataclass(frozen=True)
class Experiment:
    """Cases, and how each is run."""

    name: str
    """The number of its paper, and a word: kept results are found by it."""
    cases: Callable[[RunContext], Sequence[Case]]
    """The cases of the full version or of the quick one."""
    run: Callable[[Case, RunContext], Outcome]
    version: int = 1
    """To be raised with every change of settings: outcomes of other versions are not used."""
    world_means: bool = False
    """Worlds are the sample: of an artificial case only the means over its queries are kept, as nothing else is used."""

    def possible(self, context: RunContext) -> list[Case]:
        """The cases that can be run with the data there are."""
        return [case for case in self.cases(context) if context.data is not None or not case.real]

    def record(self, case: Case, context: RunContext) -> dict[str, Any]:
        """Run a case; what is kept of its outcome."""
        return self.run(case, context).record(means=self.world_means and not case.real)


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of an item's experiments, with the cases that they are of."""

    pairs: Sequence[tuple[Case, Outcome]]

    def __iter__(self) -> Iterator[tuple[Case, Outcome]]:
        return iter(self.pairs)

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def where(self, *, real: bool | None = None, unit: str | None = None, **settings: Any) -> Outcomes:
        """Those of real or of artificial data, of a unit, or with these settings."""
        return Outcomes(
            [
                (case, outcome)
                for case, outcome in self.pairs
                if (real is None or case.real is real)
                and (unit is None or case.unit == unit)
                and all(case.settings.get(name) == value for name, value in settings.items())
            ]
        )

    @property
    def units(self) -> list[str]:
        """The units, in the order of the cases."""
        return list(dict.fromkeys(case.unit for case, _ in self.pairs))

    def settings(self, name: str) -> list[Any]:
        """The values that a setting has, in the order of the cases."""
        return list(dict.fromkeys(case.settings[name] for case, _ in self.pairs if name in case.settings))

    def systems(self, test: str = "test") -> list[str]:
        return list(dict.fromkeys(name for _, outcome in self.pairs for name in outcome.tests.get(test, {})))


def judged(rankers: Mapping[str, Scorer | Floats], data: Dataset, measures: Sequence[Measure | str]) -> Values:
    """The values of every query by every ranker (or by its scores), queries of one grade skipped as in paper 000."""
    evaluations = {name: evaluate(ranker, data, measures) for name, ranker in rankers.items()}
    return {
        name: {str(result.measure): result.per_query for result in evaluation.results}
        for name, evaluation in evaluations.items()
    }
