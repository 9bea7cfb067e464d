"""CodedDescription: what is in folders of bins, as far as codes tell it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankinite.binned.data import Binned
from rankinite.grid import Grid
from rankinite.trees._state import MISSING


@dataclass(frozen=True, slots=True)
class CodedFeature:
    """One feature of coded data."""

    name: str
    bins: int
    """Codes that tell its values apart."""
    missing: bool
    """Whether some row has no value, or a category that is too rare for a code."""
    categories: int | None = None
    """Categories in its vocabulary; None for numbers."""
    rare: int = 0
    """Categories too rare for a code: they count as missing."""


@dataclass(frozen=True, slots=True)
class CodedDescription:
    """Folders of bins in numbers."""

    source: str
    folders: int
    queries: int
    rows: int
    judged: bool
    weighted: bool
    bins: int
    """Bins that a feature may have, at most."""
    bin_sample: int
    """Rows that edges were made from, at most."""
    category_rows: int | None
    """Rows that a category needs for a code; None where there are no categories."""
    features: tuple[CodedFeature, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    def grids(self, most: int | None = None, remedy: str = "") -> tuple[Grid, ...]:
        """All tables; of features at most ``most``, with ``remedy`` on how to see the others."""
        facts = [("coded data", self.source), ("folders", f"{self.folders:,}"), ("queries", f"{self.queries:,}")]
        facts += [("rows", f"{self.rows:,}"), ("features", f"{len(self.features):,}"), ("bins of a feature", f"≤ {self.bins}")]
        facts += [("rows for edges", f"≤ {self.bin_sample:,}")]
        facts += [] if self.category_rows is None else [("rows for a category", f"≥ {self.category_rows}")]
        shown = self.features[:most]
        lines = [(one.name, f"{one.bins}", "yes" if one.missing else "no") for one in shown]
        left = len(self.features) - len(shown)
        lines += [(f"… {left:,} more: {remedy}", "", "")] if left else []
        tables = (Grid(("", ""), tuple(facts), "lr"), Grid(("feature", "bins", "missing"), tuple(lines), "lrr"))
        coded = [one for one in self.features if one.categories is not None]
        words = tuple((one.name, f"{one.categories:,}", f"{one.bins}", f"{one.rare:,}") for one in coded)
        heads = ("category", "values", "codes", "too rare")
        return (*tables, Grid(heads, words, "lrrr")) if coded else tables

    def oddities(self) -> list[str]:
        """Sentences about what cannot be done with them."""
        return [] if self.judged else ["There are no grades: nothing can be learnt from these rows."]


def describe_bins(data: Binned) -> CodedDescription:
    """What is in folders of bins; nothing but their small files is read."""
    bins, made = data.bins, data.manifests[0]
    counts, missing = bins.counts.tolist(), bins.has_missing.tolist()
    features = [
        CodedFeature(name, counts[place], missing[place], *_sizes(bins.categories.get(place)))
        for place, name in enumerate(data.feature_names)
    ]
    return CodedDescription(
        source=data.source,
        folders=len(data.manifests),
        queries=data.queries,
        rows=data.rows,
        judged=data.judged,
        weighted=made.has("weights"),
        bins=made.most,
        bin_sample=made.sample,
        category_rows=made.category_rows,
        features=tuple(features),
    )


def _sizes(codes: Any) -> tuple[int | None, int]:
    return (None, 0) if codes is None else (len(codes), int(np.count_nonzero(codes == MISSING)))
