"""Features on one scale, as nets and linear rankers need them (``Standard``); single ones, for LambdaBoost (``Columns``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import content_order, query_order
from rankinite.engine.kernel import SCORE, Features, Floats, Indices, Reals, frozen
from rankinite.engine.parallel import run
from rankinite.errors import DataError, quoted
from rankinite.gradients.base import weight_of_rows
from rankinite.nets import _feature_kernels as _kernels

PIECES = 16
"""The number of pieces in which rows are summed, for any number of threads: the order of a sum must not depend on it."""
_CHECKED_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Standard:
    """(x − centre) · scale gives every feature the mean 0 and the variance 1 on the data it was fitted to."""

    centre: Floats
    """The mean of each feature."""
    scale: Floats
    """One over its standard deviation; 0 for a feature that never varies, which is left out."""
    known: Floats
    """How many of its values are not missing; where rows have weights, their sum."""


def fit_standard(features: Features, rows: Indices, place: str, weights: Floats | None = None) -> Standard:
    """The scale of all features, from sums over the rows in this order, so that their order in the data need not matter.

    ``rows``: all row numbers; ``place``: where the features come from, for messages; ``weights``: above 0, one per row of the
    data, 1 if left out.
    """
    rows, sums = frozen(rows), np.empty((5, features.shape[1]), SCORE)
    weights = frozen(np.ones(len(features), SCORE)) if weights is None else weights
    _kernels.sum_features(features, rows, weights, np.zeros(sums.shape[1]), sums)
    known = sums[2].copy()
    divisor = np.where(known > 0.0, known, 1.0)
    centre = sums[0] / divisor
    _kernels.sum_features(features, rows, weights, centre, sums)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = np.sqrt(divisor / sums[1])
    scale[~np.isfinite(scale) | (sums[3] >= sums[4])] = 0.0
    if not scale.any():
        raise DataError(
            f"none of the {len(scale)} features varies, so there is nothing to rank by",
            place=place,
            value=len(scale),
            remedy="Give others, or check how the file was read",
        )
    return Standard(centre, scale, known)


def check_features(matrix: Reals, names: Sequence[str], place: str, *, missing: bool) -> None:
    """Refuse infinite values, and missing ones (NaN) unless there is a rule for them: ``missing``."""
    for first in range(0, len(matrix), _CHECKED_AT_ONCE):
        odd = ~np.isfinite(matrix[first : first + _CHECKED_AT_ONCE])
        if missing:
            odd &= ~np.isnan(matrix[first : first + _CHECKED_AT_ONCE])
        if not odd.any():
            continue
        row, feature = (int(number) for number in np.argwhere(odd)[0])
        name, value = quoted(names[feature]), float(matrix[first + row, feature])
        if np.isnan(value):
            raise DataError(
                f"feature {name} is missing (NaN), and this ranker has no rule for that",
                place=f"{place}, row {first + row}",
                value=names[feature],
                remedy="Train with `nan='mean'` to take the feature's mean, or fill the gaps in the data",
            )
        raise DataError(
            f"feature {name} is {value}",
            place=f"{place}, row {first + row}",
            value=value,
            rule="Nets take finite values",
            remedy="Read the data with `infinite='clip'`",
        )


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
