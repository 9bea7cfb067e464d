"""Bins: what the grower knows of a feature's value is which of at most 255 intervals it lies in.

Notation: feature f has rising edges e₀ < e₁ < …; the code of x is the number of edges below it, so that
``x <= edges[k]`` and ``code <= k`` say the same. The code of a missing value (NaN) is ``MISSING``.
Edges are float64 and lie between neighbouring float32 values, so no rounding can put a row on the other side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from rankinite.data.row_keys import keys_of_features
from rankinite.engine.kernel import FEATURE, INDEX, SCORE, Bytes, Features, Flags, Floats, Indices, frozen
from rankinite.engine.parallel import SMALLEST, run, thread_count
from rankinite.errors import ArgumentError, DataError
from rankinite.plurals import counted
from rankinite.trees._bin_kernels import code_rows, count_values, gather_columns, mark_missing, place_edges, sort_values
from rankinite.trees._state import MISSING, WIDTH, Keys

_SORTED = 16  # features whose values are copied out together, at most
__all__ = ["MISSING", "WIDTH", "Bins", "Codes", "fit_bins"]

_CACHE_LINE = 64


@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """The bin of every feature of every row. Read-only."""

    blocks: Bytes
    """(blocks, rows, WIDTH): feature f of row r is ``blocks[f // WIDTH, r, f % WIDTH]``; padding features are 0."""
    features: int
    """The number of features."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", frozen(self.blocks))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.blocks.shape[1]

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
        found = np.full(len(edges), np.inf)
        found[inside] = self.edges[edges[inside]]
        return found

    def code(self, features: Features) -> Codes:
        """The codes of ``features`` (rows, features), on the threads in force."""
        features = _as_rows(features)
        blocks = _aligned_bytes((-(-features.shape[1] // WIDTH), len(features), WIDTH))
        self.code_into(features, blocks, 0)
        return Codes(blocks, features.shape[1])

    def code_into(self, features: Features, out_blocks: Bytes, at: int) -> None:
        """The same, written to the rows from ``at`` on of ``out_blocks`` (blocks, rows, WIDTH)."""
        features = _as_rows(features)
        rows, columns = features.shape
        if columns != self.features:
            raise DataError(
                f"the rows have {counted(columns, 'feature')}, but the bins were made from rows with {self.features}",
                value=columns,
                remedy="Give the same features in the same order",
            )
        cuts, steps = self._cuts()
        run(lambda chunk: code_rows(features, cuts, steps, *chunk, at, out_blocks), _row_chunks(rows))
        for feature, codes in self.categories.items():
            own = features[:, feature]
            places = np.where(np.isnan(own), len(codes), own).astype(np.int64)
            out_blocks[feature // WIDTH, at : at + rows, feature % WIDTH] = np.append(codes, np.uint8(MISSING))[places]

    def _cuts(self) -> tuple[Features, np.ndarray[tuple[int], np.dtype[np.uint32]]]:
        """The edges in float32, padded to one row of 256 per feature, and the first step of a binary search in each row.

        Each edge becomes the largest float32 not above it: to a float32 value both say the same.
        """
        with np.errstate(over="ignore"):  # an edge just above −inf becomes −inf
            rounded = self.edges.astype(FEATURE)
        rounded = np.where(rounded > self.edges, np.nextafter(rounded, FEATURE(-np.inf)), rounded)
        counts = np.diff(self.starts)
        cuts = np.full((self.features, 256), np.inf, FEATURE)
        cuts[np.arange(256) < counts[:, None]] = rounded
        steps = np.asarray([(1 << count.bit_length()) >> 1 for count in counts.tolist()], np.uint32)
        return frozen(cuts), frozen(steps)


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
    features = _as_rows(data_features)
    rows, columns = features.shape
    drawn = np.arange(rows) if rows <= sample else lowest(keys_of_features(features) if keys is None else keys, sample)
    chosen = frozen(drawn.astype(INDEX, copy=False))
    count = thread_count() * max(1, -(-columns // (_SORTED * thread_count())))  # as many for each thread
    blocks = list(pairwise(columns * block // count for block in range(count + 1)))
    edges = [edges for block in run(lambda block: _block_edges(features, chosen, *block, most), blocks) for edges in block]
    return Bins(
        edges=np.concatenate([np.zeros(0, SCORE), *edges]),
        starts=np.cumsum([0, *map(len, edges)], dtype=INDEX),
        has_missing=missing_features(features),
    )


def lowest(keys: Keys, count: int) -> Indices:
    """The numbers of the ``count`` rows with the lowest keys, rising; of rows with equal keys, which are alike, any."""
    return np.sort(np.argpartition(keys, count - 1)[:count])


def _block_edges(features: Features, rows: Indices, base: int, end: int, most: int) -> list[Floats]:
    """The edges of the features base … end−1, from these rows."""
    columns = np.empty((end - base, len(rows)), FEATURE)
    gather_columns(features, rows, base, columns)
    values, counts = np.empty(len(rows), FEATURE), np.empty(len(rows), INDEX)
    digits = np.empty((4, 256), INDEX)
    edges = np.empty((end - base, most - 1), SCORE)
    found: list[Floats] = []
    for column, room in zip(columns, edges, strict=True):
        sort_values(column.view(np.uint32), values.view(np.uint32), digits)
        distinct = count_values(column, values, counts)
        found.append(room[: place_edges(values[:distinct], counts[:distinct], most, room)])
    return found


def missing_features(features: Features) -> Flags:
    """Which features are missing in some row."""
    chunks = _row_chunks(len(features))
    marks = np.zeros((len(chunks), features.shape[1]), np.bool_)
    run(lambda number: mark_missing(features, *chunks[number], marks[number]), range(len(chunks)))
    return np.logical_or.reduce(marks, axis=0)


def _as_rows(features: Features) -> Features:
    """The features as kernels want them."""
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


def _aligned_bytes(shape: tuple[int, int, int]) -> Bytes:
    """An array whose rows never straddle a cache line."""
    size = math.prod(shape)
    room = np.empty(size + _CACHE_LINE, np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    return room[start : start + size].reshape(shape)
