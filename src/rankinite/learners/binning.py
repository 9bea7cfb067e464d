"""Binning: the codes of data sets, made once where many fits learn from the same one."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from rankinite.data.dataset import Dataset
from rankinite.data.row_keys import row_keys
from rankinite.trees.bins import Bins, Codes, fit_bins

_SHARED: WeakKeyDictionary[Dataset, dict[Any, Any]] = WeakKeyDictionary()


def share_bins(data: Dataset) -> None:
    """Keep the codes of a data set for as long as it lives: a byte for each value, for fits that will come."""
    _SHARED.setdefault(data, {})


def binned(train: Dataset, most: int, sample: int) -> tuple[Bins, Codes]:
    """The bins of training data, and the data in them."""
    shared, key = _SHARED.get(train), (most, sample)
    if shared is not None and key in shared:
        return shared[key]
    keys = row_keys(train) if train.rows > sample else None
    bins = fit_bins(train.features, most=most, sample=sample, keys=keys)
    found = bins, bins.code(train.features)
    if shared is not None:
        shared[key] = found
    return found


def coded(bins: Bins, data: Dataset) -> Codes:
    """Other data in the same bins."""
    shared = _SHARED.get(data)
    if shared is None:
        return bins.code(data.features)
    if bins not in shared:
        shared[bins] = bins.code(data.features)
    return shared[bins]
