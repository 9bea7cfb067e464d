"""Bins and codes of the data of a training: made once where many fits learn from the same data, or read from disk."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rankinite.binned.data import Binned
from rankinite.binned.folder import bins_key
from rankinite.binned.room import check_room
from rankinite.data.categories import recode
from rankinite.data.dataset import Dataset
from rankinite.data.identity import row_keys
from rankinite.errors import ArgumentError, DataError
from rankinite.trees.bins import Bins, CategoryCounts, Codes, centred_grades, count_categories, fit_bins, with_category_codes

_SHARED: WeakKeyDictionary[Dataset, dict[Any, Any]] = WeakKeyDictionary()


def share_bins(data: Dataset) -> None:
    """Keep the codes of a data set for as long as it lives: a byte for each value, for fits that will come."""
    _SHARED.setdefault(data, {})


def bins_and_codes(train: Dataset, most: int, sample: int, category_rows: int) -> tuple[Bins, Codes]:
    """The bins of training data, and the data in them; ``category_rows``: rows that a category needs for a bin of its own."""
    if isinstance(train, Binned):
        _check_made_so(train, most, sample, category_rows)
        check_room(train)
        return train.bins, train.codes()
    shared, key = _SHARED.get(train), (most, sample, category_rows)
    if shared is not None and key in shared:
        return shared[key]
    keys = row_keys(train) if train.rows > sample else None
    bins = with_categories(fit_bins(train.features, most=most, sample=sample, keys=keys), train, category_rows)
    made = bins, bins.code(train.features)
    if shared is not None:
        shared[key] = made
    return made


def with_categories(bins: Bins, train: Dataset, category_rows: int) -> Bins:
    """The bins with the codes of all categories of the training data, in place of the edges between their numbers."""
    if not train.categories:
        return bins
    centred = centred_grades(train.grades, train.offsets, float(np.abs(train.grades).max(initial=0.0)))
    counts: dict[int, CategoryCounts] = {}
    for name, vocabulary in train.categories.items():
        feature = train.feature_index(name)
        counts[feature] = count_categories(train.features[:, feature], len(vocabulary), centred)
    return with_category_codes(bins, counts, category_rows)


def with_categories_of(train: Dataset, data: Dataset) -> Dataset:
    """Other data with the training data's codes of categories; folders were made so, of which a member may have none."""
    return data if isinstance(data, Binned) else recode(data, train.categories)


def codes_in(bins: Bins, data: Dataset) -> Codes:
    """Other data in the same bins."""
    if isinstance(data, Binned):
        _check_same_edges(bins, data)
        return data.codes()
    shared = _SHARED.get(data)
    if shared is None:
        return bins.code(data.features)
    if bins not in shared:
        shared[bins] = bins.code(data.features)
    return shared[bins]


def _check_made_so(train: Binned, most: int, sample: int, category_rows: int) -> None:
    """Refuse codes made with other settings than the learner's: the forest would not be the one asked for."""
    made = train.manifests[0]
    settings = [("bins", most, made.most), ("bin_sample", sample, made.sample)]
    settings += [] if made.category_rows is None else [("category_rows", category_rows, made.category_rows)]
    for setting, wanted, found in settings:
        if wanted != found:
            raise ArgumentError(
                f"does not fit {train.source}, which was coded with {found}",
                setting=setting,
                value=wanted,
                remedy=f"Train with `{setting}={found}`, or make the bins again with {wanted}",
            )


def _check_same_edges(bins: Bins, data: Binned) -> None:
    other = data.bins if data.mine else bins  # a member may have no queries of the validation data
    if bins_key(bins) != bins_key(other):
        raise DataError(
            "it was coded with other edges than the training data",
            place=data.source,
            rule="All data of a training run are coded with the edges of the training data",
            remedy="Make it again with the edges of the training data's folder, with `like=…`",
        )
