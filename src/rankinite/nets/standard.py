"""Standard: features put on one scale, as nets need inputs of like size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Features, Floats, Indices, Reals, frozen
from rankinite.errors import DataError, quoted
from rankinite.nets import _standard_kernels as _kernels

_PIECE = 1 << 16


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
    for first in range(0, len(matrix), _PIECE):
        odd = ~np.isfinite(matrix[first : first + _PIECE])
        if missing:
            odd &= ~np.isnan(matrix[first : first + _PIECE])
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
