"""Contributions of features to sums of trees: exact Shapley values, path-dependent, on all threads.

A feature that is not known lets a row go both ways at a node that asks for it, in the proportions of the training rows that
came by (TreeSHAP with path-dependent expectations; Lundberg et al. 2020, algorithm 2). How it is computed: see
``_contribution_kernels``: leaves in groups, their patterns in tables, and a quadrature in place of sums over subsets. The rules
of the quadrature have the same bits on every machine: they are computed with 50 digits, then rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from rankinite.engine.kernel import INDEX, SCORE, Flags, Floats, Indices, Reals, frozen
from rankinite.engine.parallel import run, thread_count
from rankinite.trees import _contribution_kernels as _kernels
from rankinite.trees._contribution_kernels import LeafGroups, Quadrature, TreeNodes, group_leaves, measure
from rankinite.trees.structure import LEAF, Trees
from rankinite.trees.walk import Indicators, indicators_of, with_indicators

ROOM = 1 << 25
"""Bytes of one thread's rows: values of the features and contributions to them."""
BATCH = 1 << 20
"""Steps from a root to a leaf, over all leaves, of trees that are laid out at a time."""
FEWEST_ROWS = 64
"""Fewer are not worth a thread of their own."""
DIGITS = 50
NEWTON_STEPS = 8
"""Each doubles the digits of a root: three are enough from the first guess, which has five or more."""

_TYPES: dict[str, Any] = {"side": np.uint8, "set": np.uint8, "value": SCORE, "share": SCORE}
_BEGINNINGS = ("tests", "groups", "bits", "members", "slots", "leaves", "factors", "conditions")


@dataclass(frozen=True, eq=False)
class CoveredTrees:
    """Trees with the share of training rows that goes each way at each node."""

    nodes: TreeNodes
    steps: Indices
    """Per tree: steps from the root to a leaf, over all leaves."""
    means: Floats
    """Per tree: what it adds to the score of a training row on average."""
    indicators: Indicators | None = None
    """Where nodes ask for categories: the columns that they ask in place of these."""


def trees_without_cover(trees: Trees) -> Flags:
    """Which trees say neither how many rows came by their nodes nor what their curvatures were."""
    root = trees.offsets[:-1]
    return (trees.feature[root] != LEAF) & (trees.rows[root] <= 0) & ~(trees.curvature[root] > 0.0)


def covered_trees(trees: Trees) -> CoveredTrees:
    """Trees with shares: by rows, or by curvature in trees that know no rows. All must have a cover."""
    counted = np.repeat(trees.rows[trees.offsets[:-1]] > 0, np.diff(trees.offsets))
    cover = np.where(counted, trees.rows.astype(SCORE), trees.curvature)
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    inner = trees.feature != LEAF
    left, right = (root + trees.left)[inner], (root + trees.right)[inner]
    both = cover[left] + cover[right]
    share = np.ones(len(cover))
    # No row came by: then both ways are as likely.
    share[left] = np.divide(cover[left], both, out=np.full(len(both), 0.5), where=both > 0.0)
    share[right] = 1.0 - share[left]
    asked = with_indicators(trees)
    arrays = (trees.feature, asked.feature, asked.threshold, trees.missing_left, trees.left, trees.right, trees.value)
    nodes = TreeNodes(*arrays, frozen(share), trees.offsets)
    steps, means = np.zeros(len(trees), INDEX), np.zeros(len(trees))
    measure(nodes, steps, means)
    return CoveredTrees(nodes, steps, means, indicators_of(trees))


