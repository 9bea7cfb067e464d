"""Codes of categories: every category that has enough rows gets one of its own, or, where there are too many, a group's.

A code is one byte, so at most ``most`` categories of a feature can be told apart. Where more have enough rows, they are put in
order by what they are worth, and neighbours share a code: groups of about equal rows. What a category is worth is the mean of
its rows' grades, each less the mean of its query, pulled towards 0 as much as the data ask for (empirical Bayes: the fewer rows
it has, and the less categories differ beyond chance, the more). Sums are whole numbers, so that no order of rows matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rankinite.engine.kernel import Bytes, Features, Grades, Indices
from rankinite.trees._state import MISSING, SET, Nodes
from rankinite.trees.bins import Bins

_FINE = 1 << 20  # units of a grade's distance from its query's mean
_TOGETHER = 1 << 20  # rows whose squares, below 2⁴³, add up within 64 bits


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
    """What the rows of a column of codes say of its categories."""
    known = ~np.isnan(column)
    codes, worth = column[known].astype(np.int64), centred[known]
    sums = np.zeros(categories, np.int64)
    np.add.at(sums, codes, worth)
    parts = (worth[first : first + _TOGETHER] for first in range(0, len(worth), _TOGETHER))
    return CategoryCounts(np.bincount(codes, minlength=categories), sums, sum(int((part * part).sum()) for part in parts))


def category_codes(counts: CategoryCounts, least: int, most: int) -> Bytes:
    """The code of every category: ``MISSING`` for those with fewer than ``least`` rows; otherwise at most ``most`` codes."""
    codes = np.full(len(counts.rows), MISSING, np.uint8)
    kept = np.flatnonzero(counts.rows >= least)
    if len(kept) <= most:
        codes[kept] = np.arange(len(kept))
        return codes
    rows, worth = counts.rows[kept], counts.worth[kept]
    smooth = _prior_rows(rows, worth, float(counts.squares))
    order = np.lexsort((kept, worth / (rows + smooth)))
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


def coded_categories(bins: Bins, counts: Mapping[int, CategoryCounts], least: int) -> Bins:
    """The bins with codes for the categories of these features, in place of edges. Rare categories count as missing."""
    codes = {feature: category_codes(one, least, MISSING) for feature, one in counts.items()}
    missing = bins.has_missing.copy()
    for feature, one in counts.items():
        missing[feature] |= bool(one.rows[codes[feature] == MISSING].any())
    category = np.zeros(bins.features, np.bool_)
    category[list(counts)] = True
    kept = ~np.repeat(category, np.diff(bins.starts))
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.where(category, 0, np.diff(bins.starts)))))
    return Bins(edges=bins.edges[kept], starts=starts, has_missing=missing, categories=codes)


def grown_sets(bins: Bins, nodes: Nodes, size: int) -> list[list[int]]:
    """The categories that go left at each of the first ``size`` nodes of a tree; none where a node asks for no category."""
    sets: list[list[int]] = [[] for _ in range(size)]
    for node in np.flatnonzero((nodes.feature[:size] >= 0) & (nodes.code[:size] == SET)).tolist():
        goes_left = np.unpackbits(nodes.members[node].view(np.uint8), bitorder="little").astype(np.bool_)
        sets[node] = np.flatnonzero(goes_left[bins.categories[int(nodes.feature[node])]]).tolist()
    return sets
