"""Columns: single features, and which of them best explains the pushes of all rows, by least squares."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import content_order, query_order
from rankinite.engine.kernel import Features, Floats, Indices, frozen
from rankinite.engine.parallel import run
from rankinite.gradients.base import weight_of_rows
from rankinite.nets import _column_kernels as _kernels
from rankinite.nets.standard import fit_standard

PIECES = 16
"""The number of pieces in which rows are summed, for any number of threads: the order of a sum must not depend on it."""


class Columns:
    """The features of data, each less its mean. A missing value (NaN) counts as the mean.

    A row counts as often as its query weighs, in means and in sums of squares; its push has been multiplied by that weight.
    Nothing here depends on the order of rows and queries in the data: sums follow the order of their content.
    """

    def __init__(self, data: Dataset) -> None:
        self._features = data.features
        self._rows = _content_order(data)
        standard = fit_standard(data.features, self._rows, data.source, frozen(weight_of_rows(data)))
        self.centre = frozen(standard.centre)
        self._unit = standard.scale / np.sqrt(np.where(standard.known > 0.0, standard.known, 1.0))
        """One over √Σ w h² of each feature h; 0 for one that never varies."""
        self._pieces = list(pairwise(len(self._rows) * k // PIECES for k in range(PIECES + 1)))

    def best(self, push: Floats) -> tuple[int, float]:
        """The feature h and the factor β that leave the least of Σ w (y' − β h)², where push = w y'; the first of equals.

        That is β = Σ push·h / Σ w h² and the largest (Σ push·h)² / Σ w h².
        """
        push = frozen(push)

        def work(piece: tuple[int, int]) -> Floats:
            sums = np.zeros(len(self.centre))
            _kernels.add_products(self._features, self._rows, self.centre, push, *piece, sums)
            return sums

        explained = np.sum(run(work, self._pieces), axis=0) * self._unit
        feature = int(np.argmax(np.abs(explained)))
        return feature, float(explained[feature] * self._unit[feature])

    def add(self, feature: int, factor: float, features: Features, scores: Floats) -> None:
        """Add factor · h to the scores of the rows of these or other data."""
        _kernels.add_column(features, feature, float(self.centre[feature]), factor, scores)


def _content_order(data: Dataset) -> Indices:
    """The row numbers in an order that depends neither on the order of rows nor on that of queries in the data."""
    rows, place = content_order(data), np.argsort(query_order(data))
    return frozen(rows[np.argsort(place[data.query_of_row()[rows]], kind="stable")])
