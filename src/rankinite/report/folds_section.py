"""FoldsSection: a cross-validation fold by fold, as plain data of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankinite.evaluation.compare import Comparison
from rankinite.frames import finite
from rankinite.measures.base import sign_of


@dataclass(frozen=True)
class FoldResult:
    """The queries of one fold, each scored by rankers that did not see it."""

    queries: int
    """How many of them the measure counts."""
    means: tuple[float | None, ...]
    """One per system; None where the measure counts no query."""


@dataclass(frozen=True)
class FoldsSection:
    """The measure of every system in every fold."""

    measure: str
    higher_is_better: bool
    systems: tuple[str, ...]
    chosen: str | None
    means: tuple[float | None, ...]
    """Over the queries of all folds, one per system."""
    best_in: tuple[int, ...]
    """In how many folds each system has the best mean, alone or with others."""
    folds: tuple[FoldResult, ...]


def folds_section(comparison: Comparison, sizes: Sequence[int], chosen: str | None) -> FoldsSection:
    """The folds as a report has them; ``sizes``: the test queries of each, in the order of the comparison."""
    measure, systems = comparison.measures[0], comparison.systems
    values = np.stack([comparison[name][measure].per_query for name in systems])
    parts = np.split(values, np.cumsum(sizes)[:-1], axis=1)
    folds = tuple(_fold(part[:, ~np.isnan(part[0])]) for part in parts)
    sign = sign_of(measure)
    best = [max((sign * mean for mean in fold.means if mean is not None), default=None) for fold in folds]
    return FoldsSection(
        measure=str(measure),
        higher_is_better=measure.higher_is_better,
        systems=systems,
        chosen=chosen,
        means=tuple(finite(comparison[name][measure].mean) for name in systems),
        best_in=tuple(
            sum((mean := fold.means[place]) is not None and sign * mean == top for fold, top in zip(folds, best, strict=True))
            for place in range(len(systems))
        ),
        folds=folds,
    )


def _fold(values: np.ndarray) -> FoldResult:
    """From values, one row per system, of the queries counted."""
    queries = values.shape[1]
    return FoldResult(queries, tuple(finite(float(row.mean())) if queries else None for row in values))
