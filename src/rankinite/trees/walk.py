"""Walks: how rows go down trees, and their scores, on all threads. A row's sum does not depend on the rows beside it.

Few trees, such as one that has just been grown, are walked down as they are. For many it pays to lay them out first
(:attr:`Walks.runs`): long runs of symmetric trees level by level (:class:`SymmetricTrees`), all others packed
(:class:`PackedTrees`). Whichever way a row goes, it ends in the same leaves, and their values are added tree by tree in
float64, so that all ways give the same bits. ADR 26 says why there are three, ``_walk_kernels`` what the arrays hold.

Where trees ask for categories, everything here still compares numbers: a node that asks whether a category is in its set asks a
column of its own, its *indicator*, behind those of the features: 0 where it is, 1 where it is not, NaN where it is missing; its
threshold is ½.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import FEATURE, INDEX, SCORE, Flags, Floats, Indices, Reals, frozen
from rankinite.engine.parallel import run_briefly, thread_count
from rankinite.trees import _walk_kernels as _kernels
from rankinite.trees._walk_kernels import Nodes, Words
from rankinite.trees.structure import LEAF, Trees, float32_below

FEW_TREES = 32
"""Fewer trees are walked down as they are: copying the values that they ask for would take longer."""
SHORTEST_RUN = 16
"""Fewer symmetric trees between others are walked down like the others."""
DEEPEST = 24
"""Levels of the deepest symmetric tree that is recognised; its leaves' numbers fit 32 bits with room to spare."""
SMALLEST = 1 << 15
"""Fewer walks (rows × trees) are not worth a thread of their own, which takes 0.1 ms to start."""
FEWEST_ROWS = 32
"""Nor are fewer rows than this."""
ROOM = 1 << 22
"""Values of rows with their indicators at a time."""


# ---- trees laid out -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Walks:
    """Trees as they are walked down; see ``_walk_kernels`` for the arrays. Made by :func:`walks_of`."""

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
        return tuple(
            lay_levels(*trees, depths, first, last) if symmetric else pack_trees(*trees, first, last)
            for symmetric, first, last in _run_ends(depths >= 0)
        )


def walks_of(trees: Trees) -> Walks:
    """Lay trees out for walking down. They must be sound (``Trees.check``)."""
    indicators, trees = indicators_of(trees), with_indicators(trees)
    itself = np.arange(len(trees.feature))
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    leaf = trees.feature == LEAF
    nodes = np.empty((len(trees.feature), 4), np.uint32)
    nodes[:, 0] = np.where(leaf, 0, trees.feature)
    nodes[:, 1] = trees.missing_left
    nodes[:, 2] = np.where(leaf, itself, root + trees.left)
    nodes[:, 3] = np.where(leaf, itself, root + trees.right)
    numbers = frozen(np.stack((trees.threshold, trees.value), axis=1))
    return Walks(frozen(nodes), numbers, frozen(trees.offsets), indicators)


def _run_ends(symmetric_tree: Flags) -> list[tuple[bool, int, int]]:
    """Whether the trees of a run are symmetric, its first tree and its end. Few symmetric trees belong to those beside them."""
    cuts = (np.flatnonzero(symmetric_tree[1:] != symmetric_tree[:-1]) + 1).tolist()
    runs: list[tuple[bool, int, int]] = []
    for begin, end in pairwise([0, *cuts, len(symmetric_tree)]):
        symmetric = bool(symmetric_tree[begin:end].all()) and (end - begin >= SHORTEST_RUN or not cuts)
        goes_on = bool(runs) and runs[-1][0] == symmetric
        runs.append((symmetric, runs.pop()[1] if goes_on else begin, end))
    return [run for run in runs if run[1] < run[2]]


