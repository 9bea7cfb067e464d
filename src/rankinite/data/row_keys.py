"""Row keys: a hash of the content of each row, by which rows are ordered wherever they are in the data.

Tied scores must be put in some order before lambdas can be computed, and in the first round of boosting all scores tie.
Ordered by content, the same rows in another order give the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from hashlib import blake2b

import numpy as np

from rankinite.data import _row_key_kernels as _kernels
from rankinite.data.categories import MOST
from rankinite.data.coding import WHOLE
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import FEATURE, Features, Indices, RowNumbers, frozen
from rankinite.engine.parallel import over_queries

_MOST_SHORT = 1 << 31  # rows whose numbers fit into 32 bits with a sign
_TOGETHER = 1 << 16  # rows whose features are copied at a time
_INFINITE_BITS = 0x7F800000 - 1  # bits of a float32 above 0, of which these and more are infinite or NaN


@singledispatch
def row_keys(data: Dataset) -> _kernels.Keys:
    """A hash of every row's features, grade and qid, shape (rows,), uint64.

    −0.0 counts as 0.0, and all NaNs are alike. A category counts by its name, whatever its code is; one that is a whole number
    counts as that number. Rows that differ have different keys, but for a chance that can be neglected.
    """
    qids = np.asarray([_hash_of_text(qid) for qid in data.qids.tolist()], np.uint64)
    return _hashed(data, data.grades.view(np.uint32), qids, _multipliers(len(data.feature_names)))


def feature_keys(data: Dataset, names: Sequence[str] | None = None) -> _kernels.Keys:
    """A hash of every row's features alone, shape (rows,), uint64; zeros, NaNs and collisions as in :func:`row_keys`.

    ``names``: of these features, in this order; those of the data if left out. What they are called does not matter, only their
    order does. A feature that is missing in the data counts as 0.
    """
    wanted = data.feature_names if names is None else tuple(names)
    multipliers = _multipliers(len(wanted))
    if wanted != data.feature_names:
        multiplier_of = dict(zip(wanted, multipliers.tolist(), strict=True))
        multipliers = np.asarray([multiplier_of.get(name, 0) for name in data.feature_names], np.uint64)  # 0: does not count
    return _hashed(data, np.zeros(data.rows, np.uint32), np.zeros(data.queries, np.uint64), multipliers)


def keys_of_features(features: Features) -> _kernels.Keys:
    """A hash of every row of a matrix of features, shape (rows,); zeros, NaNs and collisions as in :func:`row_keys`."""
    rows = len(features)
    one_query = np.asarray([0, rows])
    arrays = (np.zeros(rows, np.uint32), np.zeros(1, np.uint64), _multipliers(features.shape[1]))
    return _hashed_arrays(features, *arrays, one_query)


def _hashed(data: Dataset, grades: _kernels.Words, qids: _kernels.Keys, multipliers: _kernels.Keys) -> _kernels.Keys:
    if not data.categories:
        return _hashed_arrays(data.features, grades, qids, multipliers, data.offsets)
    keys, words = np.empty(data.rows, np.uint64), _words_of_categories(data)
    first = 0
    while first < data.queries:  # some queries at a time, as their features are copied
        last = min(int(data.offsets.searchsorted(data.offsets[first] + _TOGETHER)), data.queries)
        begin, end = int(data.offsets[first]), int(data.offsets[last])
        features = data.features[begin:end].copy()
        for column, word_of in words.items():
            codes = features[:, column]
            features[:, column] = word_of[np.where(np.isnan(codes), len(word_of) - 1, codes).astype(np.int64)]
        offsets = data.offsets[first : last + 1] - begin
        keys[begin:end] = _hashed_arrays(features, grades[begin:end], qids[first:last], multipliers, offsets)
        first = last
    return keys


def _words_of_categories(data: Dataset) -> dict[int, Features]:
    """For each column of codes the number that each category is hashed as; the last is that of a missing one."""
    return {
        data.feature_index(name): np.asarray([*map(_word_of, vocabulary.names), np.nan], FEATURE)
        for name, vocabulary in data.categories.items()
    }


def _word_of(category: str) -> np.float32:
    """A float32 for a category: the whole number it is, or the first bits of a hash, which are no NaN and no zero."""
    if WHOLE.fullmatch(category) and abs(int(category)) < MOST:
        return FEATURE(int(category))
    return np.uint32(1 + _hash_of_text(category) % _INFINITE_BITS).view(FEATURE)


def _hashed_arrays(
    features: Features, grades: _kernels.Words, qids: _kernels.Keys, multipliers: _kernels.Keys, offsets: Indices
) -> _kernels.Keys:
    keys = np.empty(len(features), np.uint64)
    arrays = frozen(features.view(np.uint32)), frozen(grades), frozen(qids), frozen(multipliers), frozen(offsets)

    def work(first: int, last: int) -> None:
        with np.errstate(over="ignore"):  # products modulo 2⁶⁴ are meant; only plain Python would warn of them
            _kernels.hash_rows(*arrays, first, last, keys)

    over_queries(work, offsets)
    return keys


def _multipliers(count: int) -> _kernels.Keys:
    """One per feature, by its position."""
    multipliers = np.empty(count, np.uint64)
    with np.errstate(over="ignore"):
        _kernels.fill_multipliers(multipliers)
    return multipliers


def content_order(data: Dataset) -> Indices:
    """The row numbers, query by query, within each by rising key; rows of equal keys in their order."""
    return np.lexsort((row_keys(data), data.query_of_row()))


def kept_content_order(data: Dataset) -> RowNumbers:
    """The same, read-only, for those who keep it through a training: four bytes per row where row numbers fit into them."""
    order = content_order(data)
    return frozen(order.astype(np.int32) if data.rows <= _MOST_SHORT else order)


def query_keys(keys: _kernels.Keys, data: Dataset) -> _kernels.Keys:
    """The key of every query, which follows from the keys of its rows in any order."""
    return np.add.reduceat(keys, data.offsets[:-1])


def query_order(data: Dataset) -> Indices:
    """The query numbers by rising key: an order that does not depend on the positions of the queries."""
    return np.argsort(query_keys(row_keys(data), data), kind="stable")


def _hash_of_text(text: str) -> int:
    """The same in every process, unlike Python's own."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
