"""NodeTable: trees as a foreign file has them, and rows walking down them by that program's own rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Flags, Indices, Reals
from rankinite.trees.structure import LEAF, Trees

Comparison: TypeAlias = Callable[[Reals, Reals], Flags]
"""Whether values go left at thresholds; missing values are not asked about."""
MOST_CELLS = 1 << 22
"""Rows × trees that walk down together: larger matrices would not fit memory."""


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
                left = np.where(missing, self.missing_left[nodes], goes_left(values, self.threshold[nodes]))
            at[rows, trees] = np.where(left, self.left[nodes], self.right[nodes])


def table_of(trees: Trees) -> NodeTable:
    """Our own trees as a table: ``x <= threshold`` goes left."""
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    return NodeTable(
        feature=trees.feature,
        threshold=trees.threshold,
        missing_left=trees.missing_left,
        left=root + trees.left,
        right=root + trees.right,
        value=trees.value,
        roots=trees.offsets[:-1],
    )


def table_of_nested(roots: list[Any], node: Callable[[Any], dict[str, Any]], dtype: npt.DTypeLike) -> NodeTable:
    """A table of trees that a file has nested.

    ``node`` gives a leaf's ``value``, or an inner node's ``feature``, ``threshold``, ``missing_left``, ``left`` and ``right``,
    the last two as the file has them. ``dtype`` is that of thresholds and values.
    """
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
            columns["threshold"].append(facts["threshold"] if inner else 0.0)
            columns["missing_left"].append(facts["missing_left"] if inner else False)
            columns["left"].append(number)
            columns["right"].append(number)
            columns["value"].append(0.0 if inner else facts["value"])
            if inner:
                waiting += [(facts["right"], number, "right"), (facts["left"], number, "left")]
    kinds: dict[str, Any] = {"feature": np.int32, "missing_left": np.bool_, "left": np.int64, "right": np.int64}
    arrays: dict[str, Any] = {name: np.asarray(values, kinds.get(name, dtype)) for name, values in columns.items()}
    return NodeTable(**arrays, roots=np.asarray(starts, np.int64))


def sum_in_order(values: Reals, start: float = 0.0) -> Reals:
    """Start + value 0 + value 1 + … of each row, in the type of the values and in exactly this order."""
    columns = np.empty((len(values), values.shape[1] + 1), values.dtype)
    columns[:, 0] = start
    columns[:, 1:] = values
    with np.errstate(over="ignore"):
        return np.add.accumulate(columns, axis=1)[:, -1]
