"""Claims: which of several processes does a piece of work. A process that ends, however it does, gives its claims back."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from rankinite.engine.file_locks import lock


class Claims:
    """The claims of this process in a folder that processes share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, IO[str]] = {}

    def take(self, name: str) -> bool:
        """Whether this process may do a piece of work, as no other is at it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        handle = lock(self._folder / f"{name}.lock")
        if handle is None:
            return False
        self._held[name] = handle
        return True

    def give_back(self, name: str) -> None:
        """Let others take it."""
        self._held.pop(name).close()