class Slots(NamedTuple):
    """Where the values of a row are copied before it walks down many trees, one slot per feature and missing side.

    A node then compares the value of its slot with its threshold and asks nothing else: where missing values go right
    they stay NaN, which is below nothing; where they go left they are copied as −∞, which is below everything.
    """

    columns: Indices
    """The column of each slot in the matrix that is scored."""
    right: int
    """In the first so many slots a missing value goes right, in the others left."""


def _slots_of(feature: npt.NDArray[np.integer], missing_left: Flags) -> tuple[Slots, Words]:
    """The slots of nodes that ask for these features, and the slot of each node."""
    features = int(feature.max(initial=0)) + 1
    keys, slot = np.unique(feature.astype(INDEX) + features * missing_left.astype(INDEX), return_inverse=True)
    return Slots(frozen(keys % features), int(np.searchsorted(keys, features))), slot.astype(np.uint32)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeRun(ABC):
    """Trees first … last−1 of a forest, laid out so that rows walk down many of them quickly."""

    first: int
    last: int
    origin: int
    """The tree of the forest that comes first in the arrays."""
    slots: Slots

    cost: ClassVar[float]
    """How many packed trees take as long as one of these."""

    @abstractmethod
    def _kernel(self, precision: np.dtype[Any]) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """What walks down these trees in a precision, and what it is given of them behind the slots."""

    def add(self, matrix: Reals, first_row: int, last_row: int, out_scores: Floats) -> None:
        """Add the trees' values to the scores of the rows given, of shape outputs × rows; the matrix must be read-only."""
        kernel, model = self._kernel(matrix.dtype)
        trees = (self.origin, self.first - self.origin, self.last - self.origin)
        kernel(matrix, *self.slots, *model, *trees, first_row, last_row, out_scores)

    def part(self, first: int, last: int) -> Self:
        """Only the trees first … last−1, which must be among these."""
        return replace(self, first=first, last=last)

    def at(self, columns: Indices | None) -> Self:
        """The same trees for a matrix where feature f is in ``columns[f]``; None: where it was."""
        if columns is None:
            return self
        return replace(self, slots=self.slots._replace(columns=frozen(columns[self.slots.columns])))


@dataclass(frozen=True, eq=False, kw_only=True)
class PackedTrees(TreeRun):
    """Any trees."""

    words: Words
    thresholds: Floats
    values: Floats
    roots: Indices
    steps: int
    """About as many as a row takes down a tree."""

    cost = 1.0

    def _kernel(self, precision: np.dtype[Any]) -> tuple[Callable[..., None], tuple[Any, ...]]:
        del precision  # values of either are compared as float64
        return _kernels.add_packed, (self.words, self.thresholds, self.values, self.roots, self.steps)


