"""Description: what is in a data set, and sentences about what is odd about it (odd features: ``odd_features``)."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankinite.data.categories import category_columns
from rankinite.data.dataset import Dataset
from rankinite.data.odd_features import OddFeature, advice, find_odd_features
from rankinite.engine.kernel import INDEX, Features, Floats, Grades
from rankinite.errors import DataError, cut, respelled
from rankinite.grid import Grid, few
from rankinite.plurals import agreeing, counted
from rankinite.short_names import short_source

_BLOCK = 1 << 16  # rows whose features are summarised at a time
_SHOWN_FEATURES = 12  # where nobody asked for all
_SHOWN_CATEGORIES = 3
_FREQUENT_CATEGORIES = 10
_LISTED_GRADES = 20  # one by one; where there are more of them, and some are no whole numbers, ranges are listed
_GRADE_RANGES = 10
_LISTED_NAMES = 20


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


@dataclass(frozen=True, slots=True)
class GradeRange:
    """The grades from ``lowest`` on and below ``highest``, which the last range includes."""

    lowest: float
    highest: float
    rows: int
    """Rows with such a grade."""


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
        rows = tuple(
            (
                one.name,
                f"{one.categories:,}",
                ", ".join(
                    f"{cut(name, 24)} {count / self.rows:.1%}" for name, count in list(one.frequent.items())[:_SHOWN_CATEGORIES]
                ),
                f"{one.once:,}",
                f"{one.missing / self.rows:.1%}",
            )
            for one in self.categories
        )
        return Grid(("category", "values", "most frequent", "in one row", "missing"), rows, "lrlrr")

    def grids(self, most: int | None = None, remedy: str = "feature_grid() has all") -> tuple[Grid, ...]:
        """All tables; of features at most ``most``, with ``remedy`` on how to see the others."""
        tables = (self.grid(), self.grade_grid(), self.feature_grid(most, remedy))
        return (*tables, self.category_grid()) if self.categories else tables

    def oddities(self, spelled: Callable[[str], str] = str) -> list[str]:
        """Sentences about what is odd in the data; ``spelled`` writes the settings of ``rankinite.read`` that they name."""
        return [respelled(sentence, spelled) for sentence in _oddities(self)]

    def __str__(self) -> str:
        return "\n\n".join([*(grid.text() for grid in self.grids(_SHOWN_FEATURES)), "\n".join(self.oddities())])

    def _repr_html_(self) -> str:
        paragraphs = "".join(f"\n<p>{html.escape(sentence)}</p>" for sentence in self.oddities())
        return "\n".join(grid.html() for grid in self.grids(_SHOWN_FEATURES)) + paragraphs

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
    frequent = np.sort(np.argsort(-counts, kind="stable")[:_LISTED_GRADES])
    starts = data.offsets[:-1]
    one_grade = data.judged & (np.minimum.reduceat(data.grades, starts) == np.maximum.reduceat(data.grades, starts))
    duplicate, contradicting = _duplicates(data)
    categories = _category_summaries(data)
    return Description(
        source=data.source,
        queries=data.queries,
        rows=data.rows,
        documents=(int(sizes.min()), float(np.median(sizes)), int(sizes.max())),
        grades={float(values[i]): int(counts[i]) for i in frequent} if data.judged else {},
        other_grades=int(counts.sum() - counts[frequent].sum()),
        lowest_grade=float(values[0]) if data.judged else None,
        features=_feature_summaries(data, {one.name: one for one in categories}),
        one_document_queries=int((sizes == 1).sum()),
        one_grade_queries=int(one_grade.sum()),
        duplicate_rows=duplicate,
        contradicting_rows=contradicting,
        preferences=0 if data.preferences is None else len(data.preferences),
        document_ids=data.doc_ids is not None,
        odd_features=find_odd_features(data),
        categories=categories,
        grade_ranges=_grade_ranges(data.grades),
        fractions=_on_fractions(data),
    )


def _grade_ranges(grades: Grades) -> tuple[GradeRange, ...]:
    """Ten ranges of equal width, and one for negative grades; none where grades are few or all of them whole numbers."""
    if not _has_fractions(grades) or len(np.unique(grades)) <= _LISTED_GRADES:
        return ()
    negative, others = grades[grades < 0], grades[grades >= 0]
    ranges = [GradeRange(float(negative.min()), 0.0, len(negative))] if len(negative) else []
    if len(others):
        counts, edges = np.histogram(others.astype(np.float64), bins=_GRADE_RANGES)
        bounds = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        ranges += [GradeRange(lowest, highest, rows) for lowest, highest, rows in bounds]
    return tuple(ranges)


def _has_fractions(grades: Grades) -> bool:
    return bool((grades != np.floor(grades)).any())


def _on_fractions(data: Dataset) -> str:
    """What grades that are no whole numbers mean to measures."""
    grades = data.grades[data.grades >= 0]
    if not _has_fractions(grades):
        return ""
    lowest, highest = float(grades.min()), float(grades.max())
    scale = max(1, int(np.ceil(highest)))
    chance = f"ERR takes (2^grade − 1) / 2^{scale} for the chance that a user stops at a document, with err:max_grade={scale}"
    other = "" if scale <= 4 else "; err alone refuses grades above 4"
    return (
        f"Some grades are no whole numbers ({lowest:.4g} … {highest:.4g}). NDCG takes 2^grade − 1 for the gain, whole or not. "
        f"{chance}{other}. AP, RR, precision and recall count a document as relevant from grade 1 on, as "
        f"{float((grades >= 1).mean()):.1%} of the documents are; ap:relevant=0.5 sets another limit."
    )


def _category_summaries(data: Dataset) -> tuple[CategorySummary, ...]:
    summaries: list[CategorySummary] = []
    for name, codes in category_columns(data):
        missing, vocabulary = np.isnan(codes), data.categories[name]
        counts = np.bincount(codes[~missing].astype(np.int64), minlength=len(vocabulary))
        often = [code for code in np.argsort(-counts, kind="stable")[:_FREQUENT_CATEGORIES].tolist() if counts[code]]
        frequent = {vocabulary.names[code]: int(counts[code]) for code in often}
        once = int((counts == 1).sum())
        summaries.append(CategorySummary(name, int((counts > 0).sum()), frequent, once, int(missing.sum())))
    return tuple(summaries)


def _feature_summaries(data: Dataset, categories: Mapping[str, CategorySummary]) -> tuple[FeatureSummary, ...]:
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


def _blocks(features: Features) -> Iterator[Features]:
    for start in range(0, len(features), _BLOCK):
        yield features[start : start + _BLOCK]


def _oddities(data: Description) -> list[str]:
    """The sentences, with settings of reading between backticks."""
    sentences: list[str] = []
    if data.one_grade_queries:
        has, them = agreeing(data.one_grade_queries, "has"), agreeing(data.one_grade_queries, "it")
        sentences.append(
            f"{counted(data.one_grade_queries, 'query')} {has} documents of one grade only ({data.one_document_queries:,} with "
            f"a single document): every ranker does equally well on {them}, and none learns from {them}."
        )
    if data.duplicate_rows:
        others = f", {data.contradicting_rows:,} with another grade" if data.grades else ""
        repeat = agreeing(data.duplicate_rows, "repeats")
        sentences.append(
            f"{counted(data.duplicate_rows, 'row')} {repeat} the features of an earlier row of the same query{others}."
        )
    constant = data.constant_features
    if constant:
        names = ", ".join(constant[:_LISTED_NAMES]) + (" …" if len(constant) > _LISTED_NAMES else "")
        verbs = "is constant and says" if len(constant) == 1 else "are constant and say"
        sentences.append(f"{counted(len(constant), 'feature')} {verbs} nothing: {names}.")
    infinite = [feature.name for feature in data.features if feature.infinite]
    if infinite:
        how_many = f"{counted(len(infinite), 'feature')} {agreeing(len(infinite), 'has')}"
        sentences.append(
            f"{how_many} infinite values ({', '.join(infinite[:_LISTED_NAMES])}): "
            "read them with `infinite='missing'` or `infinite='clip'`."
        )
    if data.fractions:
        sentences.append(data.fractions)
    if data.odd_features:
        sentences.append(advice(data.odd_features, named_documents=data.document_ids))
    if data.lowest_grade is None:
        sentences.append(
            "There are no grades: these rows can be scored and distilled from. If a column holds the grades, name it with "
            "`grades=…`."
        )
    elif data.lowest_grade < 0:
        sentences.append(
            "Some grades are negative, or were missing and became −1: if that marks documents that nobody judged, leave them "
            "out with `unjudged='drop'`."
        )
    return sentences or ["Nothing odd: no one-grade queries, no duplicates, no constant features, no ids among the features."]


def dataset_grid(data: Dataset) -> Grid:
    """How many queries, documents and features there are, which grades, and which categories."""
    sizes = np.diff(data.offsets) if data.queries else np.zeros(1, INDEX)
    grades, counts = np.unique(data.grades, return_counts=True)
    by_grade = [f"{grade:g}: {count:,}" for grade, count in zip(grades.tolist(), counts.tolist(), strict=True)]
    if _grade_ranges(data.grades):
        by_grade = [f"{grades[0]:.4g} … {grades[-1]:.4g}: {len(grades):,} different"]
    categories = few([f"{name} ({len(one):,})" for name, one in data.categories.items()])
    rows = (
        ("queries", f"{data.queries:,}"),
        ("documents", f"{data.rows:,}"),
        ("documents per query", f"{sizes.min()} … {np.median(sizes):g} … {sizes.max()}"),
        ("grades", few(by_grade) if data.judged else "no grades"),
        ("features", f"{len(data.feature_names):,}: {few(data.feature_names)}"),
        *((("categories", categories),) if data.categories else ()),
        *((("rows", "regrouped: see to_input_order and from_input_order"),) if data.regrouped else ()),
        *((("preferences", f"{len(data.preferences):,}"),) if data.preferences is not None else ()),
    )
    return Grid(("", ""), rows, align="ll", title=f"Dataset {short_source(data.source)}")
