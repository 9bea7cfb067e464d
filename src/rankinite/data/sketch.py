"""QuerySketch: which queries a ranker was trained on, in a few kilobytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankinite.data._row_key_kernels import Keys
from rankinite.data.dataset import Dataset
from rankinite.data.overlap import Contents, contents_of
from rankinite.engine.kernel import Flags, frozen
from rankinite.errors import DataError

MOST_KEYS = 4096
"""More keys than this are not kept."""
BITS = 64


@dataclass(frozen=True, eq=False)
class QuerySketch:
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
        if not 0 <= self.level < BITS or keys.ndim != 1 or (keys[1:] <= keys[:-1]).any() or not self._covers(keys).all():
            raise DataError(
                "its keys do not rise, or do not fit its level",
                place="sketch of queries",
                value=self.level,
                rule=f"Keys must rise and begin with level={self.level} bits of 0, of {BITS}",
            )
        object.__setattr__(self, "keys", frozen(keys))

    @classmethod
    def of(cls, data: Dataset, features: Sequence[str] | None = None) -> QuerySketch:
        """The sketch of the queries of data, by these features; by all of them if left out."""
        contents = contents_of(data, features)
        keys = np.unique(contents.keys[contents.telling])
        return _cut(cls(data.feature_names if features is None else tuple(features), keys))

    @property
    def queries(self) -> int:
        """How many queries there are; an estimate unless ``level`` is 0."""
        return len(self.keys) << self.level

    def covered(self, contents: Contents) -> Flags:
        """The queries of which the sketch can tell whether they are in it."""
        return contents.telling & self._covers(contents.keys)

    def found(self, contents: Contents) -> Flags:
        """Which queries are in it."""
        return contents.telling & np.isin(contents.keys, self.keys)

    def renamed(self, features: Sequence[str | None]) -> QuerySketch | None:
        """The sketch with other names for the features, one for each in order; None where one is left out."""
        names = tuple(name for name in features if name is not None)
        return replace(self, features=names) if len(names) == len(self.features) == len(features) else None

    def _covers(self, keys: Keys) -> Flags:
        return keys <= _highest(self.level)


def united(first: QuerySketch | None, second: QuerySketch | None) -> QuerySketch | None:
    """The queries of both; None stands for unknown queries. Where the keys are of different features, the second's are kept."""
    if first is None or second is None or first.features != second.features:
        known = second or first
        return None if known is None else replace(known, complete=False)
    level, both = max(first.level, second.level), np.union1d(first.keys, second.keys)
    keys = both[both <= _highest(level)]
    return _cut(QuerySketch(first.features, keys, level, complete=first.complete and second.complete))


def _cut(sketch: QuerySketch) -> QuerySketch:
    """The same queries at the smallest level with no more keys than are kept."""
    while len(sketch.keys) > MOST_KEYS:
        level = sketch.level + 1
        sketch = replace(sketch, keys=sketch.keys[sketch.keys <= _highest(level)], level=level)
    return sketch


def _highest(level: int) -> np.uint64:
    """The highest key that begins with ``level`` bits of 0."""
    return np.uint64((1 << (BITS - level)) - 1)
