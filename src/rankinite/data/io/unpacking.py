"""Compressed files: which they are, and their content, bounded by what a file of that size can hold."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankinite.engine.memory import memory_left, spelled_size
from rankinite.errors import DataError, cut

BUFFER = 1 << 20
"""Bytes that are decompressed at a time."""
COMPRESSED = (".gz", ".zst", ".xz")
"""Endings of the file names that are decompressed on reading and compressed on writing."""
MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"\xfd7zXZ": ".xz"}
"""How compressed files begin, whatever their name."""
ARCHIVES = {rb"PK\x03\x04": "a zip archive", rb"BZh[1-9]1AY&": "a bzip2 file", rb"7z\xbc\xaf\x27\x1c": "a 7z archive"}
"""How files begin that are compressed in ways that are not read."""
ALWAYS_UNPACKED, MOST_EXPANSION = 1 << 26, 1000
"""A compressed file may always hold the first so many bytes, and beyond them so many times its size: texts and models come to
a fiftieth of theirs at best, only files that are made to fill the memory to less than a thousandth."""


def compression(path: Path) -> str:
    """The ending that tells how a file is compressed: that of its name, else the one its first bytes call for, or ""."""
    if path.suffix.lower() in COMPRESSED:
        return path.suffix.lower()
    if not path.is_file():
        return ""
    with explained(path, ""), path.open("rb") as handle:
        beginning = handle.read(8)
    archive = next((name for magic, name in ARCHIVES.items() if re.match(magic, beginning)), None)
    if archive is not None:
        raise DataError(
            f"{path}: this is {archive}, which is not read. Unpack it and give the files in it; single files may be "
            f"compressed as {', '.join(COMPRESSED)}."
        )
    return next((ending for magic, ending in MAGIC.items() if beginning.startswith(magic)), "")


@contextmanager
def explained(path: Path, packing: str) -> Generator[None]:
    """Turn what the decompressors and the file system raise into a DataError."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError, *_arrow_errors()) as problem:
        if packing:
            rule = f"It must be a complete {packing} file; make it again, or rename it if it is not compressed."
        else:
            rule = "Check that the file is whole and the disk can be read."
        raise DataError(f"{path}: cannot be read ({cut(problem) or type(problem).__name__}). {rule}") from problem


def _arrow_errors() -> tuple[type[Exception], ...]:
    """What Arrow raises; nothing where it is not loaded, as for text it need not be."""
    return (sys.modules["pyarrow"].ArrowException,) if "pyarrow" in sys.modules else ()


def opened(path: Path, packing: str) -> Any:
    """The bytes of a file to read, decompressed as ``packing`` says; plain where that is ""."""
    if packing == ".gz":
        return _unpacked(path, gzip.open(path, "rb"))
    if packing == ".xz":
        _check_dictionary(path)
        return _unpacked(path, lzma.open(path, "rb"))
    if packing == ".zst":
        import pyarrow as pa

        return _unpacked(path, pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def _check_dictionary(path: Path) -> None:
    """Refuse an .xz file whose header asks for more memory to unpack than there is to give; pipes are not looked at."""
    if not path.is_file():
        return
    allowed = memory_left().left // 2
    with path.open("rb") as handle, explained(path, ".xz"):
        try:
            lzma.LZMADecompressor(memlimit=max(allowed, 1)).decompress(handle.read(BUFFER), 1)
        except lzma.LZMAError as problem:
            if "limit" not in str(problem):
                raise
            raise DataError(
                f"{path}: to unpack it takes more than {spelled_size(allowed)} of memory, half of what this process may use. "
                "Compress it with a smaller dictionary, as xz does by itself, or decompress it elsewhere."
            ) from problem


def _unpacked(path: Path, inner: Any) -> Any:
    """What a decompressor gives; bounded, except for pipes, whose size is not known."""
    return io.BufferedReader(_Unpacked(path, inner), BUFFER) if path.is_file() else inner


class _Unpacked(io.RawIOBase):
    """Decompressed bytes, counted while they come: no more than the size of the file can justify."""

    def __init__(self, path: Path, inner: Any) -> None:
        super().__init__()
        self.path, self.inner, self.length = path, inner, 0
        self.packed = path.stat().st_size
        self.allowed = max(ALWAYS_UNPACKED, MOST_EXPANSION * self.packed)

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as the decompressor does at once."""
        count = int(self.inner.readinto(buffer))
        self.length += count
        if self.length > self.allowed:
            raise DataError(
                f"{self.path}: it has {spelled_size(self.packed)} but unpacks to more than {spelled_size(self.allowed)}. A "
                f"compressed file may hold {MOST_EXPANSION} times its size; if this one is to be trusted, decompress it and "
                "give the result."
            )
        return count

    def close(self) -> None:
        """Close the decompressor too."""
        try:
            self.inner.close()
        finally:
            super().close()
