"""Movers: which features moved documents between two rankers, for the queries that changed most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats, Indices
from rankinite.errors import ArgumentError
from rankinite.models.base import Fitted
from rankinite.models.explanations.contributions import Contributions, weighted_sum

MOST_DOCUMENTS = 5_000
"""Documents of the queries that are explained: seconds of work, and some hundred kilobytes of the file."""
SHOWN = 3
"""Features that are kept for each document."""


@dataclass(frozen=True)
class Movers:
    """What moved documents: per feature, the change of its contribution, in standard deviations of the query's scores."""

    features: tuple[str, ...]
    """The features that occur."""
    queries: int
    """How many queries are explained: those that changed most."""
    documents: tuple[int, ...]
    """The documents that moved, by their place in the columns of documents."""
    pushes: tuple[tuple[float, ...], ...]
    """For each, the number of a feature and its push, then those of the next, the largest first; up is above 0."""


def movers_of(
    data: Dataset, order: Indices, moved: Sequence[bool], changes: Floats, rankers: tuple[Any, Any] | None
) -> Movers | None:
    """What moved documents from the first ranker to the second; None where their scores cannot be split exactly.

    ``order``: the row of each document of the report; ``moved``: whether its rank changed; ``changes``: of each query's value.
    """
    if rankers is None or not all(isinstance(one, Fitted) for one in rankers):
        return None
    chosen = _chosen(data, changes)
    part = data.select_queries(chosen)
    try:
        before, after = (one.contributions(part, permutations=4) for one in rankers)
    except ArgumentError:  # such as scores that depend on the other documents
        return None
    if before.errors is not None or after.errors is not None:
        return None
    change = weighted_sum([(1.0, _standardised(after, part)), (-1.0, _standardised(before, part))])
    rows = np.repeat(data.offsets[chosen] - part.offsets[:-1], np.diff(part.offsets)) + np.arange(part.rows)
    place = np.full(data.rows, -1)
    place[rows] = np.arange(part.rows)
    documents = np.flatnonzero(np.asarray(moved) & (place[order] >= 0))
    values = change.values[place[order[documents]]]
    largest = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :SHOWN]
    used = np.unique(largest)
    number = np.zeros(values.shape[1], np.int64)
    number[used] = np.arange(len(used))
    pushes = tuple(
        tuple(entry for f in best if (push := round(float(row[f]), 3)) for entry in (int(number[f]), push))
        for row, best in zip(values, largest.tolist(), strict=True)
    )
    names = tuple(change.feature_names[f] for f in used.tolist())
    return Movers(names, len(chosen), tuple(documents.tolist()), pushes)


def _chosen(data: Dataset, changes: Floats) -> Indices:
    """The queries that changed most, as many as have no more documents than allowed, in their order."""
    by_size = np.argsort(-np.abs(changes), kind="stable")
    total = np.cumsum(np.diff(data.offsets)[by_size])
    return np.sort(by_size[: max(int(np.searchsorted(total, MOST_DOCUMENTS, side="right")), 1)])


def _standardised(split: Contributions, data: Dataset) -> Contributions:
    """Contributions less their mean in each query, in standard deviations of the query's scores: rankers differ in scale."""
    lengths = np.diff(data.offsets)
    means = np.add.reduceat(split.values, data.offsets[:-1], axis=0) / lengths[:, None]
    away = split.values - np.repeat(means, lengths, axis=0)
    spread = np.sqrt(np.add.reduceat(away.sum(axis=1) ** 2, data.offsets[:-1]) / lengths)
    spread[spread == 0.0] = 1.0
    return Contributions(away / np.repeat(spread, lengths)[:, None], 0.0, split.feature_names)
