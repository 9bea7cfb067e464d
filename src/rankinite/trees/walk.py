"""Scores of rows under trees, on all threads. A row's sum does not depend on the rows beside it.

Few trees, such as one that has just been grown, are walked down as they are (``_walk_kernels``). For many it pays to lay
them out first (:attr:`Walks.runs`): long runs of symmetric trees level by level (``symmetric_trees``), all others packed
(``packed_trees``). Whichever way a row goes, it ends in the same leaves, and their values are added tree by tree in float64,
so that all ways give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from rankinite.engine.kernel import SCORE, Flags, Floats, Indices, Reals, frozen
from rankinite.engine.parallel import run_briefly, thread_count
from rankinite.trees import _walk_kernels as _kernels
from rankinite.trees._walk_kernels import Nodes
from rankinite.trees.indicators import Indicators, indicated, indicators_of
from rankinite.trees.packed_trees import PackedTrees, packed
from rankinite.trees.structure import LEAF, Trees
from rankinite.trees.symmetric_trees import SymmetricTrees, depths_of, symmetric

FEW_TREES = 32
"""Fewer trees are walked down as they are: copying the values that they ask for would take longer."""
SHORTEST_RUN = 16
"""Fewer symmetric trees between others are walked down like the others."""
SMALLEST = 1 << 15
"""Fewer walks (rows × trees) are not worth a thread of their own, which takes 0.1 ms to start."""

FEWEST_ROWS = 32
"""Nor are fewer rows than this."""

ROOM = 1 << 22
"""Values of rows with their indicators at a time."""

TreeRun = PackedTrees | SymmetricTrees


@dataclass(frozen=True, eq=False)
class Walks:
    """Trees laid out for walking down; see ``trees/_walk_kernels.py``."""

    nodes: Nodes
    numbers: Floats
    offsets: Indices
    indicators: Indicators | None = None
    """Where trees ask for categories: the columns that they ask in place of these."""

    def with_columns(self, columns: Indices | None) -> Walks:
        """The same trees for a matrix whose columns are in another order: ``columns[f]`` is where feature f is."""
        if columns is None or not len(columns):
            return self
        if self.indicators is not None:
            return replace(self, indicators=self.indicators.at(columns))
        nodes = self.nodes.copy()
        nodes[:, 0] = columns[nodes[:, 0]]
        return Walks(frozen(nodes), self.numbers, self.offsets)

    @cached_property
    def runs(self) -> tuple[TreeRun, ...]:
        """All trees, laid out for many rows or for one, as quickly as each run of them can be walked down."""
        trees = (self.nodes, self.numbers, self.offsets)
        depths = depths_of(*trees)
        ends = _run_ends(depths >= 0)
        return tuple(symmetric(*trees, depths, *one) if alike else packed(*trees, *one) for alike, *one in ends)


def walks_of(trees: Trees) -> Walks:
    """Lay trees out for walking down. They must be sound (``Trees.check``)."""
    indicators, trees = indicators_of(trees), indicated(trees)
    count = len(trees.feature)
    itself = np.arange(count)
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    leaf = trees.feature == LEAF
    nodes = np.empty((count, 4), np.uint32)
    nodes[:, 0] = np.where(leaf, 0, trees.feature)
    nodes[:, 1] = trees.missing_left
    nodes[:, 2] = np.where(leaf, itself, root + trees.left)
    nodes[:, 3] = np.where(leaf, itself, root + trees.right)
    numbers = frozen(np.stack((trees.threshold, trees.value), axis=1))
    return Walks(frozen(nodes), numbers, frozen(trees.offsets), indicators)


def add_trees(walks: Walks, matrix: Reals, first: int, last: int, out_scores: Floats, columns: Indices | None = None) -> None:
    """Add the values of the trees first … last−1, in this order, to scores of shape outputs × rows.

    ``matrix``: rows × features, float32 or float64, row-major; feature f is in its column ``columns[f]``, or f.
    """
    if walks.indicators is not None:
        plain = replace(walks, indicators=None)
        vars(plain)["runs"] = walks.runs  # laid out once
        in_parts(walks.indicators.at(columns), matrix, out_scores, lambda wide, out: add_trees(plain, wide, first, last, out))
        return
    if last - first >= FEW_TREES:
        ends = ((one, max(first, one.first), min(last, one.last)) for one in walks.runs)
        add_runs([one.part(begin, end).at(columns) for one, begin, end in ends if begin < end], matrix, out_scores)
        return
    here, given = walks.with_columns(columns), frozen(matrix)
    arrays = (given, here.nodes, here.numbers, here.offsets, first, last)
    _in_pieces(lambda a, b: _kernels.add_trees(*arrays, a, b, out_scores), len(matrix), last - first)


def in_parts(indicators: Indicators, matrix: Reals, out_scores: Floats, add: Callable[[Reals, Floats], None]) -> None:
    """Call ``add(features with indicators, scores)`` for some rows at a time, as indicators take much room."""
    width = indicators.features + len(indicators.feature)
    step = max(FEWEST_ROWS, ROOM // width)
    for first in range(0, len(matrix), step):
        scores = out_scores[:, first : first + step].copy()
        add(indicators.beside(matrix[first : first + step]), scores)
        out_scores[:, first : first + step] = scores


def add_runs(runs: Sequence[TreeRun], matrix: Reals, out_scores: Floats) -> None:
    """Like :func:`add_trees`, for all trees of runs that were laid out for the columns of the matrix."""
    given, rows = frozen(matrix), len(matrix)
    if rows < 2 * FEWEST_ROWS:  # too few for threads
        for one in runs:
            one.add(given, 0, rows, out_scores)
        return

    def add(first_row: int, last_row: int) -> None:
        for one in runs:
            one.add(given, first_row, last_row, out_scores)

    _in_pieces(add, rows, sum([one.effort for one in runs]))


def _in_pieces(add: Callable[[int, int], None], rows: int, trees: float) -> None:
    """Call ``add(first, last)`` for ranges of rows that together are all of them, on as many threads as are worth it."""
    most = min(int(rows * trees) // SMALLEST, rows // FEWEST_ROWS)
    threads = thread_count() if most > 1 else 1
    if threads == 1:
        add(0, rows)
        return
    pieces = min(most, 4 * threads if most >= 4 * threads else threads)  # small ones for threads that have less of the machine
    cuts = [rows * i // pieces for i in range(pieces + 1)]
    run_briefly(lambda piece: add(*piece), list(pairwise(cuts)))


def _run_ends(symmetric_tree: Flags) -> list[tuple[bool, int, int]]:
    """Whether the trees of a run are symmetric, its first tree and its end. Few symmetric trees belong to those beside them."""
    cuts = (np.flatnonzero(symmetric_tree[1:] != symmetric_tree[:-1]) + 1).tolist()
    runs: list[tuple[bool, int, int]] = []
    for begin, end in pairwise([0, *cuts, len(symmetric_tree)]):
        alike = bool(symmetric_tree[begin:end].all()) and (end - begin >= SHORTEST_RUN or not cuts)
        joined = bool(runs) and runs[-1][0] == alike
        runs.append((alike, runs.pop()[1] if joined else begin, end))
    return [run for run in runs if run[1] < run[2]]


def expected_grades(outputs: Floats, grades: Floats) -> Floats:
    """The mean grade of every row whose outputs (grades × rows) are the logarithms of unscaled probabilities."""
    scores = np.empty(outputs.shape[1], SCORE)
    _kernels.expected_grades(frozen(outputs), frozen(grades), scores)
    return scores
