"""Identity: which rows, queries and data are the same.

A row is known by a hash of its content, its *key*; everything else follows from keys. Rows are ordered by them, so that tied
scores and equal data in another order give the same model. The *fingerprint* of data recognises finished work. The *overlap* of
two data sets is found by the keys of their queries:

**Queries are the same if their rows have the same features**, in whatever order the rows come, and whatever their grades and
ids. Ids of queries alone say nothing, as two domains may both count from 1. A query with fewer than two different rows (one
document, or zeros only) is not compared: unrelated queries may look like it. Data sets that name their documents are compared
by these too: queries are the same if they and all their documents, at least two, have the same ids, even if the features were
computed anew.

On queries it was trained on, a ranker looks better than it is, so it carries their keys with it: a *sketch* of a few kilobytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from hashlib import blake2b, sha256
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.data._kernels import Keys, Words, fill_multipliers, hash_rows
from rankinite.data.categories import MOST, WHOLE, Vocabulary
from rankinite.data.dataset import Dataset
from rankinite.engine._hash_kernels import STEP
from rankinite.engine.kernel import FEATURE, INDEX, Features, Flags, Indices, RowNumbers, frozen
from rankinite.engine.parallel import over_queries
from rankinite.errors import DataError, quoted
from rankinite.pickles import StablePickle

_MOST_SHORT = 1 << 31  # rows whose numbers fit into 32 bits with a sign
_TOGETHER = 1 << 16  # rows whose features are copied at a time
_INFINITE_BITS = 0x7F800000 - 1  # bits of a float32 above 0, of which these and more are infinite or NaN
_KEY_BITS = 64
MOST_KEYS = 4096
"""More keys than this are not kept in a sketch."""


# ---- rows and queries -------------------------------------------------------------------------------------------------


@singledispatch
def row_keys(data: Dataset) -> Keys:
    """A hash of every row's features, grade and qid, shape (rows,), uint64.

    −0.0 counts as 0.0, and all NaNs are alike. A category counts by its name, whatever its code is; one that is a whole number
    counts as that number. Rows that differ have different keys, but for a chance that can be neglected.
    """
    qids = np.asarray([_hash_of_text(qid) for qid in data.qids.tolist()], np.uint64)
    return _hashed(data, data.grades.view(np.uint32), qids, _multipliers(len(data.feature_names)))


def feature_keys(data: Dataset, names: Sequence[str] | None = None) -> Keys:
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


def keys_of_features(features: Features) -> Keys:
    """A hash of every row of a matrix of features, shape (rows,); zeros, NaNs and collisions as in :func:`row_keys`."""
    rows = len(features)
    one_query = np.asarray([0, rows])
    arrays = (np.zeros(rows, np.uint32), np.zeros(1, np.uint64), _multipliers(features.shape[1]))
    return _hashed_arrays(features, *arrays, one_query)


def _hashed(data: Dataset, grades: Words, qids: Keys, multipliers: Keys) -> Keys:
    if not data.categories:
        return _hashed_arrays(data.features, grades, qids, multipliers, data.offsets)
    keys = np.empty(data.rows, np.uint64)
    # For each column of codes the number that each category is hashed as; the last is that of a missing one.
    words = {
        data.feature_index(name): np.asarray([*map(_word_of, vocabulary.names), np.nan], FEATURE)
        for name, vocabulary in data.categories.items()
    }
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


def _word_of(category: str) -> np.float32:
    """A float32 for a category: the whole number it is, or the first bits of a hash, which are no NaN and no zero."""
    if WHOLE.fullmatch(category) and abs(int(category)) < MOST:
        return FEATURE(int(category))
    return np.uint32(1 + _hash_of_text(category) % _INFINITE_BITS).view(FEATURE)


def _hashed_arrays(features: Features, grades: Words, qids: Keys, multipliers: Keys, offsets: Indices) -> Keys:
    keys = np.empty(len(features), np.uint64)
    arrays = frozen(features.view(np.uint32)), frozen(grades), frozen(qids), frozen(multipliers), frozen(offsets)

    def work(first: int, last: int) -> None:
        with np.errstate(over="ignore"):  # products modulo 2⁶⁴ are meant; only plain Python would warn of them
            hash_rows(*arrays, first, last, keys)

    over_queries(work, offsets)
    return keys


def _multipliers(count: int) -> Keys:
    multipliers = np.empty(count, np.uint64)
    with np.errstate(over="ignore"):
        fill_multipliers(multipliers)
    return multipliers


def content_order(data: Dataset) -> Indices:
    """The row numbers, query by query, within each by rising key; rows of equal keys in their order."""
    return np.lexsort((row_keys(data), data.query_of_row()))


def kept_content_order(data: Dataset) -> RowNumbers:
    """The same, read-only, for those who keep it through a training: four bytes per row where row numbers fit into them."""
    order = content_order(data)
    return frozen(order.astype(np.int32) if data.rows <= _MOST_SHORT else order)


def query_keys(keys: Keys, data: Dataset) -> Keys:
    """The key of every query, which follows from the keys of its rows in any order."""
    return np.add.reduceat(keys, data.offsets[:-1])


def query_order(data: Dataset) -> Indices:
    """The query numbers by rising key: an order that does not depend on the positions of the queries."""
    return np.argsort(query_keys(row_keys(data), data), kind="stable")


def _hash_of_text(text: str) -> int:
    """The same in every process, unlike Python's own."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


