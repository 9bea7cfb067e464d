"""KeptResults: finished work in a folder, under hashes of all that decides it, from which an interrupted run goes on."""

from __future__ import annotations

from pathlib import Path

from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.sealed_files import digest


class KeptResults:
    """Results as bytes. One whose checksum does not fit counts as missing, and is made again."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def get(self, key: str) -> bytes | None:
        """The result of a key; None where there is none."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        checksum, _, result = content.partition(b"\n")
        return result if checksum.decode("ascii", "replace") == digest(result) else None

    def put(self, key: str, result: bytes) -> None:
        """Keep the result of a key."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with write_atomically(self._path(key)) as handle:
            handle.write(digest(result).encode() + b"\n" + result)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.result"
