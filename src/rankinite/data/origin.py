"""Origin: of which data set another is a selection of queries. A process that has the one need only be told which queries."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from rankinite.engine.kernel import Indices

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset

_ORIGINS: WeakKeyDictionary[Dataset, tuple[ref[Dataset], Indices]] = WeakKeyDictionary()


def remember_origin(chosen: Dataset, whole: Dataset, queries: Indices) -> None:
    """Note that a data set is a selection of queries of another; neither is kept alive by that."""
    before = origin_of(whole)
    root, numbers = (whole, queries) if before is None else (before[0], before[1][queries])
    _ORIGINS[chosen] = ref(root), numbers


def origin_of(data: Dataset) -> tuple[Dataset, Indices] | None:
    """The whole and the numbers of its queries; None where the data are no selection, or the whole is gone."""
    found = _ORIGINS.get(data)
    root = None if found is None else found[0]()
    return None if found is None or root is None else (root, found[1])