# ---- data ------------------------------------------------------------------------------------------------------------


@singledispatch
def fingerprint(data: Dataset) -> str:
    """A hash of the rows in their order (features, grades or that there are none, qids, positions), the names of features and
    categories, the weights and the preferences.

    Ids of documents and batches are left out: no learner looks at them.
    """
    arrays: dict[str, npt.NDArray[Any]] = {"rows": row_keys(data), "offsets": data.offsets}
    if data.weights is not None:
        arrays["weights"] = data.weights
    if data.positions is not None:
        arrays["positions"] = data.positions
    if data.preferences is not None:
        pairs = data.preferences
        arrays |= {"better": pairs.better, "worse": pairs.worse, "probability": pairs.probability}
    return arrays_key(arrays, named_facts(data.feature_names, data.categories, judged=data.judged))


def named_facts(feature_names: Sequence[str], categories: Mapping[str, Vocabulary], *, judged: bool) -> Any:
    """What a fingerprint hashes besides arrays: names of features and categories, and whether rows have grades."""
    names: list[str] = list(feature_names)
    more: dict[str, Any] = {} if judged else {"judged": False}
    if categories:
        more |= {"categories": {name: [one.numeric, *one.names] for name, one in categories.items()}}
    return {"features": names, **more} if more else names


def arrays_key(arrays: dict[str, npt.NDArray[Any]], facts: Any) -> str:
    """A hash of facts as JSON has them and of named arrays, each with its type and shape, so that none runs into the next."""
    digest = sha256(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


# ---- queries that two data sets share --------------------------------------------------------------------------------


class Contents(NamedTuple):
    """The keys by which queries are recognised."""

    keys: Keys
    """One per query, computed from the features of its rows."""
    identifiable: Flags
    """Whether a query has two different rows, so that its key identifies it."""


@singledispatch
def contents_of(data: Dataset, features: Sequence[str] | None = None) -> Contents:
    """The keys of all queries by these features, in this order; by those of the data if left out."""
    if not data.queries:
        return Contents(np.empty(0, np.uint64), np.empty(0, np.bool_))
    rows, starts = feature_keys(data, features), data.offsets[:-1]
    lengths = np.diff(data.offsets).astype(np.uint64) * STEP  # a row of zeros has the key 0: it must be counted
    identifiable = np.minimum.reduceat(rows, starts) != np.maximum.reduceat(rows, starts)
    return Contents(query_keys(rows, data) + lengths, identifiable)


def check_apart(
    learnt: Mapping[str, Dataset | None], judged: Mapping[str, Dataset | None], *, allow_overlap: bool = False
) -> None:
    """Refuse queries that would serve both to train and to judge. Data are given by name; one name is one data set."""
    if allow_overlap:
        return
    known: dict[int, Contents] = {}
    for (name, first), (other, second) in product(learnt.items(), judged.items()):
        if not isinstance(first, Dataset) or not isinstance(second, Dataset) or name == other:
            continue  # other types are refused elsewhere, with a better message
        same = _shared_queries(first, second, known)
        if len(same):
            qids = [str(qid) for qid in second.qids[same].tolist()]
            raise DataError(
                f"it shares {len(qids)} of its {second.queries} queries with {first.source} ({name}), such as "
                f"{quoted(qids[0])}: all their rows, or all their ids, are the same",
                place=f"{second.source} ({other})",
                value=qids,
                rule="Queries that a ranker was trained on do not show how good it is on new ones",
                remedy="Take them out of one of the two, or pass `allow_overlap=True`",
            )


def _shared_queries(first: Dataset, second: Dataset, known: dict[int, Contents]) -> Indices:
    """The numbers of the second's queries that are also in the first; ``known`` keeps keys by the identity of the data."""
    for data in (first, second):
        if id(data) not in known:
            known[id(data)] = contents_of(data)
    learnt, judged = known[id(first)], known[id(second)]
    if second.feature_names != first.feature_names:
        judged = contents_of(second, first.feature_names)
    same: Flags = judged.identifiable & np.isin(judged.keys, learnt.keys[learnt.identifiable])
    same[_same_documents(first, second)] = True
    return np.flatnonzero(same)


def _same_documents(first: Dataset, second: Dataset) -> Indices:
    """The numbers of the second's queries whose ids and documents' ids are also in the first."""
    if first.doc_ids is None or second.doc_ids is None:
        return np.empty(0, INDEX)
    number_in_first = {qid: query for query, qid in enumerate(first.qids.tolist())}
    same = [
        query
        for query, qid in enumerate(second.qids.tolist())
        if qid in number_in_first
        and (documents := _documents(second, query))
        and documents == _documents(first, number_in_first[qid])
    ]
    return np.asarray(same, INDEX)


def _documents(data: Dataset, query: int) -> list[str] | None:
    """The ids of a query's documents; None where one has none, or fewer than two differ."""
    assert data.doc_ids is not None
    ids = sorted(map(str, data.doc_ids[data.offsets[query] : data.offsets[query + 1]].tolist()))
    return ids if ids[0] and ids[0] != ids[-1] else None


# ---- queries that a ranker was trained on ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class QuerySketch(StablePickle):
    """The keys of the queries that a ranker was trained on: one number each that follows from their rows, no ids and no values.

    Of many queries only those are kept whose keys begin with ``level`` bits of 0, the smallest level that leaves at most 4096.
    Keys are as good as random, so that is one query in 2^level: an overlap of n queries goes unnoticed with probability
    (1 − 2^−level)ⁿ, and never at level 0. The order of rows and queries does not matter.
    """

    features: tuple[str, ...]
    """The features that keys were made of, in their order."""
    keys: Keys
    """The keys, uint64, rising."""
    level: int = 0
    """The number of bits of 0 with which every key begins; keys of other queries are left out."""
    complete: bool = True
    """Whether these are all queries: False if training started from a ranker whose training queries are not known."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        keys = np.ascontiguousarray(self.keys, np.uint64)
        if not 0 <= self.level < _KEY_BITS or keys.ndim != 1 or (keys[1:] <= keys[:-1]).any() or not self._covers(keys).all():
            raise DataError(
                "its keys do not rise, or do not fit its level",
                place="sketch of queries",
                value=self.level,
                rule=f"Keys must rise and begin with level={self.level} bits of 0, of {_KEY_BITS}",
            )
        object.__setattr__(self, "keys", frozen(keys))

    @classmethod
    def of(cls, data: Dataset, features: Sequence[str] | None = None) -> QuerySketch:
        """The sketch of the queries of data, by these features; by all of them if left out."""
        contents = contents_of(data, features)
        keys = np.unique(contents.keys[contents.identifiable])
        return _within_limit(cls(data.feature_names if features is None else tuple(features), keys))

    @property
    def queries(self) -> int:
        """How many queries there are; an estimate unless ``level`` is 0."""
        return len(self.keys) << self.level

    def covered(self, contents: Contents) -> Flags:
        """The queries of which the sketch can tell whether they are in it."""
        return contents.identifiable & self._covers(contents.keys)

    def found(self, contents: Contents) -> Flags:
        """Which queries are in it."""
        return contents.identifiable & np.isin(contents.keys, self.keys)

    def renamed(self, features: Sequence[str | None]) -> QuerySketch | None:
        """The sketch with other names for the features, one for each in order; None where one is left out."""
        names = tuple(name for name in features if name is not None)
        return replace(self, features=names) if len(names) == len(self.features) == len(features) else None

    def _covers(self, keys: Keys) -> Flags:
        return keys <= _highest(self.level)


def unite_sketches(first: QuerySketch | None, second: QuerySketch | None) -> QuerySketch | None:
    """The queries of both; None stands for unknown queries. Where the keys are of different features, the second's are kept."""
    if first is None or second is None or first.features != second.features:
        known = second or first
        return None if known is None else replace(known, complete=False)
    level, both = max(first.level, second.level), np.union1d(first.keys, second.keys)
    keys = both[both <= _highest(level)]
    return _within_limit(QuerySketch(first.features, keys, level, complete=first.complete and second.complete))


def _within_limit(sketch: QuerySketch) -> QuerySketch:
    """The same queries at the smallest level with no more keys than are kept."""
    while len(sketch.keys) > MOST_KEYS:
        level = sketch.level + 1
        sketch = replace(sketch, keys=sketch.keys[sketch.keys <= _highest(level)], level=level)
    return sketch


def _highest(level: int) -> np.uint64:
    """The highest key that begins with ``level`` bits of 0."""
    return np.uint64((1 << (_KEY_BITS - level)) - 1)