def pack_trees(nodes: Nodes, numbers: Floats, offsets: Indices, first: int, last: int) -> PackedTrees:
    """Lay out the trees first … last−1 of those whose nodes are given."""
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
    slots, slot = _slots_of(nodes[inner, 0], nodes[inner, 1] != 0)
    words = np.zeros((end - start, 4), np.uint32)
    words[:, 2], words[:, 3] = len(slots.columns), np.arange(end - start)
    words[place[inner], 2], words[place[inner], 3] = slot, children
    thresholds = words.reshape(-1).view(np.float64)
    thresholds[::2] = np.inf
    thresholds[2 * place[inner]] = numbers[inner, 0]
    values = np.empty(end - start)
    values[place] = numbers[:, 1]
    steps = round(math.log2(1 + len(inner) / (last - first)))  # the depth of a balanced tree with as many leaves
    return PackedTrees(
        first=first,
        last=last,
        origin=first,
        slots=slots,
        words=frozen(words.reshape(-1)),
        thresholds=frozen(thresholds),
        values=frozen(values),
        roots=frozen(roots[:-1]),
        steps=max(steps, 1),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class SymmetricTrees(TreeRun):
    """Trees in which all nodes of a level ask the same, as those of CatBoost."""

    level_slots: Words
    thresholds: Floats
    thresholds32: Reals
    """The same for float32 values: the largest float32 that is not above each, which no float32 lies between."""
    levels: Indices
    values: Floats
    leaves: Indices

    cost = 0.1

    def _kernel(self, precision: np.dtype[Any]) -> tuple[Callable[..., None], tuple[Any, ...]]:
        thresholds = self.thresholds32 if precision == FEATURE else self.thresholds
        return _kernels.add_symmetric, (self.level_slots, thresholds, self.levels, self.values, self.leaves)


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


def lay_levels(nodes: Nodes, numbers: Floats, offsets: Indices, depths: Indices, first: int, last: int) -> SymmetricTrees:
    """Lay out the trees first … last−1 of those whose nodes are given; all of them must be symmetric."""
    roots, depths = offsets[first:last], depths[first:last]
    # A level more, where their number is odd or 0, at which every row goes left: it compares 0 with +∞.
    levels, leaves = _sums(np.maximum(depths + depths % 2, 2)), _sums(1 << depths)
    asking = np.full(levels[-1], -1, INDEX)  # a node of each level
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
    slots, slot = _slots_of(nodes[asking[asks], 0], nodes[asking[asks], 1] != 0)
    level_slots = np.full(len(asking), len(slots.columns), np.uint32)
    level_slots[asks] = slot
    thresholds = np.where(asks, numbers[asking, 0], np.inf)
    return SymmetricTrees(
        first=first,
        last=last,
        origin=first,
        slots=slots,
        level_slots=frozen(level_slots),
        thresholds=frozen(thresholds),
        thresholds32=frozen(float32_below(thresholds)),
        levels=frozen(levels),
        values=frozen(values),
        leaves=frozen(leaves),
    )


def _children(nodes: Nodes, level: Indices) -> Indices:
    """The next level of trees, trees × nodes: the two children of each node side by side."""
    return nodes[level, 2:4].astype(INDEX).reshape(len(level), 2 * level.shape[1])


def _sums(sizes: Indices) -> Indices:
    return np.concatenate((np.zeros(1, INDEX), np.cumsum(sizes)))


# ---- indicators -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Indicators:
    """The sets of trees, one for each node that has one, in the order of the nodes."""

    features: int
    """How many features come first."""
    feature: Indices
    """The feature that each set is of."""
    starts: Indices
    """sets + 1 places in ``words``."""
    words: Words
    """The sets, one bit per code, 32 in a word."""
    columns: Indices
    """The column of each feature in the matrix that is scored."""

    def at(self, columns: Indices | None) -> Indicators:
        """The same sets for a matrix where feature f is in ``columns[f]``; None: where it was."""
        return self if columns is None else replace(self, columns=frozen(columns[: self.features]))

    def beside(self, matrix: Reals) -> Reals:
        """A matrix of the features, in order, and of the indicators behind them."""
        kind = FEATURE if matrix.dtype == FEATURE else SCORE
        wide = np.empty((len(matrix), self.features + len(self.feature)), kind)
        _kernels.fill_indicators(frozen(matrix), self.columns, self.feature, self.starts, self.words, wide)
        return wide


def indicators_of(trees: Trees) -> Indicators | None:
    """The indicators that trees ask for; None where they ask for no category."""
    if not trees.has_sets:
        return None
    nodes = np.flatnonzero(trees.set_sizes)
    features = int(trees.feature.max()) + 1
    last = trees.set_codes[trees.set_starts[nodes + 1] - 1].astype(np.int64)  # codes rise, so the last is the largest
    starts = _sums(last // 32 + 1)
    words = np.zeros(starts[-1], np.uint32)
    owner = np.repeat(np.arange(len(nodes)), trees.set_sizes[nodes])
    codes = trees.set_codes.astype(np.int64)
    np.bitwise_or.at(words, starts[owner] + codes // 32, np.uint32(1) << (codes % 32).astype(np.uint32))
    feature = trees.feature[nodes].astype(np.int64)
    return Indicators(features, frozen(feature), frozen(starts), frozen(words), frozen(np.arange(features)))


def with_indicators(trees: Trees) -> Trees:
    """The same trees with questions for numbers alone: those for categories ask the columns of their indicators."""
    if not trees.has_sets:
        return trees
    nodes = np.flatnonzero(trees.set_sizes)
    feature, threshold = trees.feature.copy(), trees.threshold.copy()
    feature[nodes] = int(trees.feature.max()) + 1 + np.arange(len(nodes))
    threshold[nodes] = 0.5
    return replace(trees, feature=feature, threshold=threshold, set_starts=np.zeros(0), set_codes=np.zeros(0))


# ---- scores ---------------------------------------------------------------------------------------------------------


def add_trees(walks: Walks, matrix: Reals, first: int, last: int, out_scores: Floats, columns: Indices | None = None) -> None:
    """Add the values of the trees first … last−1, in this order, to scores of shape outputs × rows.

    ``matrix``: rows × features, float32 or float64, row-major; feature f is in its column ``columns[f]``, or f.
    """
    if walks.indicators is None:
        _add_numeric(walks, matrix, first, last, out_scores, columns)
        return
    indicators = walks.indicators.at(columns)
    step = max(FEWEST_ROWS, ROOM // (indicators.features + len(indicators.feature)))
    for begin in range(0, len(matrix), step):  # some rows at a time, as indicators take much room
        scores = out_scores[:, begin : begin + step].copy()
        _add_numeric(walks, indicators.beside(matrix[begin : begin + step]), first, last, scores, None)
        out_scores[:, begin : begin + step] = scores


def _add_numeric(walks: Walks, matrix: Reals, first: int, last: int, out_scores: Floats, columns: Indices | None) -> None:
    """:func:`add_trees` where the matrix has all columns that trees ask for, indicators included."""
    if last - first >= FEW_TREES:
        ends = ((run, max(first, run.first), min(last, run.last)) for run in walks.runs)
        add_runs([run.part(begin, end).at(columns) for run, begin, end in ends if begin < end], matrix, out_scores)
        return
    here = walks.with_columns(columns)
    arrays = (frozen(matrix), here.nodes, here.numbers, here.offsets, first, last)
    _over_rows(lambda a, b: _kernels.add_trees(*arrays, a, b, out_scores), len(matrix), last - first)


def add_runs(runs: Sequence[TreeRun], matrix: Reals, out_scores: Floats) -> None:
    """Like :func:`add_trees`, for all trees of runs that were laid out for the columns of the matrix."""
    read_only, rows = frozen(matrix), len(matrix)

    def add(first_row: int, last_row: int) -> None:
        for run in runs:
            run.add(read_only, first_row, last_row, out_scores)

    if rows < 2 * FEWEST_ROWS:  # too few for threads
        add(0, rows)
    else:
        _over_rows(add, rows, sum([run.cost * (run.last - run.first) for run in runs]))


def _over_rows(add: Callable[[int, int], None], rows: int, trees: float) -> None:
    """Call ``add(first, last)`` for ranges of rows that together are all of them, on as many threads as are worth it."""
    most = min(int(rows * trees) // SMALLEST, rows // FEWEST_ROWS)
    threads = thread_count() if most > 1 else 1
    if threads == 1:
        add(0, rows)
        return
    pieces = min(most, 4 * threads if most >= 4 * threads else threads)  # small ones for threads that have less of the machine
    cuts = [rows * i // pieces for i in range(pieces + 1)]
    run_briefly(lambda piece: add(*piece), list(pairwise(cuts)))


def expected_grades(outputs: Floats, grades: Floats) -> Floats:
    """The mean grade of every row whose outputs (grades × rows) are the logarithms of unscaled probabilities."""
    scores = np.empty(outputs.shape[1], SCORE)
    _kernels.expected_grades(frozen(outputs), frozen(grades), scores)
    return scores
