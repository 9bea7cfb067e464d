"""Description: what is in a data set, and what is odd about it."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankinite.data.category_summary import CategorySummary, category_grid, category_summaries
from rankinite.data.dataset import Dataset
from rankinite.data.grade_summary import LISTED, GradeRange, grade_ranges, has_fractions, on_fractions
from rankinite.data.odd_features import OddFeature, find_odd_features
from rankinite.data.oddities import oddities
from rankinite.engine.kernel import Features, Floats
from rankinite.errors import DataError, respelled
from rankinite.grid import Grid
from rankinite.plurals import counted

_BLOCK = 1 << 16
_SHOWN = 12  # features that are listed where nobody asked for all


@dataclass(frozen=True, slots=True)
class FeatureSummary:
    """One feature over all rows; NaN where every value is missing, and for categories, which have no order."""

    name: str
    lowest: float
    mean: float
    highest: float
    missing: int
    """Rows without a value."""
    infinite: int
    """Rows with an infinite value."""
    zeros: int
    categories: int | None = None
    """Categories that some row has; None for numbers."""

    @property
    def constant(self) -> bool:
        """Whether the feature carries no information: one value everywhere, or none."""
        return not self.lowest < self.highest if self.categories is None else self.categories < 2

    def cells(self) -> tuple[str, str, str]:
        """Lowest, mean and highest as text."""
        if self.categories is not None:
            return "category", "", ""
        return f"{self.lowest:.6g}", f"{self.mean:.6g}", f"{self.highest:.6g}"


@dataclass(frozen=True, slots=True)
class Description:
    """A data set in numbers."""

    source: str
    queries: int
    rows: int
    documents: tuple[int, float, int]
    """Fewest, median and most documents of a query."""
    grades: dict[float, int]
    """Rows of each grade (of each of the 20 most frequent, where there are more); none where nobody judged them."""
    other_grades: int
    """Rows of all grades that are not listed."""
    lowest_grade: float | None
    """None where nobody judged the rows."""
    features: tuple[FeatureSummary, ...]
    one_document_queries: int
    one_grade_queries: int
    """Queries on which every ranker does equally well; one-document queries are among them."""
    duplicate_rows: int
    """Rows whose features equal those of an earlier row of the same query."""
    contradicting_rows: int
    """Duplicates whose grade differs from that of the earlier row."""
    preferences: int
    """Judged pairs."""
    document_ids: bool
    """Whether documents have ids."""
    odd_features: tuple[OddFeature, ...]
    """Features that look like ids, positions or clicks."""
    categories: tuple[CategorySummary, ...] = ()
    """The features that are categories."""
    grade_ranges: tuple[GradeRange, ...] = ()
    """Ranges of grades, where there are many that are no whole numbers."""
    fractions: str = ""
    """What grades that are no whole numbers mean to measures; empty where there are none."""

    @property
    def constant_features(self) -> tuple[str, ...]:
        """The names of the constant features."""
        return tuple(feature.name for feature in self.features if feature.constant)

    def grid(self) -> Grid:
        """The counts."""
        fewest, median, most = self.documents
        rows = (
            ("queries", f"{self.queries:,}"),
            ("documents", f"{self.rows:,}"),
            ("documents per query", f"{fewest} … {median:g} … {most}"),
            ("features", f"{len(self.features):,}"),
        )
        return Grid(("", ""), rows, title=self.source)

    def grade_grid(self) -> Grid:
        """The grades with their shares."""
        if not self.grades:
            return Grid(("grade", "documents", "share", ""), (("no grades", "", "", ""),), align="lrrl")
        counts = {f"{grade:g}": rows for grade, rows in self.grades.items()}
        if self.grade_ranges:
            counts = {f"{one.lowest:.3g} … {one.highest:.3g}": one.rows for one in self.grade_ranges}
        most = max(counts.values())
        rows = tuple(
            (grade, f"{count:,}", f"{count / self.rows:.1%}", "█" * (max(1, round(30 * count / most)) if count else 0))
            for grade, count in counts.items()
        )
        others = 0 if self.grade_ranges else self.other_grades
        notes = (f"… and {counted(others, 'document')} of other grades",) if others else ()
        return Grid(("grade", "documents", "share", ""), rows, align="rrrl", notes=notes)

    def feature_grid(self, most: int | None = None, remedy: str = "feature_grid() has all") -> Grid:
        """The features' positions, names and ranges; at most ``most`` of them, with ``remedy`` on how to see the others."""
        shown = self.features[:most]
        rows = tuple(
            (
                str(position),
                f.name,
                *f.cells(),
                f"{f.missing / self.rows:.1%}",
                f"{f.zeros / self.rows:.1%}",
            )
            for position, f in enumerate(shown)
        )
        hidden = len(self.features) - len(shown)
        notes = (f"… and {hidden} more ({remedy})",) if hidden else ()
        return Grid(("column", "feature", "lowest", "mean", "highest", "missing", "zero"), rows, "rlrrrrr", notes=notes)

    def category_grid(self) -> Grid:
        """The categorical features: how many categories each has, and the most frequent."""
        return category_grid(self.categories, self.rows)

    def grids(self, most: int | None = None, remedy: str = "feature_grid() has all") -> tuple[Grid, ...]:
        """All tables; of features at most ``most``, with ``remedy`` on how to see the others."""
        tables = (self.grid(), self.grade_grid(), self.feature_grid(most, remedy))
        return (*tables, self.category_grid()) if self.categories else tables

    def oddities(self, spelled: Callable[[str], str] = str) -> list[str]:
        """Sentences about what is odd in the data; ``spelled`` writes the settings of ``rankinite.read`` that they name."""
        return [respelled(sentence, spelled) for sentence in oddities(self)]

    def __str__(self) -> str:
        return "\n\n".join([*(grid.text() for grid in self.grids(_SHOWN)), "\n".join(self.oddities())])

    def _repr_html_(self) -> str:
        paragraphs = "".join(f"\n<p>{html.escape(sentence)}</p>" for sentence in self.oddities())
        return "\n".join(grid.html() for grid in self.grids(_SHOWN)) + paragraphs

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values for JSON; what is undefined or infinite is None."""

        def plain(value: Any) -> Any:
            return None if isinstance(value, float) and not math.isfinite(value) else value

        content = asdict(self)
        content["features"] = [{key: plain(value) for key, value in feature.items()} for feature in content["features"]]
        return content | {"constant_features": list(self.constant_features)}


def describe(data: Dataset) -> Description:
    """Count queries, documents and grades, summarise the features, and look for what is odd.

    That is: duplicates, degenerate queries, and features that look like ids, positions or clicks.
    """
    if not data.rows:
        raise DataError("there are no rows to describe", place=data.source, remedy="Give data with at least one row")
    sizes = np.diff(data.offsets)
    values, counts = np.unique(data.grades, return_counts=True)
    frequent = np.sort(np.argsort(-counts, kind="stable")[:LISTED])
    starts = data.offsets[:-1]
    one_grade = data.judged & (np.minimum.reduceat(data.grades, starts) == np.maximum.reduceat(data.grades, starts))
    duplicate, contradicting = _duplicates(data)
    categories = category_summaries(data)
    return Description(
        source=data.source,
        queries=data.queries,
        rows=data.rows,
        documents=(int(sizes.min()), float(np.median(sizes)), int(sizes.max())),
        grades={float(values[i]): int(counts[i]) for i in frequent} if data.judged else {},
        other_grades=int(counts.sum() - counts[frequent].sum()),
        lowest_grade=float(values[0]) if data.judged else None,
        features=_summaries(data, {one.name: one for one in categories}),
        one_document_queries=int((sizes == 1).sum()),
        one_grade_queries=int(one_grade.sum()),
        duplicate_rows=duplicate,
        contradicting_rows=contradicting,
        preferences=0 if data.preferences is None else len(data.preferences),
        document_ids=data.doc_ids is not None,
        odd_features=find_odd_features(data),
        categories=categories,
        grade_ranges=grade_ranges(data.grades),
        fractions=_on_fractions(data),
    )


def _on_fractions(data: Dataset) -> str:
    grades = data.grades[data.grades >= 0]
    if not has_fractions(grades):
        return ""
    return on_fractions(float(grades.min()), float(grades.max()), float((grades >= 1).mean()))


def _blocks(features: Features) -> Iterator[Features]:
    for start in range(0, len(features), _BLOCK):
        yield features[start : start + _BLOCK]


def _summaries(data: Dataset, categories: Mapping[str, CategorySummary]) -> tuple[FeatureSummary, ...]:
    width = len(data.feature_names)
    lowest, highest, total = np.full(width, np.nan), np.full(width, np.nan), np.zeros(width)
    missing, zeros, infinite = (np.zeros(width, np.int64) for _ in range(3))
    for block in _blocks(data.features):
        lowest = np.fmin(lowest, np.fmin.reduce(block, axis=0))
        highest = np.fmax(highest, np.fmax.reduce(block, axis=0))
        with np.errstate(invalid="ignore"):  # the mean of inf and −inf is NaN, and that is right
            total += np.nansum(block, axis=0, dtype=np.float64)
        infinite += np.isinf(block).sum(axis=0)
        missing += np.isnan(block).sum(axis=0)
        zeros += (block == 0).sum(axis=0)
    present = data.rows - missing
    mean: Floats = np.divide(total, present, out=np.full(width, np.nan), where=present > 0)

    def summary(i: int, name: str) -> FeatureSummary:
        if name in categories:
            one = categories[name]
            return FeatureSummary(name, math.nan, math.nan, math.nan, one.missing, 0, 0, one.categories)
        values = float(lowest[i]), float(mean[i]), float(highest[i])
        return FeatureSummary(name, *values, int(missing[i]), int(infinite[i]), int(zeros[i]))

    return tuple(summary(i, name) for i, name in enumerate(data.feature_names))


def _duplicates(data: Dataset) -> tuple[int, int]:
    """How many rows repeat an earlier row of their query, and how many of these have another grade than it."""
    if not data.feature_names:
        return 0, 0
    # Rows are compared by a random 64-bit fingerprint of their bytes, which different rows of a query do not share in practice.
    weights = np.random.default_rng(0).integers(1, 2**63, len(data.feature_names), dtype=np.uint64) | np.uint64(1)
    words = (block.view(np.uint32).astype(np.uint64) for block in _blocks(data.features))
    prints = [(block * weights).sum(axis=1, dtype=np.uint64) for block in words]
    keys = np.rec.fromarrays([data.query_of_row(), np.concatenate(prints)])
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    earlier = first[inverse]
    repeated = earlier != np.arange(data.rows)
    return int(repeated.sum()), int((repeated & (data.grades != data.grades[earlier])).sum())
