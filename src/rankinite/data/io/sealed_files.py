"""SealedFolder: finished work in files, from which an interrupted run goes on.

The folder is not trusted. Every piece of work has a seal, a JSON file with the hash of each of its files, written last; what
has no seal is unfinished, and what does not fit its seal is left out with a note.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile

from rankinite.data.io.output_files import write_atomically
from rankinite.errors import DataError, RankiniteError

DAMAGE = (
    *(OSError, ValueError, TypeError, EOFError, KeyError, RecursionError, RankiniteError),
    *(BadZipFile, NotImplementedError, zlib.error),
)
"""What reading a damaged file may raise; NotImplementedError where a zip archive claims a version that is not known."""
AGAIN = "Remove it, or let it be made again"


class SealedFolder:
    """The pieces of work that one key stands for: a hash of all that decides what they are."""

    def __init__(self, folder: Path | str, key: str) -> None:
        self._key = key
        self.folder = Path(folder) / key[:16]
        self.notes: list[str] = []
        """Which kept work could not be used, and why."""

    def path(self, name: str, ending: str) -> Path:
        """A file of a piece of work."""
        return self.folder / f"{name}.{ending}"

    def write(self, name: str, ending: str, content: bytes) -> None:
        """Write a file of a piece of work."""
        with write_atomically(self.path(name, ending)) as handle:
            handle.write(content)

    def seal(self, name: str, endings: Sequence[str]) -> None:
        """Say that a piece of work is finished, with these files."""
        files = {ending: digest(self.path(name, ending).read_bytes()) for ending in endings}
        self.write(name, "json", json.dumps({"task": self._key, "name": name, "sha256": files}).encode())

    def unsealed(self, name: str, endings: Sequence[str]) -> dict[str, bytes] | None:
        """The files of a piece of work if they are what was sealed; None without a seal, or, with a note, where they differ."""
        seal = self.path(name, "json")
        if not seal.exists():
            return None
        try:
            content = {ending: self.path(name, ending).read_bytes() for ending in endings}
            files = {ending: digest(one) for ending, one in content.items()}
            if json.loads(seal.read_bytes()) != {"task": self._key, "name": name, "sha256": files}:
                raise DataError("its files are not those that were kept", place=name, remedy=AGAIN)
        except DAMAGE as problem:
            self.note(name, problem)
            return None
        return content

    def note(self, name: str, problem: Exception) -> None:
        """Note that a piece of work cannot be used."""
        text = problem.problem if isinstance(problem, RankiniteError) else str(problem)
        self.notes.append(f"{self.folder / name}: kept work cannot be used ({text}). It was made again.")


def digest(content: bytes) -> str:
    """A hash of bytes."""
    return hashlib.sha256(content).hexdigest()
