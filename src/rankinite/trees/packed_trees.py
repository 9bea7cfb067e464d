"""PackedTrees: any trees, laid out so that rows walk down many of them quickly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rankinite.engine.kernel import Floats, Indices, Reals, frozen
from rankinite.trees import _packed_kernels as _kernels
from rankinite.trees._packed_kernels import Whole
from rankinite.trees._walk_kernels import Nodes
from rankinite.trees.slots import Slots, slots_of


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """Trees first … last−1 of a forest; see ``trees/_packed_kernels.py``."""

    first: int
    last: int
    origin: int
    """The tree of the forest that comes first in the arrays."""
    words: Whole
    thresholds: Floats
    values: Floats
    roots: Indices
    steps: int
    """About as many as a row takes down a tree."""
    slots: Slots

    @property
    def effort(self) -> float:
        """How many trees of any kind would take as long."""
        return float(self.last - self.first)

    def part(self, first: int, last: int) -> PackedTrees:
        """Only the trees first … last−1, which must be among these."""
        return replace(self, first=first, last=last)

    def at(self, columns: Indices | None) -> PackedTrees:
        """The same trees for a matrix where feature f is in ``columns[f]``; None: where it was."""
        return self if columns is None else replace(self, slots=self.slots.at(columns))

    def add(self, matrix: Reals, first_row: int, last_row: int, out_scores: Floats) -> None:
        """Add the trees' values to the scores of the rows given, of shape outputs × rows; the matrix must be read-only."""
        model = (self.slots.columns, self.slots.right, self.words, self.thresholds, self.values, self.roots, self.steps)
        ends = (self.origin, self.first - self.origin, self.last - self.origin, first_row, last_row)
        _kernels.add_packed(matrix, *model, *ends, out_scores)


def packed(nodes: Nodes, numbers: Floats, offsets: Indices, first: int, last: int) -> PackedTrees:
    """Lay out the trees first … last−1 of those whose nodes are given (see ``trees/_walk_kernels.py``)."""
    start, end = int(offsets[first]), int(offsets[last])
    nodes, numbers, roots = nodes[start:end], numbers[start:end], offsets[first : last + 1] - start
    left = nodes[:, 2].astype(np.int64) - start
    right = nodes[:, 3].astype(np.int64) - start
    inner = np.flatnonzero(left != np.arange(end - start))
    # Brothers become neighbours: the root, then the children of the first inner node, of the second, ….
    before = np.searchsorted(inner, roots)  # inner nodes of earlier trees
    owner = np.repeat(np.arange(last - first), np.diff(before))
    children = roots[owner] + 1 + 2 * (np.arange(len(inner)) - before[owner])
    place = np.arange(end - start)
    place[left[inner]], place[right[inner]] = children, children + 1
    slots, slot = slots_of(nodes[inner, 0], nodes[inner, 1] != 0)
    words = np.zeros((end - start, 4), np.uint32)
    words[:, 2], words[:, 3] = len(slots.columns), np.arange(end - start)
    words[place[inner], 2], words[place[inner], 3] = slot, children
    thresholds = words.reshape(-1).view(np.float64)
    thresholds[::2] = np.inf
    thresholds[2 * place[inner]] = numbers[inner, 0]
    values = np.empty(end - start)
    values[place] = numbers[:, 1]
    arrays = (frozen(words.reshape(-1)), frozen(thresholds), frozen(values), frozen(roots[:-1]))
    steps = round(math.log2(1 + len(inner) / (last - first)))  # the depth of a balanced tree with as many leaves
    return PackedTrees(first, last, first, *arrays, max(steps, 1), slots)
