"""Nested trees: the trees of foreign files, whose nodes contain or point at their children, as arrays.

A reader says of each of its own nodes whether it is a leaf or a split. Here nodes get their places, level by level, and inner
nodes their values: the mean of their children's, by rows where these are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Floats
from rankinite.errors import DataError
from rankinite.models.files.parsed import SAVE_AGAIN
from rankinite.trees.structure import LEAF, Trees

Node = TypeVar("Node")
MOST_WHOLE = float(1 << 53)
"""Whole numbers up to this size are exact as floats."""


class LeafNode(NamedTuple):
    """A node where rows end."""

    value: float
    rows: float = 0.0
    """The training rows that ended here, weighted as in training; 0: that is not known."""


class SplitNode(NamedTuple):
    """A node that sends rows to its children, which are nodes of the reader."""

    feature: int
    threshold: float
    missing_left: bool
    left: Any
    right: Any


def tree_of(root: Node, read: Callable[[Node], LeafNode | SplitNode], *, most: int | None = None, place: str = "") -> Trees:
    """One tree; ``most``: the nodes that there can be, where they point at each other and might go round in circles.

    ``place``: what the error then calls the tree.
    """
    waiting, found, first_child = [root], list[LeafNode | SplitNode](), list[int]()
    while len(found) < len(waiting):
        node = read(waiting[len(found)])
        found.append(node)
        first_child.append(len(waiting) if isinstance(node, SplitNode) else 0)
        if isinstance(node, SplitNode):
            waiting += (node.left, node.right)
        if most is not None and len(waiting) > most:
            raise DataError("this tree has a node with two parents", place=place, value=most, remedy=SAVE_AGAIN)
    return _trees(found, np.asarray(first_child))


def constant_tree(value: float, rows: float = 0.0) -> Trees:
    """A tree that adds the same to every score."""
    return _trees([LeafNode(value, rows)], np.zeros(1, np.int64))


def _trees(nodes: list[LeafNode | SplitNode], first_child: npt.NDArray[Any]) -> Trees:
    inner = first_child > 0
    left, right = first_child, first_child + inner
    of_leaves = np.asarray([0.0 if isinstance(node, SplitNode) else node.rows for node in nodes])
    rows = _sums(np.flatnonzero(inner), left, right, of_leaves)
    value = np.asarray([0.0 if isinstance(node, SplitNode) else node.value for node in nodes])
    splits = [node if isinstance(node, SplitNode) else None for node in nodes]
    return Trees(
        feature=np.asarray([LEAF if node is None else node.feature for node in splits]),
        threshold=np.asarray([0.0 if node is None else node.threshold for node in splits]),
        missing_left=np.asarray([node is not None and node.missing_left for node in splits]),
        left=left,
        right=right,
        value=inner_values(np.flatnonzero(inner), left, right, value, rows),
        rows=row_counts(rows),
        curvature=np.zeros(len(nodes)),
        gain=np.zeros(len(nodes)),
        offsets=np.asarray([0, len(nodes)]),
    )


def row_counts(rows: Floats) -> npt.NDArray[np.int64]:
    """Numbers of rows as whole numbers; 0, not known, where weights have made them anything else."""
    whole = bool(((rows >= 0.0) & (rows < MOST_WHOLE) & (np.floor(rows) == rows)).all())
    return rows.astype(np.int64) if whole else np.zeros(len(rows), np.int64)


def inner_values(inner: npt.NDArray[Any], left: Any, right: Any, value: Floats, weight: Floats) -> Floats:
    """Leaves have their value; inner nodes, given parents first, the mean of their children by weight."""
    found, heavy = value.tolist(), weight.tolist()
    for node in reversed(inner.tolist()):
        a, b = int(left[node]), int(right[node])
        total = heavy[a] + heavy[b]
        share = heavy[a] / total if total > 0.0 else 0.5
        found[node] = share * found[a] + (1.0 - share) * found[b]
    return np.asarray(found, np.float64)


def _sums(inner: npt.NDArray[Any], left: Any, right: Any, of_leaves: Floats) -> Floats:
    """What the leaves below each node add up to."""
    found = of_leaves.tolist()
    for node in reversed(inner.tolist()):
        found[node] = found[int(left[node])] + found[int(right[node])]
    return np.asarray(found, np.float64)
