"""Judged rows: which rows of some data somebody judged, where grade 0 may also mean that nobody did.

Known of data that a TREC run and judgements were put together to, and of queries selected from these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from rankinite.data.origin import origin_of
from rankinite.engine.kernel import Flags, frozen

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset

_JUDGED: WeakKeyDictionary[Dataset, Flags] = WeakKeyDictionary()


def remember_judged_rows(data: Dataset, judged: Flags) -> None:
    """Note which rows somebody judged, as long as the data are there."""
    _JUDGED[data] = frozen(judged)


def judged_rows(data: Dataset) -> Flags | None:
    """One per row: whether somebody judged it. None where nothing but the grades is known."""
    if data in _JUDGED:
        return _JUDGED[data]
    origin = origin_of(data)
    if origin is None or origin[0] not in _JUDGED:
        return None
    whole, queries = origin
    return np.concatenate([_JUDGED[whole][whole.offsets[query] : whole.offsets[query + 1]] for query in queries])
