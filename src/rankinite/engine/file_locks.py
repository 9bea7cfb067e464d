"""Locks between processes: files that one process at a time holds. One that ends, however it does, lets go of them."""

from __future__ import annotations

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any

try:
    _fcntl: Any = importlib.import_module("fcntl")
except ImportError:  # on Windows every process does all work itself, to the same result
    _fcntl = None

_PAUSE = 0.02  # seconds between two looks at a lock


def lock(path: Path) -> IO[str] | None:
    """The open file, to be closed by whoever is done; None while another process holds it."""
    handle = path.open("w", encoding="utf-8")
    try:
        if _fcntl is not None:
            _fcntl.flock(handle, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    except OSError:
        handle.close()
        return None
    return handle


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Wait until no other process is in a block of this path."""
    with path.open("w", encoding="utf-8") as handle:
        if _fcntl is not None:
            _fcntl.flock(handle, _fcntl.LOCK_EX)
        yield


@contextmanager
def locked_briefly(path: Path, seconds: float) -> Generator[None]:
    """The same, but wait no longer than this, and leave no file: where doing the work twice does no harm."""
    handle, end = lock(path), monotonic() + seconds
    while handle is None and monotonic() < end:
        sleep(_PAUSE)
        handle = lock(path)
    try:
        yield
    finally:
        if handle is not None:
            path.unlink(missing_ok=True)
            handle.close()
