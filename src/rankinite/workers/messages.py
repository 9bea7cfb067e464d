"""Messages to workers: Python objects without the data sets inside them, which travel as keys and numbers of queries."""

from __future__ import annotations

import io
import pickle
import threading
from collections import OrderedDict
from importlib.util import find_spec
from typing import Any

from rankinite.data.dataset import Dataset, origin_of
from rankinite.workers.shared_data import SharedData

MOST_SELECTED = 1 << 30
"""Bytes of features of selections that a worker keeps for the next fit on the same queries; the latest three always stay."""
_Pickler: Any = __import__("cloudpickle").Pickler if find_spec("cloudpickle") else pickle.Pickler  # it knows notebooks' classes
_selected: OrderedDict[tuple[str, bytes], Dataset] = OrderedDict()
_lock = threading.Lock()


def pickled(content: Any) -> bytes:
    """An object as bytes, such as a learner with a measure that was written in a notebook."""
    message = io.BytesIO()
    _Pickler(message, protocol=pickle.HIGHEST_PROTOCOL).dump(content)
    return message.getvalue()


def packed(content: Any, shared: SharedData) -> bytes:
    """An object as bytes, the data sets inside it put into the shared folder."""
    message = io.BytesIO()
    _Packer(message, shared).dump(content)
    return message.getvalue()


def unpacked(message: bytes, shared: SharedData) -> Any:
    """The object, with the data sets of the shared folder."""
    return _Unpacker(io.BytesIO(message), shared).load()


def is_kept_elsewhere(data: Dataset) -> bool:
    """Whether the data are in folders of their own, so that their paths do."""
    return type(data) is not Dataset


class _Packer(_Pickler):
    def __init__(self, message: io.BytesIO, shared: SharedData) -> None:
        super().__init__(message, protocol=pickle.HIGHEST_PROTOCOL)
        self._shared = shared

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, Dataset) or is_kept_elsewhere(obj):
            return None
        origin = origin_of(obj)
        return (self._shared.put(obj), None) if origin is None else (self._shared.put(origin[0]), origin[1])


class _Unpacker(pickle.Unpickler):
    def __init__(self, message: io.BytesIO, shared: SharedData) -> None:
        super().__init__(message)
        self._shared = shared

    def persistent_load(self, pid: Any) -> Dataset:
        key, queries = pid
        whole = self._shared.get(key)
        return whole if queries is None else _selection(whole, key, queries)


def _selection(whole: Dataset, key: str, queries: Any) -> Dataset:
    """The queries of a data set; the same object for fits that follow each other, so that they share its bins."""
    place = key, queries.tobytes()
    with _lock:
        found = _selected.pop(place, None)
        _selected[place] = found = whole.select_queries(queries) if found is None else found
        while len(_selected) > 3 and sum(data.features.nbytes for data in _selected.values()) > MOST_SELECTED:
            _selected.popitem(last=False)
        return found
