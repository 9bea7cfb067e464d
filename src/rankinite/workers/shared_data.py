"""SharedData: data sets in a folder that all workers see. Each is written once, and opened once by each process."""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import fingerprint
from rankinite.data.io.output_files import write_atomically
from rankinite.errors import DataError

FEATURES, OTHERS = "features.npy", "others.pickle"
"""The features, which are mapped into memory, and all other fields."""
MOST_OPENED = 16
"""Data sets that a process keeps open; beyond, the first is closed."""
openings: Counter[str] = Counter()
"""How often this process has opened each data set."""
_opened: dict[str, Dataset] = {}
_keys: WeakKeyDictionary[Dataset, str] = WeakKeyDictionary()
_lock = threading.RLock()


class SharedData:
    """The data sets of a folder. Their files are unpickled, so that the folder must be as trustworthy as the code."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "data"

    def put(self, data: Dataset) -> str:
        """Write the data unless they are there; returns their key, which begins with their fingerprint."""
        with _lock:
            if data not in _keys:
                others = pickle.dumps({f.name: getattr(data, f.name) for f in fields(data) if f.name != "features"})
                _keys[data] = f"{fingerprint(data)}-{hashlib.sha256(others).hexdigest()[:16]}"
            key = _keys[data]
            if not (self._folder / key / OTHERS).exists():
                self._write(self._folder / key, data)
            return key

    @staticmethod
    def _write(folder: Path, data: Dataset) -> None:
        """The features first: data without the other file are unfinished."""
        folder.mkdir(parents=True, exist_ok=True)
        with write_atomically(folder / FEATURES) as handle:
            np.save(handle, data.features)
        with write_atomically(folder / OTHERS) as handle:
            pickle.dump({f.name: getattr(data, f.name) for f in fields(data) if f.name != "features"}, handle)

    def get(self, key: str) -> Dataset:
        """The data of a key, opened once by each process."""
        with _lock:
            if key not in _opened:
                while len(_opened) >= MOST_OPENED:
                    _opened.pop(next(iter(_opened)))
                _opened[key] = self._open(key)
            return _opened[key]

    def _open(self, key: str) -> Dataset:
        folder = self._folder / key
        try:
            features: Any = np.load(folder / FEATURES, mmap_mode="r")
            others = pickle.loads((folder / OTHERS).read_bytes())  # noqa: S301 - the folder is as trusted as the code
        except OSError as problem:
            raise DataError(
                f"the worker {worker_name()} cannot read these data ({problem})",
                place=folder,
                value=str(folder),
                rule="Data are shared through a folder that all workers see under the same path",
                remedy="Give a folder that all machines share, as `share='/mnt/shared/rankinite'`",
            ) from problem
        data = Dataset(features=features, **others)
        if fingerprint(data) != key.rpartition("-")[0]:
            problem = "these data are not those that were written"
            raise DataError(problem, place=folder, value=key, remedy="Remove the folder, so that they are written again")
        openings[key] += 1
        return data


def worker_name() -> str:
    """The process at work, for messages: its machine and its number."""
    return f"{os.uname().nodename if hasattr(os, 'uname') else 'worker'}:{os.getpid()}"
