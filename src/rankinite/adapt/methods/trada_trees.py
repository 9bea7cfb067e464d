"""Tuning of a forest's trees to target rows, one tree after the other: the work behind :mod:`rankinite.adapt.methods.trada`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from rankinite.adapt.methods import _trada_kernels as _kernels
from rankinite.adapt.methods._trada_kernels import COUNT, CURVATURE, PUSH
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Features, Flags, Floats, Indices, frozen
from rankinite.engine.parallel import over_queries, run
from rankinite.gradients.base import weight_of_rows
from rankinite.models.forest import Forest
from rankinite.trees._walk_kernels import Nodes
from rankinite.trees.structure import LEAF, Integers, Trees, sets_of
from rankinite.trees.walk import indicators_of, walks_of, with_indicators


class TargetRows:
    """The columns of the target that the trees ask for, and what each row brings along, as whole numbers."""

    def __init__(self, background: Forest, target: Dataset) -> None:
        asked = with_indicators(background.trees).feature
        used: Indices = np.unique(asked[asked != LEAF]).astype(np.int64)
        # Where the column of each feature, or of each indicator behind them, is.
        self.slots: Indices = np.zeros(max(len(background.feature_names), int(asked.max(initial=0)) + 1), np.int64)
        self.slots[used] = np.arange(len(used))
        matrix, columns = background.located(target)
        indicators = indicators_of(background.trees)
        features = int(background.trees.feature.max(initial=-1)) + 1
        self.is_set: Flags = used >= features
        places = used if columns is None or indicators is not None else columns[used]
        self.offsets = target.offsets
        self.columns: Features = np.empty((len(places), target.rows), np.float32)
        self.whole: Indices = np.empty((3, target.rows), np.int64)
        self.units: Floats = np.ones(3)
        self.leaf: Nodes = np.zeros(target.rows, np.uint32)
        self.room: Integers = np.zeros(target.rows, np.int32)

        def copy(first: int, last: int) -> None:
            for start in range(target.offsets[first], target.offsets[last], 256):  # 256 rows at a time fit the cache
                end = min(start + 256, int(target.offsets[last]))
                rows = matrix[start:end] if indicators is None else indicators.at(columns).beside(matrix[start:end])
                self.columns[:, start:end] = rows.T[places]

        over_queries(copy, self.offsets)
        self.bring(COUNT, weight_of_rows(target))

    def bring(self, what: int, values: Floats) -> None:
        """Let every row bring along a number: how much it counts, its push or its curvature."""
        largest = max(float(values.max()), -float(values.min()))
        # All rows together stay below 2⁶².
        self.units[what] = unit = math.ldexp(1.0, max(math.frexp(largest)[1], -900) + len(values).bit_length() - 62)
        _kernels.make_whole(frozen(values), unit, self.whole[what])

    def ordered(self) -> tuple[Integers, Indices]:
        """The rows by rising value of every column, missing ones last; and how many are not missing."""
        order = np.empty(self.columns.shape, np.int32)

        def work(column: int) -> None:
            order[column] = np.argsort(self.columns[column])

        run(work, range(len(order)))
        known = len(self.leaf) - np.isnan(self.columns).sum(axis=1)
        return order, np.where(self.is_set, 0, known)  # sets are kept: there is nothing between in and out


class Tuning:
    """All trees of a forest while they are tuned."""

    def __init__(self, trees: Trees, rows: TargetRows, *, beta: float, rate: float, layers: bool, splits: bool) -> None:
        self.trees, self.rows, self.beta, self.rate, self.layers = trees, rows, beta, rate, layers
        counted = trees.rows.any()  # files that store curvature alone have that to count by
        self.source: Floats = frozen(trees.rows.astype(float) if counted else trees.curvature)
        self.counter = COUNT if counted else CURVATURE
        walks = walks_of(with_indicators(trees)).with_columns(rows.slots)
        self.nodes, self.numbers, self.value = walks.nodes, walks.numbers.copy(), trees.value.copy()
        self.reached: Flags = np.zeros(len(self.value), np.bool_)
        self.order = rows.ordered() if splits else None

    def tune(self, number: int, push: Floats, curvature: Floats, constant: float) -> Floats:
        """Tune one tree to what is left to be explained; returns what it now adds to the score of every target row."""
        rows = self.rows
        rows.bring(PUSH, push)
        rows.bring(CURVATURE, curvature)
        root, end = int(self.trees.offsets[number]), int(self.trees.offsets[number + 1])
        if self.order is not None:
            arrays = (rows.columns, *self.order, self.nodes, self.source, rows.whole, rows.units)
            _kernels.move_thresholds(*arrays, root, end, self.counter, self.beta, self.numbers, rows.leaf, rows.room)
        sums = self._sums(root, end)
        numbers = (root, self.counter, self.beta, self.rate, constant, self.layers)
        _kernels.tune_values(self.nodes, self.trees.value, self.source, rows.units, *numbers, sums, self.value)
        self.reached[root:end] = sums[:, COUNT] > 0
        return self.value[rows.leaf]

    def _sums(self, root: int, end: int) -> Indices:
        """What the rows that end in each leaf bring along, shape (nodes, 3)."""
        rows = self.rows

        def work(first: int, last: int) -> Indices:
            sums = np.zeros((end - root, 3), np.int64)
            ends = (root, int(rows.offsets[first]), int(rows.offsets[last]))
            _kernels.send_down(rows.columns, self.nodes, self.numbers, rows.whole, *ends, sums, rows.leaf)
            return sums

        return np.sum(over_queries(work, rows.offsets), axis=0)

    def result(self, *, trim: bool) -> Trees:
        """The tuned trees; ``trim``: without the branches that no target row reaches."""
        threshold = np.where(self.trees.set_sizes > 0, self.trees.threshold, self.numbers[:, 0])
        tuned = replace(self.trees, value=self.value, threshold=threshold)
        if not trim:
            return tuned
        kept: Flags = np.zeros_like(self.reached)
        _kernels.mark_kept(self.nodes, self.trees.offsets[:-1], self.reached, kept)
        return _trimmed(tuned, kept, self.reached)


def _trimmed(trees: Trees, kept: Flags, reached: Flags) -> Trees:
    """The trees with only the nodes kept; those not reached are leaves."""
    offsets: Indices = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)))[trees.offsets]
    place = np.cumsum(kept) - 1 - np.repeat(offsets[:-1], np.diff(trees.offsets))  # of each node in its new tree
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    inner = (trees.feature != LEAF) & reached
    changed: dict[str, Any] = {
        "feature": np.where(inner, trees.feature, LEAF),
        "threshold": np.where(inner, trees.threshold, 0.0),
        "missing_left": trees.missing_left & inner,
        "left": np.where(inner, place[root + trees.left], 0),
        "right": np.where(inner, place[root + trees.right], 0),
        "gain": np.where(inner, trees.gain, 0.0),
        **{name: getattr(trees, name) for name in ("value", "rows", "curvature")},
    }
    sets = [trees.set_of(node) if inner[node] else [] for node in np.flatnonzero(kept).tolist()] if trees.has_sets else []
    return Trees(**{name: array[kept] for name, array in changed.items()}, offsets=offsets, **sets_of(sets))
