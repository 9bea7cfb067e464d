"""CategorySummary: which categories a feature has, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankinite.data.coding import category_columns
from rankinite.data.dataset import Dataset
from rankinite.errors import cut
from rankinite.grid import Grid

_FREQUENT = 10
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class CategorySummary:
    """One categorical feature over all rows."""

    name: str
    categories: int
    """Categories that some row has."""
    frequent: dict[str, int]
    """Rows of each of the ten most frequent categories; of equally frequent ones, the first in the vocabulary."""
    once: int
    """Categories of one row only."""
    missing: int
    """Rows without a category."""


def category_summaries(data: Dataset) -> tuple[CategorySummary, ...]:
    """A summary of every categorical feature."""
    found: list[CategorySummary] = []
    for name, codes in category_columns(data):
        missing, vocabulary = np.isnan(codes), data.categories[name]
        counts = np.bincount(codes[~missing].astype(np.int64), minlength=len(vocabulary))
        often = [code for code in np.argsort(-counts, kind="stable")[:_FREQUENT].tolist() if counts[code]]
        frequent = {vocabulary.names[code]: int(counts[code]) for code in often}
        summary = CategorySummary(name, int((counts > 0).sum()), frequent, int((counts == 1).sum()), int(missing.sum()))
        found.append(summary)
    return tuple(found)


def category_grid(summaries: Sequence[CategorySummary], rows: int) -> Grid:
    """The categorical features, with the most frequent categories of each and their shares of the rows."""
    lines = tuple(
        (
            one.name,
            f"{one.categories:,}",
            ", ".join(f"{cut(name, 24)} {count / rows:.1%}" for name, count in list(one.frequent.items())[:_SHOWN]),
            f"{one.once:,}",
            f"{one.missing / rows:.1%}",
        )
        for one in summaries
    )
    return Grid(("category", "values", "most frequent", "in one row", "missing"), lines, "lrlrr")
