"""Features put on one scale: nets need inputs of like size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import DataError
from rankinite.kernel import SCORE, Floats, Indices, Reals
from rankinite.nets import _standard_kernels as _kernels

_PIECE = 1 << 16


@dataclass(frozen=True, eq=False)
class Standard:
    """(x − centre) · scale gives every feature the mean 0 and the variance 1 on the data it was fitted to."""

    centre: Floats
    """The mean of each feature."""
    scale: Floats
    """One over its standard deviation; 0 for a feature that never varies, which says nothing."""


def fit_standard(data: Dataset, rows: Indices) -> Standard:
    """The scale of all features, summed over the rows in this order, such that where they stand does not matter.

    ``rows``: all row numbers.
    """
    sums = np.empty((5, len(data.feature_names)), SCORE)
    _kernels.sum_features(data.features, rows, np.zeros(sums.shape[1]), sums)
    known = np.maximum(sums[2], 1.0)
    centre = sums[0] / known
    _kernels.sum_features(data.features, rows, centre, sums)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = np.sqrt(known / sums[1])
    scale[~np.isfinite(scale) | (sums[3] >= sums[4])] = 0.0
    if not scale.any():
        raise DataError(
            f"{data.source}: none of the {len(scale)} features varies, so there is nothing to rank by. Give others, or check "
            "how the file was read."
        )
    return Standard(centre, scale)


def refuse_missing(matrix: Reals, names: Sequence[str], place: str) -> None:
    """Refuse a matrix with a missing value (NaN), which a net has no rule for by itself."""
    for first in range(0, len(matrix), _PIECE):
        missing = np.isnan(matrix[first : first + _PIECE])
        if missing.any():
            row, feature = (int(number) for number in np.argwhere(missing)[0])
            raise DataError(
                f"{place}: feature {names[feature]!r} of row {first + row} is missing (NaN), and this ranker has no rule for "
                "that. Train with nan='mean' to take the feature's mean, or fill the gaps in the data."
            )
