"""Outcome: what one case of an experiment gives, as plain numbers that a file can hold.

Tests × systems × measures × queries are kept query by query, so that any two systems can be compared later, paired.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import SCORE, Floats
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import Scorer
from rankinite.measures.base import Measure

DIGITS = 5
"""Decimals of a query's value, as it is kept: more than any mean is shown with."""
Values = Mapping[str, Mapping[str, Floats]]
"""System → measure → one value per query, NaN where the query tells nothing."""
Points = tuple[Sequence[float], Sequence[float]]
"""The x and y of a curve."""


@dataclass(frozen=True)
class Outcome:
    """The values of every system on every test, curves, and further facts."""

    tests: Mapping[str, Values] = field(default_factory=dict)
    """Test → system → measure → one value per query."""
    curves: Mapping[str, Mapping[str, Points]] = field(default_factory=dict)
    """What is drawn → system → points."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else the item's tables show: numbers and texts that JSON holds."""

    def to_bytes(self) -> bytes:
        """As compressed JSON."""
        tests = {
            test: {system: {m: _listed(values) for m, values in measured.items()} for system, measured in systems.items()}
            for test, systems in self.tests.items()
        }
        curves = {
            name: {system: [_listed(line) for line in points] for system, points in systems.items()}
            for name, systems in self.curves.items()
        }
        content = {"tests": tests, "curves": curves, "facts": dict(self.facts)}
        return lzma.compress(json.dumps(content, separators=(",", ":")).encode(), preset=9)

    @classmethod
    def from_bytes(cls, content: bytes) -> Outcome:
        """What :meth:`to_bytes` wrote."""
        read: dict[str, Any] = json.loads(lzma.decompress(content))
        tests = {
            test: {system: {m: np.asarray(v, SCORE) for m, v in measured.items()} for system, measured in systems.items()}
            for test, systems in read["tests"].items()
        }
        curves = {name: {s: (xs, ys) for s, (xs, ys) in systems.items()} for name, systems in read["curves"].items()}
        return cls(tests, curves, read["facts"])


def judged(rankers: Mapping[str, Scorer | Floats], data: Dataset, measures: Sequence[Measure | str]) -> Values:
    """The values of every query by every ranker (or by its scores), queries of one grade skipped as in paper 000."""
    found: dict[str, dict[str, Floats]] = {}
    for name, ranker in rankers.items():
        evaluation = evaluate(ranker, data, measures)
        found[name] = {str(result.measure): result.per_query for result in evaluation.results}
    return found


def _listed(values: Sequence[float] | Floats) -> list[float | None]:
    """Numbers as JSON has them: rounded, and none for what is not a number."""
    return [None if np.isnan(value) else round(float(value), DIGITS) for value in np.asarray(values, SCORE)]
