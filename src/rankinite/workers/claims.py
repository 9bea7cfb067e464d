"""Claims: which of several processes does a piece of work. A process that ends, however it does, gives its claims back."""

from __future__ import annotations

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

try:
    _fcntl: Any = importlib.import_module("fcntl")
except ImportError:  # on Windows every process does all work itself, to the same result
    _fcntl = None


class Claims:
    """The claims of this process in a folder that processes share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, IO[str]] = {}

    def take(self, name: str) -> bool:
        """Whether this process may do a piece of work, as no other is at it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        handle = (self._folder / f"{name}.lock").open("w", encoding="utf-8")
        try:
            if _fcntl is not None:
                _fcntl.flock(handle, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        except OSError:
            handle.close()
            return False
        self._held[name] = handle
        return True

    def give_back(self, name: str) -> None:
        """Let others take it."""
        self._held.pop(name).close()


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Wait until no other process is in a block of this path."""
    with path.open("w", encoding="utf-8") as handle:
        if _fcntl is not None:
            _fcntl.flock(handle, _fcntl.LOCK_EX)
        yield