def add_contributions(trees: CoveredTrees, matrix: Reals, out_values: Floats, columns: Indices | None = None) -> None:
    """Add the contributions of every feature to the sum of all trees to ``out_values``, rows × features.

    ``matrix``: rows × columns, float32 or float64; feature f is in its column ``columns[f]``, or f.
    """
    indicators = None if trees.indicators is None else trees.indicators.at(columns)
    width = out_values.shape[1] + (0 if indicators is None else len(indicators.feature))
    pieces = _pieces(len(out_values), width, matrix.itemsize)
    kernel: Callable[..., None] = _kernels.add_contributions

    def add(model: tuple[Any, ...], piece: tuple[int, int]) -> None:
        """Add to a range of rows, in copies that are stored feature by feature."""
        first, last = piece
        part = matrix[first:last]
        if indicators is not None:
            part = indicators.beside(part)
        elif columns is not None:
            part = part[:, columns]
        values = np.ascontiguousarray(out_values[first:last].T)
        kernel(frozen(np.ascontiguousarray(part.T)), *model, values)
        out_values[first:last] = values.T

    for first_tree, groups in _batches(trees):
        tests, factors, room = _sizes(groups)
        model = (trees.nodes, groups, first_tree, quadrature((factors + 1) // 2), tests, factors, room)
        run(partial(add, model), pieces)


def _pieces(rows: int, features: int, size: int) -> list[tuple[int, int]]:
    """Ranges of rows that fit the room, and that are at least as many as there are threads, where rows are enough."""
    most = max(ROOM // max((size + 8) * features, 1), FEWEST_ROWS)
    pieces = max(-(-rows // most), min(thread_count(), rows // FEWEST_ROWS), 1)
    return [piece for piece in pairwise(rows * place // pieces for place in range(pieces + 1)) if piece[0] < piece[1]]


def _batches(trees: CoveredTrees) -> Iterator[tuple[int, LeafGroups]]:
    """All trees in batches, each with the number of its first tree."""
    begin, count = 0, len(trees.steps)
    while begin < count:
        steps = np.cumsum(trees.steps[begin:])
        end = begin + max(int(np.searchsorted(steps, BATCH, side="right")), 1)
        yield begin, _leaf_groups(trees, begin, min(end, count))
        begin = min(end, count)


def _leaf_groups(trees: CoveredTrees, first: int, last: int) -> LeafGroups:
    """The leaves of the trees first … last−1 in groups."""
    steps = int(trees.steps[first:last].sum())
    nodes = int(trees.nodes.offsets[last] - trees.nodes.offsets[first])
    most = {"tree": last - first, "test": nodes, "group": nodes, "leaf": nodes}  # of all others: a leaf has its path's at most
    arrays: dict[str, Any] = {}
    for name in LeafGroups._fields:
        owner, what = name.split("_")
        begins = what in _BEGINNINGS
        arrays[name] = np.zeros(most.get(owner, steps) + begins, INDEX if begins else _TYPES.get(what, np.int32))
    groups = LeafGroups(**arrays)
    group_leaves(trees.nodes, first, last, _kernels.MOST_BITS, groups)
    return LeafGroups(**{name: frozen(array) for name, array in arrays.items()})


def _sizes(groups: LeafGroups) -> tuple[int, int, int]:
    """The most tests of a tree, the most factors of a leaf or slots of a group, and the numbers in one tree's tables."""
    count = int(groups.tree_groups[-1])
    bits, slots = np.diff(groups.group_bits[: count + 1]), np.diff(groups.group_slots[: count + 1])
    factors = np.diff(groups.leaf_factors[: int(groups.group_leaves[count]) + 1])
    room = np.where(bits <= _kernels.MOST_BITS, slots << np.minimum(bits, _kernels.MOST_BITS), 0)
    tables = np.add.reduceat(np.append(room, 0), groups.tree_groups[:-1]) if count else np.zeros(1, INDEX)
    widest = max(int(each.max(initial=0)) for each in (bits, slots, factors))
    return int(np.diff(groups.tree_tests).max(initial=0)), widest, int(tables.max(initial=0))


# ---- quadrature -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def quadrature(most: int) -> Quadrature:
    """The rules of 1 to ``most`` points on [0, 1]. That of n points is exact for polynomials up to degree 2n − 1."""
    points, weights = np.zeros((most + 1, max(most, 1))), np.zeros((most + 1, max(most, 1)))
    for count in range(1, most + 1):
        for place in range(count):
            points[count, place], weights[count, place] = _point(count, place)
    return Quadrature(frozen(points), frozen(weights))


@lru_cache(maxsize=4096)
def _point(count: int, place: int) -> tuple[float, float]:
    """One point of a rule and its weight: a root x of the Legendre polynomial P, moved from [−1, 1] to [0, 1]."""
    with localcontext() as context:
        context.prec = DIGITS
        x = Decimal(math.cos(math.pi * (place + 0.75) / (count + 0.5)))
        for _ in range(NEWTON_STEPS):
            value, slope = _legendre(count, x)
            x -= value / slope
        slope = _legendre(count, x)[1]
        return float((1 - x) / 2), float(1 / ((1 - x * x) * slope * slope))


def _legendre(degree: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """The Legendre polynomial of a degree and its derivative, by Bonnet's recursion."""
    before, value = Decimal(1), x
    for k in range(2, degree + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, degree * (x * value - before) / (x * x - 1)
