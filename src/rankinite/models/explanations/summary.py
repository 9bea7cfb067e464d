"""WithinQueries: what ranks the documents of all queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import DataError
from rankinite.evaluation.scorers import match_to
from rankinite.evaluation.significance import exact_mean
from rankinite.grid import Grid, number
from rankinite.models.base import split_scores
from rankinite.models.explanations.contributions import Contributions, Sampling
from rankinite.models.explanations.query import within_sizes
from rankinite.plurals import agreeing, counted
from rankinite.short_names import short_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 20
"""Features that are printed."""
ROWS = 1 << 14
"""About as many are split at a time."""


@dataclass(frozen=True, slots=True)
class FeatureSize:
    """How much one feature adds to scores."""

    feature: str
    """The feature."""
    within: float
    """The mean size of its contributions, less their mean in each query; queries count alike."""
    overall: float
    """The mean size of its contributions as they are, which also holds what all documents of a query share."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        return {name: getattr(self, name) for name in ("feature", "within", "overall")}


@dataclass(frozen=True, slots=True)
class WithinQueries:
    """What ranks the documents of all queries: the size of every feature's contributions within them."""

    source: str
    """The data."""
    queries: int
    """How many queries there are."""
    rows: int
    """How many documents."""
    features: tuple[FeatureSize, ...]
    """One per feature, the largest within queries first."""

    def grid(self, most: int | None = SHOWN) -> Grid:
        """The table that is printed; ``most`` features, or all."""
        shown = self.features[:most]
        total = sum(one.within for one in self.features) or 1.0
        rows = tuple(
            (one.feature, number(one.within), f"{100 * one.within / total:.1f} %", number(one.overall)) for one in shown
        )
        hidden = len(self.features) - len(shown)
        return Grid(
            ("feature", "within queries", "share", "of scores"),
            rows,
            title=f"{short_source(self.source)}: {counted(self.queries, 'query')}, {counted(self.rows, 'document')}",
            notes=(
                *([f"{counted(hidden, 'more feature')} {agreeing(hidden, 'is')} smaller."] if hidden else []),
                "Within queries: mean size of contributions, less their mean in each query, which cannot rank its documents.",
                "Of scores: their mean size as they are.",
            ),
        )

    def to_json(self) -> str:
        """Everything there is."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def to_dict(self) -> dict[str, Any]:
        """The content of :meth:`to_json`."""
        facts = {"data": self.source, "queries": self.queries, "documents": self.rows}
        return {**facts, "features": [one.to_dict() for one in self.features]}

    def plot(self, top: int = SHOWN, axes: Axes | None = None) -> Axes:
        """Draw the sizes within queries, the largest on top."""
        from rankinite.models.explanations.plots import plot_summary

        return plot_summary(self, top, axes)

    def __str__(self) -> str:
        return self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()


def explain_queries(ranker: Any, data: Dataset, sampling: Sampling) -> WithinQueries:
    """The size of every feature's contributions within the queries of data."""
    if not isinstance(data, Dataset) or not data.queries:  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        raise DataError("there are no queries to explain", place="explain", remedy="Give a Dataset with at least one query")
    matched, _ = match_to(ranker, data)
    names: tuple[str, ...] = ()
    within, overall = [], []
    for first, last in _blocks(data):
        part = data.select_queries(np.arange(first, last))
        split = split_scores(matched, part, sampling)
        names = split.feature_names
        for begin, end in zip(part.offsets[:-1].tolist(), part.offsets[1:].tolist(), strict=True):
            one = Contributions(split.values[begin:end], split.base, names)
            within.append(within_sizes(one))
            overall.append(np.abs(np.sort(one.values, axis=0)).mean(axis=0))
    sizes = np.diff(data.offsets)
    found = [
        FeatureSize(
            name,
            exact_mean(np.asarray([one[f] for one in within])),
            exact_mean(np.asarray([one[f] for one in overall]) * sizes) * data.queries / data.rows,
        )
        for f, name in enumerate(names)
    ]
    found.sort(key=lambda one: (-one.within, -one.overall))
    return WithinQueries(data.source, data.queries, data.rows, tuple(found))


def _blocks(data: Dataset) -> Iterator[tuple[int, int]]:
    """Ranges of queries of about ``ROWS`` rows."""
    first = 0
    while first < data.queries:
        last = int(np.searchsorted(data.offsets, data.offsets[first] + ROWS, side="right")) - 1
        last = min(max(last, first + 1), data.queries)
        yield first, last
        first = last
