"""Tuned: the settings chosen, every trial, and what the choice is worth on queries that had no part in the search.

The best value of many trials is too good: among equals, the luckiest leads. Bootstrap bias-corrected cross-validation
(Tsamardinos and others, 2018) asks what the choice is worth on queries that had no part in it: queries are drawn with
repetition, the choice is made on those drawn, and judged on the others. It needs no further fit.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankinite.engine.kernel import Floats
from rankinite.evaluation.evaluate import Evaluation
from rankinite.frames import ArrowTable, Tabular, arrow_of
from rankinite.grid import Grid, GridResult, number
from rankinite.learners.base import Learner, plain_setting
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import Fitted
from rankinite.plurals import counted
from rankinite.seeds import generator
from rankinite.tuning.space import Space
from rankinite.tuning.trials import Trial

RESAMPLES = 1000


@dataclass(frozen=True)
class Estimate:
    """A mean over queries with its 95 % interval."""

    mean: float
    low: float
    high: float


def choose_setting(values: Floats, sizes: Sequence[float], weights: Floats | None = None) -> int:
    """The smallest model that is within one standard error of the best, the better of equals, else the first.

    ``values``: settings × queries, higher being better. ``weights``: how often each query counts.
    """
    counts = np.ones(values.shape[1]) if weights is None else weights
    means = values @ counts / counts.sum()
    behind = values[int(np.argmax(means))] - values
    short = behind @ counts / counts.sum()
    spread = np.sqrt(np.maximum((behind**2) @ counts / counts.sum() - short**2, 0.0))
    near: list[int] = np.flatnonzero(short <= spread / np.sqrt(max(counts.sum() - 1.0, 1.0))).tolist()
    return min(near, key=lambda number: (sizes[number], -float(means[number]), number))


def corrected_estimate(values: Floats, sizes: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate | None:
    """What the setting chosen is worth on queries that had no part in the choice; None with a single query."""
    queries, drawing = values.shape[1], generator(seed)
    found: list[float] = []
    for _ in range(resamples):
        counts = np.bincount(drawing.integers(0, queries, queries), minlength=queries).astype(float)
        left = counts == 0.0
        if left.any():
            found.append(float(values[choose_setting(values, sizes, counts), left].mean()))
    if not found:
        return None
    low, high = np.quantile(found, (0.025, 0.975)).tolist()
    return Estimate(float(np.mean(found)), low, high)


@dataclass(frozen=True, eq=False)
class Tuned(GridResult, Tabular):
    """What a search found."""

    learner: Learner
    """The learner with the settings found, set to train for the number of rounds that was best in the folds."""
    chosen: Trial
    """The trial whose settings were taken: the smallest model within one standard error of the best."""
    trials: Sequence[Trial]
    """All trials, in the order of their numbers."""
    measure: Measure
    folds: int
    """Folds that judged; 0: validation data did."""
    estimate: Estimate | None
    """What the settings chosen are worth on queries that had no part in the choice."""
    importances: Mapping[str, float] = field(default_factory=dict)
    """How much each setting matters, as shares of 1."""
    ranker: Fitted | None = None
    """The model, trained on all data."""
    test: Evaluation | None = None
    """The model on test data."""
    nested: Evaluation | None = None
    """The whole search, repeated without each of the outer folds, on all outer folds."""
    seconds: float = 0.0
    space: Space = field(default_factory=dict)
    """What was searched."""

    @property
    def value(self) -> float:
        """The value of the trial chosen. It is too good, as it is the reason for the choice."""
        return sign_of(self.measure) * self.chosen.mean

    @property
    def settings(self) -> dict[str, Any]:
        """The settings found."""
        return dict(self.chosen.settings)

    def best(self) -> list[Trial]:
        """The trials judged on all folds, the best first."""
        return sorted((tried for tried in self.trials if tried.state == "complete"), key=lambda tried: -tried.mean)

    def grid(self, most: int = 10) -> Grid:
        """The best trials with their settings, and what the one chosen is worth."""
        names = list(self.chosen.settings)
        rows: list[tuple[str, ...]] = []
        for tried in self.best()[:most]:
            marked = " ←" if tried is self.chosen else ""
            cells = [setting_text(tried.settings[name]) for name in names]
            value = number(sign_of(self.measure) * tried.mean)
            rows.append((f"{tried.number + 1}{marked}", f"{value}", *cells, str(tried.rounds), f"{tried.seconds:.1f}"))
        header = ("trial", f"{self.measure} (chosen by)", *names, "rounds", "s")
        return Grid(header, tuple(rows), align="l" + "r" * (len(header) - 1), title=self._title(), notes=tuple(self.notes()))

    def _title(self) -> str:
        where = counted(self.folds, "fold") if self.folds else "validation data"
        return f"{type(self.learner).__name__}: {counted(len(self.trials), 'trial')} on {where}"

    def notes(self) -> list[str]:
        """What the values mean, and how honest they are."""
        left = self.not_complete()
        notes = [f"Of {counted(len(self.trials), 'trial')} {left}."] if left else []
        notes.append(
            "←: chosen, the smallest model within one standard error of the best. Its value is too good: it was chosen by it."
        )
        return notes + self.honest_values()

    def not_complete(self) -> str:
        """How many trials were not judged on all folds, and why."""
        counts = {state: sum(tried.state == state for tried in self.trials) for state in ("dropped", "refused", "unfinished")}
        return ", ".join(f"{count} {state}" for state, count in counts.items() if count)

    def honest_values(self) -> list[str]:
        """What the choice is worth on queries that had no part in it, in a sentence for each way to ask."""
        notes: list[str] = []
        if self.estimate is not None:
            notes.append(f"On queries that had no part in the choice (bootstrap): {self._interval(self.estimate)}.")
        if self.nested is not None:
            found = self.nested[self.measure]
            notes.append(f"The whole search, judged by outer folds: {number(found.mean)} {found.spread}.")
        if self.test is not None:
            found = self.test[self.measure]
            notes.append(f"On the test data: {number(found.mean)} {found.spread}.")
        return notes

    def _interval(self, estimate: Estimate) -> str:
        ends = sorted(sign_of(self.measure) * end for end in (estimate.low, estimate.high))
        return f"{number(sign_of(self.measure) * estimate.mean)} ({number(ends[0])} to {number(ends[1])})"

    def to_arrow(self) -> ArrowTable:
        """One row per trial, in the order of their numbers: what :meth:`table` has."""
        return arrow_of(self.table())

    def table(self) -> list[dict[str, Any]]:
        """Every trial as plain values."""
        sign = sign_of(self.measure)
        return [
            {
                "trial": tried.number + 1,
                "state": tried.state,
                "chosen": tried is self.chosen,
                str(self.measure): None if math.isnan(tried.mean) else sign * tried.mean,
                "folds": len(tried.folds),
                "queries": len(tried.values()),
                "best_round": tried.rounds,
                "size": tried.size,
                "seconds": tried.seconds,
                **{name: plain_setting(value) for name, value in tried.settings.items()},
                "refusal": tried.refusal,
            }
            for tried in self.trials
        ]

    def to_csv(self) -> str:
        """Every trial, a line each."""
        rows = self.table()
        content = io.StringIO()
        writer = csv.DictWriter(content, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return content.getvalue()


def setting_text(value: Any) -> str:
    """A setting as tables show it."""
    return f"{value:.4g}" if isinstance(value, float) else str(plain_setting(value))
