"""Indicators: the questions for categories as columns of numbers, so that everything that walks down trees compares numbers.

A node that asks whether a category is in its set asks a column of its own, behind those of the features: 0 where it is, 1 where
it is not, NaN where it is missing; its threshold is ½.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import FEATURE, SCORE, Indices, Reals, frozen
from rankinite.trees import _indicator_kernels as _kernels
from rankinite.trees.structure import Trees

Words = npt.NDArray[np.uint32]


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
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(last // 32 + 1)))
    words = np.zeros(starts[-1], np.uint32)
    owner = np.repeat(np.arange(len(nodes)), trees.set_sizes[nodes])
    codes = trees.set_codes.astype(np.int64)
    np.bitwise_or.at(words, starts[owner] + codes // 32, np.uint32(1) << (codes % 32).astype(np.uint32))
    feature = trees.feature[nodes].astype(np.int64)
    return Indicators(features, frozen(feature), frozen(starts), frozen(words), frozen(np.arange(features)))


def indicated(trees: Trees) -> Trees:
    """The same trees with questions for numbers alone: those for categories ask the columns of their indicators."""
    if not trees.has_sets:
        return trees
    nodes = np.flatnonzero(trees.set_sizes)
    feature, threshold = trees.feature.copy(), trees.threshold.copy()
    feature[nodes] = int(trees.feature.max()) + 1 + np.arange(len(nodes))
    threshold[nodes] = 0.5
    plain = {name: np.zeros(0) for name in ("set_starts", "set_codes")}
    return replace(trees, feature=feature, threshold=threshold, **plain)
