"""SymmetricTrees: trees in which all nodes of a level ask the same, as those of CatBoost, laid out level by level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankinite.engine.kernel import FEATURE, INDEX, Floats, Indices, Reals, frozen
from rankinite.trees import _symmetric_walk_kernels as _kernels
from rankinite.trees._symmetric_walk_kernels import Whole
from rankinite.trees._walk_kernels import Nodes
from rankinite.trees.slots import Slots, slots_of

DEEPEST = 24
"""Levels of the deepest tree that is recognised; its leaves' numbers fit 32 bits with room to spare."""


@dataclass(frozen=True, eq=False)
class SymmetricTrees:
    """Trees first … last−1 of a forest; see ``trees/_symmetric_walk_kernels.py``."""

    first: int
    last: int
    origin: int
    """The tree of the forest that comes first in the arrays."""
    level_slots: Whole
    thresholds: Floats
    thresholds32: Reals
    """The same for float32 values: the largest float32 that is not above each, which no float32 lies between."""
    levels: Indices
    values: Floats
    leaves: Indices
    slots: Slots

    @property
    def effort(self) -> float:
        """How many trees of any kind would take as long."""
        return 0.1 * (self.last - self.first)

    def part(self, first: int, last: int) -> SymmetricTrees:
        """Only the trees first … last−1, which must be among these."""
        return replace(self, first=first, last=last)

    def at(self, columns: Indices | None) -> SymmetricTrees:
        """The same trees for a matrix where feature f is in ``columns[f]``; None: where it was."""
        return self if columns is None else replace(self, slots=self.slots.at(columns))

    def add(self, matrix: Reals, first_row: int, last_row: int, out_scores: Floats) -> None:
        """Add the trees' values to the scores of the rows given, of shape outputs × rows; the matrix must be read-only."""
        thresholds = self.thresholds32 if matrix.dtype == FEATURE else self.thresholds
        model = (self.slots.columns, self.slots.right, self.level_slots, thresholds, self.levels, self.values, self.leaves)
        ends = (self.origin, self.first - self.origin, self.last - self.origin, first_row, last_row)
        _kernels.add_symmetric(matrix, *model, *ends, out_scores)


def depths_of(nodes: Nodes, numbers: Floats, offsets: Indices) -> Indices:
    """How many levels each symmetric tree has; −1 where a tree is not symmetric.

    It is where all nodes of a level ask one feature, threshold and missing side, and all leaves are on one level.
    """
    depths = np.full(len(offsets) - 1, -1, INDEX)
    trees, level = np.arange(len(depths)), offsets[:-1, None]
    for depth in range(DEEPEST + 1):
        leaf = nodes[level, 2] == level
        depths[trees[leaf.all(axis=1)]] = depth
        alike = ~leaf.any(axis=1)
        for asked in (nodes[level, 0], nodes[level, 1], numbers[level, 0]):
            alike &= (asked == asked[:, :1]).all(axis=1)
        trees, level = trees[alike], _children(nodes, level[alike])
        if not len(trees):
            break
    return depths


def symmetric(nodes: Nodes, numbers: Floats, offsets: Indices, depths: Indices, first: int, last: int) -> SymmetricTrees:
    """Lay out the trees first … last−1 of those whose nodes are given; all of them must be symmetric."""
    roots, depths = offsets[first:last], depths[first:last]
    # A level more, where their number is odd or 0, at which every row goes left: it compares 0 with +∞.
    levels, leaves = _sums(np.maximum(depths + depths % 2, 2)), _sums(1 << depths)
    asking = np.full(levels[-1], -1, INDEX)
    node = roots
    for depth in range(int(depths.max())):
        deeper = depths > depth
        asking[(levels[1:] - depths + depth)[deeper]] = node[deeper]
        node = nodes[node, 2].astype(INDEX)
    values = np.empty(leaves[-1])
    for depth in np.unique(depths).tolist():
        level = roots[depths == depth, None]
        for _ in range(depth):
            level = _children(nodes, level)
        values[leaves[:-1][depths == depth, None] + np.arange(1 << depth)] = numbers[level, 1]
    asks = asking >= 0
    slots, slot = slots_of(nodes[asking[asks], 0], nodes[asking[asks], 1] != 0)
    level_slots = np.full(len(asking), len(slots.columns), np.uint32)
    level_slots[asks] = slot
    thresholds = np.where(asks, numbers[asking, 0], np.inf)
    precisions = (frozen(thresholds), frozen(rounded_down(thresholds)))
    arrays = (frozen(level_slots), *precisions, frozen(levels), frozen(values), frozen(leaves))
    return SymmetricTrees(first, last, first, *arrays, slots)


def rounded_down(numbers: Floats) -> Reals:
    """The largest float32 that is not above each number."""
    with np.errstate(over="ignore"):
        near = numbers.astype(np.float32)
        return np.where(near > numbers, np.nextafter(near, np.float32(-np.inf)), near)


def _children(nodes: Nodes, level: Indices) -> Indices:
    """The next level of trees, trees × nodes: the two children of each node side by side."""
    return nodes[level, 2:4].astype(INDEX).reshape(len(level), 2 * level.shape[1])


def _sums(sizes: Indices) -> Indices:
    return np.concatenate((np.zeros(1, INDEX), np.cumsum(sizes)))
