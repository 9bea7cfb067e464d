"""Bins: how a value becomes a code, which is all that the grower knows of it.

Numbers: feature f has rising edges e₀ < e₁ < …; the code of x is the number of edges below it, so that ``x <= edges[k]`` and
``code <= k`` say the same. Edges are float64 and lie between neighbouring float32 values, so no rounding can put a row on the
other side. Where the edges are: :func:`fit_bins`.

Categories: each that has enough rows gets a code of its own. Where there are too many, they are put in order by what they are
worth, and neighbours share a code, in groups of about equal rows. What a category is worth is the mean of its rows' grades,
each less the mean of its query, pulled towards 0 as much as the data ask for (empirical Bayes: the fewer rows it has, and the
less categories differ beyond chance, the more). Sums are whole numbers, so that no order of rows matters. Which code each has:
:func:`category_codes`.

The code of a missing value (NaN) is ``MISSING``, and so is that of a category with too few rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

from rankinite.data.identity import keys_of_features
from rankinite.engine.kernel import FEATURE, INDEX, SCORE, Bytes, Features, Flags, Floats, Grades, Indices, frozen
from rankinite.engine.parallel import SMALLEST, run, thread_count
from rankinite.errors import ArgumentError, DataError
from rankinite.plurals import counted
from rankinite.trees._bin_kernels import code_rows, count_values, gather_columns, mark_missing, place_edges, sort_values
from rankinite.trees._state import MISSING, WIDTH, Keys
from rankinite.trees.structure import float32_below

_SORTED = 16  # features whose values are copied out together, at most
_CACHE_LINE = 64
_FINE = 1 << 20  # units of a grade's distance from its query's mean
_TOGETHER = 1 << 20  # rows whose squares, below 2⁴³, add up within 64 bits


@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """The bin of every feature of every row. Read-only."""

    blocks: Bytes
    """(blocks, rows, WIDTH): feature f of row r is ``blocks[f // WIDTH, r, f % WIDTH]``; padding features are 0."""
    features: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", frozen(self.blocks))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.blocks.shape[1]

    @property
    def words(self) -> Keys:
        """The codes as kernels read them, eight in a word: shape (blocks, rows, WORDS)."""
        return frozen(self.blocks.view(np.uint64))

    def __repr__(self) -> str:
        return f"<Codes: {counted(self.rows, 'row')}, {counted(self.features, 'feature')}>"


@dataclass(frozen=True, eq=False, repr=False)
class Bins:
    """The edges of every feature. Made by :func:`fit_bins`; the same edges serve all data of a training run. Read-only."""

    edges: Floats
    """All features' edges, rising within a feature."""
    starts: Indices
    """features + 1: feature f has ``edges[starts[f]:starts[f + 1]]``, at most 254 of them."""
    has_missing: Flags
    """One per feature: whether a value of it is missing in the data that the bins were made from."""
    categories: Mapping[int, Bytes] = field(default_factory=dict[int, Bytes])
    """For each feature that is a category: the code of each of its categories, ``MISSING`` for rare ones. It has no edges."""

    def __post_init__(self) -> None:
        for name in ("edges", "starts", "has_missing"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def counts(self) -> Indices:
        """How many codes each feature has, without that of missing values."""
        counts = np.diff(self.starts) + 1
        for feature, codes in self.categories.items():
            counts[feature] = 1 + max((int(code) for code in codes if code != MISSING), default=0)
        return counts

    @property
    def is_category(self) -> Flags:
        """Which features are categories."""
        flags = np.zeros(self.features, np.bool_)
        flags[list(self.categories)] = True
        return flags

    @property
    def features(self) -> int:
        """The number of features."""
        return len(self.has_missing)

    def __repr__(self) -> str:
        return f"<Bins: {counted(self.features, 'feature')}, {counted(len(self.edges), 'edge')}>"

    def thresholds(self, features: Indices, codes: Indices) -> Floats:
        """The numbers that part codes: ``x <= threshold`` exactly when x is not missing and its code is at most ``code``."""
        edges = self.starts[features] + codes
        inside = edges < self.starts[features + 1]
        thresholds = np.full(len(edges), np.inf)
        thresholds[inside] = self.edges[edges[inside]]
        return thresholds

    def code(self, features: Features) -> Codes:
        """The codes of ``features`` (rows, features), on the threads in force."""
        features = _row_major(features)
        shape = (-(-features.shape[1] // WIDTH), len(features), WIDTH)
        room = np.empty(math.prod(shape) + _CACHE_LINE, np.uint8)
        start = -room.ctypes.data % _CACHE_LINE  # no row straddles a cache line
        blocks = room[start : start + math.prod(shape)].reshape(shape)
        self.code_into(features, blocks, 0)
        return Codes(blocks, features.shape[1])

    def code_into(self, features: Features, out_blocks: Bytes, at: int) -> None:
        """The same, written to the rows from ``at`` on of ``out_blocks`` (blocks, rows, WIDTH)."""
        features = _row_major(features)
        rows, columns = features.shape
        if columns != self.features:
            raise DataError(
                f"the rows have {counted(columns, 'feature')}, but the bins were made from rows with {self.features}",
                value=columns,
                remedy="Give the same features in the same order",
            )
        # The edges in float32, padded to one row of 256 per feature, and the first step of a binary search in each row.
        counts = np.diff(self.starts)
        cuts = np.full((self.features, 256), np.inf, FEATURE)
        cuts[np.arange(256) < counts[:, None]] = float32_below(self.edges)
        steps = np.asarray([(1 << count.bit_length()) >> 1 for count in counts.tolist()], np.uint32)
        cuts, steps = frozen(cuts), frozen(steps)
        run(lambda chunk: code_rows(features, cuts, steps, *chunk, at, out_blocks), _row_chunks(rows))
        for feature, codes in self.categories.items():
            column = features[:, feature]
            places = np.where(np.isnan(column), len(codes), column).astype(np.int64)
            out_blocks[feature // WIDTH, at : at + rows, feature % WIDTH] = np.append(codes, np.uint8(MISSING))[places]


# ---- numbers --------------------------------------------------------------------------------------------------------


def fit_bins(data_features: Features, *, most: int = 255, sample: int = 100_000, keys: Keys | None = None) -> Bins:
    """Bins of about equal rows for every feature of ``data_features`` (rows, features).

    A feature with no more than ``most`` distinct values gets one bin for each of them. Of more than ``sample`` rows, those with
    the lowest ``keys`` are looked at, which are hashes of the rows' content (of their features, if left out): so neither the
    order of the rows nor who has which of them changes the bins.
    """
    if not 2 <= most <= 255:
        raise ArgumentError(
            "is not a number of bins per feature",
            owner="fit_bins",
            setting="most",
            value=most,
            rule="It must be from 2 to 255, so that a code fits in a byte",
        )
    if sample < 1:
        raise ArgumentError(
            "is no number of rows to look at", owner="fit_bins", setting="sample", value=sample, rule="Bins need at least 1 row"
        )
    features = _row_major(data_features)
    rows, columns = features.shape
    drawn = np.arange(rows) if rows <= sample else lowest_rows(keys_of_features(features) if keys is None else keys, sample)
    drawn = frozen(drawn.astype(INDEX, copy=False))
    count = thread_count() * max(1, -(-columns // (_SORTED * thread_count())))  # as many for each thread
    blocks = list(pairwise(columns * block // count for block in range(count + 1)))
    edges = [edges for block in run(lambda block: _block_edges(features, drawn, *block, most), blocks) for edges in block]
    return Bins(
        edges=np.concatenate([np.zeros(0, SCORE), *edges]),
        starts=np.cumsum([0, *map(len, edges)], dtype=INDEX),
        has_missing=missing_features(features),
    )


def lowest_rows(keys: Keys, count: int) -> Indices:
    """The numbers of the ``count`` rows with the lowest keys, rising; of rows with equal keys, which are alike, any."""
    return np.sort(np.argpartition(keys, count - 1)[:count])


def _block_edges(features: Features, rows: Indices, base: int, end: int, most: int) -> list[Floats]:
    """The edges of the features base … end−1, from these rows."""
    columns = np.empty((end - base, len(rows)), FEATURE)
    gather_columns(features, rows, base, columns)
    values, counts = np.empty(len(rows), FEATURE), np.empty(len(rows), INDEX)
    digits = np.empty((4, 256), INDEX)
    room = np.empty((end - base, most - 1), SCORE)
    edges: list[Floats] = []
    for column, out in zip(columns, room, strict=True):
        sort_values(column.view(np.uint32), values.view(np.uint32), digits)
        distinct = count_values(column, values, counts)
        edges.append(out[: place_edges(values[:distinct], counts[:distinct], most, out)])
    return edges


def missing_features(features: Features) -> Flags:
    """Which features are missing in some row."""
    chunks = _row_chunks(len(features))
    marks = np.zeros((len(chunks), features.shape[1]), np.bool_)
    run(lambda number: mark_missing(features, *chunks[number], marks[number]), range(len(chunks)))
    return np.logical_or.reduce(marks, axis=0)


def _row_major(features: Features) -> Features:
    if features.ndim != 2:
        raise DataError(
            f"the features have shape {features.shape}", value=features.shape, remedy="Give a table of rows × features"
        )
    return frozen(np.ascontiguousarray(features, FEATURE))


def _row_chunks(rows: int) -> list[tuple[int, int]]:
    """Ranges of about equal rows: one for a single thread, else two for each."""
    count = thread_count()
    chunks = max(1, min(2 * count, rows // SMALLEST)) if count > 1 else 1
    return list(pairwise(rows * chunk // chunks for chunk in range(chunks + 1)))


# ---- categories -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """What training rows say of a feature's categories. Those of parts of the data add up."""

    rows: Indices
    """How many rows have each category."""
    worth: Indices
    """The sum over these rows of the grade less its query's mean, in units of the largest grade's 2⁻²⁰."""
    squares: int
    """The sum of its squares, over all rows of the feature; of any size, so that parts add up exactly."""

    def __add__(self, other: CategoryCounts) -> CategoryCounts:
        return CategoryCounts(self.rows + other.rows, self.worth + other.worth, self.squares + other.squares)


def centred_grades(grades: Grades, offsets: Indices, largest: float) -> Indices:
    """Each grade less the mean of its query, as whole numbers: ``largest`` is 2²⁰."""
    scaled = np.rint(grades.astype(np.float64) * (_FINE / max(largest, 1e-30))).astype(np.int64)
    sizes = np.diff(offsets)
    sums = np.add.reduceat(scaled, offsets[:-1]) if len(sizes) else np.zeros(0, np.int64)
    size, total = np.repeat(sizes, sizes), np.repeat(sums, sizes)
    return (2 * (scaled * size - total) + size) // (2 * size)  # rounded to the nearest


def count_categories(column: Features, categories: int, centred: Indices) -> CategoryCounts:
    """What the rows of a column of category numbers say of its categories."""
    known = ~np.isnan(column)
    numbers, worth = column[known].astype(np.int64), centred[known]
    sums = np.zeros(categories, np.int64)
    np.add.at(sums, numbers, worth)
    parts = (worth[first : first + _TOGETHER] for first in range(0, len(worth), _TOGETHER))
    squares = sum(int((part * part).sum()) for part in parts)
    return CategoryCounts(np.bincount(numbers, minlength=categories), sums, squares)


def category_codes(counts: CategoryCounts, least: int, most: int) -> Bytes:
    """The code of every category: ``MISSING`` for those with fewer than ``least`` rows; otherwise at most ``most`` codes."""
    codes = np.full(len(counts.rows), MISSING, np.uint8)
    kept = np.flatnonzero(counts.rows >= least)
    if len(kept) <= most:
        codes[kept] = np.arange(len(kept))
        return codes
    rows, worth = counts.rows[kept], counts.worth[kept]
    order = np.lexsort((kept, worth / (rows + _prior_rows(rows, worth, float(counts.squares)))))
    before = np.cumsum(rows[order]) - rows[order]
    groups = before * most // rows.sum()
    codes[kept[order]] = np.unique(groups, return_inverse=True)[1]
    return codes


def _prior_rows(rows: Indices, worth: Indices, squares: float) -> float:
    """How many rows at the mean of all stand for what is known of a category beforehand: the variance within categories over
    that between them, by the method of moments; at most all rows.
    """
    total, count = float(rows.sum()), len(rows)
    means = worth / rows
    between_squares = float((rows * means * means).sum())
    within = max(squares - between_squares, 0.0) / max(total - count, 1.0)
    spread = (between_squares - count * within) / max(total - float(Fraction(int((rows * rows).sum()), int(rows.sum()))), 1.0)
    return min(within / spread, total) if spread > 0.0 else total


def with_category_codes(bins: Bins, counts: Mapping[int, CategoryCounts], least: int) -> Bins:
    """The bins with codes for the categories of these features, in place of edges. Rare categories count as missing."""
    codes = {feature: category_codes(of_feature, least, MISSING) for feature, of_feature in counts.items()}
    missing, category = bins.has_missing.copy(), np.zeros(bins.features, np.bool_)
    for feature, of_feature in counts.items():
        missing[feature] |= bool(of_feature.rows[codes[feature] == MISSING].any())
        category[feature] = True
    edge_counts = np.diff(bins.starts)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.where(category, 0, edge_counts))))
    return Bins(edges=bins.edges[~np.repeat(category, edge_counts)], starts=starts, has_missing=missing, categories=codes)
