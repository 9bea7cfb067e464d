"""Compressed files: how they are recognised, and their content, bounded by what a file of that size can hold."""

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

from rankinite.data.io.formats import COMPRESSIONS, GZIP, XZ, ZSTD, Compression, compression_of_suffix
from rankinite.engine.memory import memory_left, spelled_size
from rankinite.errors import DataError, cut

BUFFER = 1 << 20
"""Bytes that are decompressed at a time."""
ARCHIVES = {rb"PK\x03\x04": "a zip archive", rb"BZh[1-9]1AY&": "a bzip2 file", rb"7z\xbc\xaf\x27\x1c": "a 7z archive"}
"""How files begin whose compression cannot be read."""
ALWAYS_UNPACKED, MOST_EXPANSION = 1 << 26, 1000
"""A compressed file may always hold the first number of bytes, and beyond them the second number times its size: texts and
models shrink to a fiftieth at best; only files that are made to fill the memory shrink to less than a thousandth."""


def compression(path: Path) -> Compression | None:
    """How a file is compressed: by the suffix of its name, else by its first bytes; None if it is not."""
    by_suffix = compression_of_suffix(path)
    if by_suffix is not None or not path.is_file():
        return by_suffix
    with explained(path, None), path.open("rb") as handle:
        beginning = handle.read(8)
    archive = next((name for magic, name in ARCHIVES.items() if re.match(magic, beginning)), None)
    if archive is not None:
        raise DataError(
            f"this is {archive}, which cannot be read",
            place=path,
            value=archive,
            rule=f"Single files may be compressed as {', '.join(COMPRESSIONS)}",
            remedy="Unpack it and give the files in it",
        )
    return next((one for one in COMPRESSIONS.values() if beginning.startswith(one.magic)), None)


@contextmanager
def explained(path: Path, packing: Compression | None) -> Generator[None]:
    """Turn what the decompressors and the file system raise into a DataError."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError, *_arrow_errors()) as problem:
        reason = f"it cannot be read ({cut(problem) or type(problem).__name__})"
        if packing is None:
            raise DataError(reason, place=path, remedy="Check that the file is complete and the disk can be read") from problem
        raise DataError(
            reason,
            place=path,
            value=packing.suffix,
            rule=f"It must be a complete {packing.suffix} file",
            remedy="Make it again, or rename it if it is not compressed",
        ) from problem


def _arrow_errors() -> tuple[type[Exception], ...]:
    """What Arrow raises; nothing where it is not loaded, as for text it need not be."""
    return (sys.modules["pyarrow"].ArrowException,) if "pyarrow" in sys.modules else ()


def opened(path: Path, packing: Compression | None) -> Any:
    """The bytes of a file to read, decompressed as ``packing`` says; plain where that is None."""
    if packing == GZIP:
        return _unpacked(path, gzip.open(path, "rb"))
    if packing == XZ:
        _check_dictionary(path)
        return _unpacked(path, lzma.open(path, "rb"))
    if packing == ZSTD:
        import pyarrow as pa

        return _unpacked(path, pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def _check_dictionary(path: Path) -> None:
    """Refuse an .xz file whose header asks for more memory than there is; pipes are not checked."""
    if not path.is_file():
        return
    allowed = memory_left().left // 2
    with path.open("rb") as handle, explained(path, XZ):
        try:
            lzma.LZMADecompressor(memlimit=max(allowed, 1)).decompress(handle.read(BUFFER), 1)
        except lzma.LZMAError as problem:
            if "limit" not in str(problem):
                raise
            raise DataError(
                f"decompressing it takes more than {spelled_size(allowed)} of memory, half of what this process may use",
                place=path,
                value=allowed,
                remedy="Compress it with a smaller dictionary, such as the default of xz, or decompress it elsewhere",
            ) from problem


def _unpacked(path: Path, inner: Any) -> Any:
    """The output of a decompressor; bounded, except for pipes, whose size is not known."""
    return io.BufferedReader(_Unpacked(path, inner), BUFFER) if path.is_file() else inner


class _Unpacked(io.RawIOBase):
    """Decompressed bytes, counted as they come: no more than the size of the file can justify."""

    def __init__(self, path: Path, inner: Any) -> None:
        super().__init__()
        self.path, self.inner, self.length = path, inner, 0
        self.packed = path.stat().st_size
        self.allowed = max(ALWAYS_UNPACKED, MOST_EXPANSION * self.packed)

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with what the decompressor gives at once."""
        count = int(self.inner.readinto(buffer))
        self.length += count
        if self.length > self.allowed:
            raise DataError(
                f"it has {spelled_size(self.packed)}, but decompresses to more than {spelled_size(self.allowed)}",
                place=self.path,
                value=self.allowed,
                rule=f"A compressed file may hold {MOST_EXPANSION} times its size",
                remedy="If you trust this one, decompress it and give the result",
            )
        return count

    def close(self) -> None:
        """Close the decompressor too."""
        try:
            self.inner.close()
        finally:
            super().close()
