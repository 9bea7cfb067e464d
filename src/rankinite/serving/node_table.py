"""NodeTable: trees as a foreign file has them, and rows walking down them by that program's own rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import MOST
from rankinite.engine.kernel import Flags, Indices, Reals
from rankinite.trees.structure import LEAF, Trees

Comparison: TypeAlias = Callable[[Reals, Reals], Flags]
"""Whether values go left at thresholds; missing values are not asked about."""
MOST_CELLS = 1 << 22
"""Rows × trees that walk down together: larger matrices would not fit memory."""


@dataclass(frozen=True, eq=False)
class NodeSets:
    """The sets of some nodes of a table."""

    asked: Flags
    """Whether each node has a set; empty: none has."""
    keys: Indices
    """node × MOST + code of every code in a set, rising."""

    def contain(self, nodes: Indices, values: Reals) -> Flags:
        """Whether the whole part of each value is in the set of its node."""
        codes = np.trunc(values)
        possible = (codes >= 0) & (codes < MOST)
        keys = nodes * MOST + np.where(possible, codes, 0).astype(np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        return possible & (self.keys[places] == keys) if len(self.keys) else np.zeros(len(nodes), np.bool_)


def node_sets(members: Sequence[Sequence[int] | None]) -> NodeSets:
    """The sets of all nodes, in order; None for a node with a threshold, nothing at all where no node has a set."""
    keys = [node * MOST + code for node, codes in enumerate(members) for code in sorted(codes or ())]
    return NodeSets(np.asarray([codes is not None for codes in members], np.bool_), np.asarray(keys, np.int64))


@dataclass(frozen=True, eq=False)
class NodeTable:
    """The nodes of all trees, one after the other; children are numbers of nodes in the table."""

    feature: npt.NDArray[np.int32]
    """The feature asked; ``LEAF`` in leaves."""
    threshold: Reals
    missing_left: Flags
    left: Indices
    right: Indices
    value: Reals
    """What leaves add, in the type that the program adds."""
    roots: Indices
    """One node per tree."""
    sets: NodeSets = field(default_factory=lambda: node_sets([]))
    """The sets of nodes that ask for categories: codes in the set go left, all other numbers right."""

    def leaf_values(self, matrix: Reals, goes_left: Comparison = np.less_equal) -> Reals:
        """The value of every row in every tree: rows × trees."""
        found = np.empty((len(matrix), len(self.roots)), self.value.dtype)
        step = max(1, MOST_CELLS // max(len(self.roots), 1))
        for first in range(0, len(matrix), step):
            part = slice(first, first + step)
            found[part] = self.value[self._leaves(matrix[part], goes_left)]
        return found

    def _leaves(self, matrix: Reals, goes_left: Comparison) -> Indices:
        at = np.broadcast_to(self.roots, (len(matrix), len(self.roots))).copy()
        while True:
            rows, trees = np.nonzero(self.feature[at] != LEAF)
            if not len(rows):
                return at
            nodes = at[rows, trees]
            values = matrix[rows, self.feature[nodes]]
            missing = np.isnan(values)
            with np.errstate(invalid="ignore"):
                left = np.where(missing, self.missing_left[nodes], self._left(nodes, values, goes_left))
            at[rows, trees] = np.where(left, self.left[nodes], self.right[nodes])

    def _left(self, nodes: Indices, values: Reals, goes_left: Comparison) -> Flags:
        below = goes_left(values, self.threshold[nodes])
        return np.where(self.sets.asked[nodes], self.sets.contain(nodes, values), below) if len(self.sets.asked) else below


def table_of(trees: Trees) -> NodeTable:
    """Our own trees as a table: ``x <= threshold`` goes left, and a category in a node's set."""
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    return NodeTable(
        feature=trees.feature,
        threshold=trees.threshold,
        missing_left=trees.missing_left,
        left=root + trees.left,
        right=root + trees.right,
        value=trees.value,
        roots=trees.offsets[:-1],
        sets=node_sets([trees.set_of(node) or None for node in range(len(trees.feature))] if trees.has_sets else []),
    )


def table_of_nested(roots: list[Any], node: Callable[[Any], dict[str, Any]], dtype: npt.DTypeLike) -> NodeTable:
    """A table of trees that a file has nested.

    ``node`` gives a leaf's ``value``, or an inner node's ``feature``, ``threshold``, ``missing_left``, ``left`` and ``right``,
    the last two as the file has them; ``members``, the codes that go left, in place of a threshold. ``dtype`` is that of
    thresholds and values.
    """
    members: list[Sequence[int] | None] = []
    columns: dict[str, list[Any]] = {name: [] for name in ("feature", "threshold", "missing_left", "left", "right", "value")}
    starts: list[int] = []
    for root in roots:
        starts.append(len(columns["feature"]))
        waiting = [(root, -1, "")]
        while waiting:
            written, parent, side = waiting.pop()
            number = len(columns["feature"])
            if parent >= 0:
                columns[side][parent] = number
            facts = node(written)
            inner = "value" not in facts
            columns["feature"].append(facts["feature"] if inner else LEAF)
            columns["threshold"].append(facts.get("threshold", 0.0))
            members.append(facts.get("members"))
            columns["missing_left"].append(facts["missing_left"] if inner else False)
            columns["left"].append(number)
            columns["right"].append(number)
            columns["value"].append(0.0 if inner else facts["value"])
            if inner:
                waiting += [(facts["right"], number, "right"), (facts["left"], number, "left")]
    kinds: dict[str, Any] = {"feature": np.int32, "missing_left": np.bool_, "left": np.int64, "right": np.int64}
    arrays: dict[str, Any] = {name: np.asarray(values, kinds.get(name, dtype)) for name, values in columns.items()}
    sets = node_sets(members if any(one is not None for one in members) else [])
    return NodeTable(**arrays, roots=np.asarray(starts, np.int64), sets=sets)


def sum_in_order(values: Reals, start: float = 0.0) -> Reals:
    """Start + value 0 + value 1 + … of each row, in the type of the values and in exactly this order."""
    columns = np.empty((len(values), values.shape[1] + 1), values.dtype)
    columns[:, 0] = start
    columns[:, 1:] = values
    with np.errstate(over="ignore"):
        return np.add.accumulate(columns, axis=1)[:, -1]
