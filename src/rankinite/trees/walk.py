"""Scores of rows under trees, on all threads. A row's sum does not depend on the rows beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Indices, Reals, frozen
from rankinite.engine.parallel import run, thread_count
from rankinite.trees import _walk_kernels as _kernels
from rankinite.trees._walk_kernels import BLOCK, Nodes
from rankinite.trees.structure import LEAF, Trees

SMALLEST = 1 << 17
"""Fewer walks (rows × trees) are not worth a thread of their own."""


class Walks(NamedTuple):
    """Trees laid out for walking down; see ``trees/_walk_kernels.py``."""

    nodes: Nodes
    numbers: Floats
    offsets: Indices

    def with_columns(self, columns: Indices) -> Walks:
        """The same trees for a matrix whose columns are in another order: ``columns[f]`` is where feature f is."""
        nodes = self.nodes.copy()
        if len(columns):
            nodes[:, 0] = columns[nodes[:, 0]]
        return Walks(frozen(nodes), self.numbers, self.offsets)


def walks_of(trees: Trees) -> Walks:
    """Lay trees out for walking down. They must be sound (``Trees.check``)."""
    count = len(trees.feature)
    itself = np.arange(count)
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    leaf = trees.feature == LEAF
    nodes = np.empty((count, 4), np.uint32)
    nodes[:, 0] = np.where(leaf, 0, trees.feature)
    nodes[:, 1] = trees.missing_left
    nodes[:, 2] = np.where(leaf, itself, root + trees.left)
    nodes[:, 3] = np.where(leaf, itself, root + trees.right)
    return Walks(frozen(nodes), frozen(np.stack((trees.threshold, trees.value), axis=1)), frozen(trees.offsets))


def add_trees(walks: Walks, matrix: Reals, first: int, last: int, out_scores: Floats) -> None:
    """Add the values of the trees first … last−1, in this order, to scores of shape outputs × rows.

    ``matrix``: rows × features, float32 or float64, row-major.
    """
    rows = len(matrix)
    frozen_matrix = frozen(matrix)

    def add(piece: tuple[int, int]) -> None:
        _kernels.add_trees(frozen_matrix, walks.nodes, walks.numbers, walks.offsets, first, last, *piece, out_scores)

    pieces = min(4 * thread_count(), rows * (last - first) // SMALLEST, rows // BLOCK) if thread_count() > 1 else 1
    cuts = [rows * i // max(pieces, 1) // BLOCK * BLOCK for i in range(max(pieces, 1))]
    run(add, zip(cuts, [*cuts[1:], rows], strict=True))


def expected_grades(outputs: Floats, grades: Floats) -> Floats:
    """The mean grade of every row whose outputs (grades × rows) are the logarithms of unscaled probabilities."""
    scores = np.empty(outputs.shape[1], SCORE)
    _kernels.expected_grades(frozen(outputs), frozen(grades), scores)
    return scores
