"""Bytes out of files: memory-mapped or compressed, in chunks of whole lines. For bytes into files, see ``output_files``."""

from __future__ import annotations

import gzip
import lzma
import mmap
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from rankinite.data.output_files import write_atomically as write_atomically  # noqa: PLC0414 - the pair of open_bytes, for all who write
from rankinite.errors import ArgumentError, DataError
from rankinite.kernel import Bytes

CHUNK = 1 << 21
"""Bytes of text handed to a thread at a time: large enough to hide the hand-over, small enough for the cache."""

COMPRESSED = (".gz", ".zst", ".xz")
"""Endings of the file names that are decompressed on reading and compressed on writing."""
MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"\xfd7zXZ": ".xz"}
"""How compressed files begin, whatever their name."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def check_readable(path: Path) -> None:
    """Refuse a path that does not exist, is a folder, or may not be read."""
    try:
        if path.is_dir():
            raise DataError(f"{path}: this is a folder. Give a file.")
        if not path.exists():
            raise DataError(f"{path}: no such file. Paths are taken from {Path.cwd()}.")
        if not os.access(path, os.R_OK):
            raise DataError(f"{path}: this file may not be read. Change its permissions.")
    except (OSError, ValueError) as problem:  # a name too long, or with a NUL in it
        raise DataError(f"{path}: this path cannot be used ({problem}).") from problem


def compression(path: Path) -> str:
    """The ending that tells how a file is compressed: that of its name, else the one its first bytes call for, or ""."""
    if path.suffix.lower() in COMPRESSED:
        return path.suffix.lower()
    if not path.is_file():
        return ""
    with _explained(path, ""), path.open("rb") as handle:
        beginning = handle.read(8)
    return next((ending for magic, ending in MAGIC.items() if beginning.startswith(magic)), "")


@contextmanager
def open_bytes(path: Path) -> Generator[IO[bytes]]:
    """The bytes of a file to read, decompressed when its name or its first bytes say that it is compressed."""
    check_readable(path)
    packing = compression(path)
    with _explained(path, packing), _opened(path, packing) as handle:
        yield handle


@contextmanager
def spooled(path: Path) -> Generator[Path]:
    """A path that can be read more than once: a pipe's bytes are put into a temporary file, any other file is itself.

    Messages of errors raised meanwhile name the pipe.
    """
    check_readable(path)
    if path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="rankinite-") as folder:
        copy = Path(folder) / path.name  # its endings tell the format
        with _explained(path, ""), path.open("rb") as pipe, copy.open("wb") as handle:
            shutil.copyfileobj(pipe, handle)
        try:
            yield copy
        except (DataError, ArgumentError) as problem:
            raise type(problem)(str(problem).replace(str(copy), str(path))) from problem


@contextmanager
def _explained(path: Path, packing: str) -> Generator[None]:
    """Turn what the decompressors and the file system raise into a DataError."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError, *_arrow_errors()) as problem:
        if packing:
            rule = f"It must be a complete {packing} file; make it again, or rename it if it is not compressed."
        else:
            rule = "Check that the file is whole and the disk can be read."
        raise DataError(f"{path}: cannot be read ({str(problem) or type(problem).__name__}). {rule}") from problem


def _arrow_errors() -> tuple[type[Exception], ...]:
    """What Arrow raises; nothing where it is not loaded, as for text it need not be."""
    return (sys.modules["pyarrow"].ArrowException,) if "pyarrow" in sys.modules else ()


def _opened(path: Path, packing: str) -> Any:
    if packing == ".gz":
        return gzip.open(path, "rb")
    if packing == ".xz":
        return lzma.open(path, "rb")
    if packing == ".zst":
        import pyarrow as pa

        return pa.input_stream(str(path), compression="zstd")
    return path.open("rb")


def line_chunks(path: Path, size: int = CHUNK) -> Iterator[Bytes]:
    """The file as read-only byte arrays of about ``size`` bytes, cut after newlines; each ends with a newline.

    Ordinary files are mapped, not read. A byte-order mark is passed over.
    """
    check_readable(path)
    packing = compression(path)
    mapped = not packing and path.is_file()
    with _explained(path, packing):
        yield from _mapped_chunks(path, size) if mapped else _streamed_chunks(path, packing, size)


def _mapped_chunks(path: Path, size: int) -> Iterator[Bytes]:
    with path.open("rb") as handle:
        length = os.fstat(handle.fileno()).st_size
        if length == 0:
            return
        view = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
    start = len(BYTE_ORDER_MARK) if view[:3] == BYTE_ORDER_MARK else 0
    while start < length:
        newline = view.find(b"\n", min(start + size, length) - 1)
        if newline < 0:
            # The last line may lack its newline; the parser relies on one.
            newline = view.rfind(b"\n", start)
            if newline < 0:
                yield np.frombuffer(view[start:] + b"\n", np.uint8)
                return
        yield np.frombuffer(view, np.uint8, newline + 1 - start, start)
        start = newline + 1


def _streamed_chunks(path: Path, packing: str, size: int) -> Iterator[Bytes]:
    with _opened(path, packing) as handle:
        begun: list[bytes] = []  # pieces of a chunk whose last line has not ended yet
        first = True
        while block := handle.read(size):
            if first:
                block, first = block.removeprefix(BYTE_ORDER_MARK), False
            newline = block.rfind(b"\n") + 1
            if newline:
                yield np.frombuffer(b"".join([*begun, block[:newline]]), np.uint8)
                begun = []
            begun.append(block[newline:])
        if any(begun):
            yield np.frombuffer(b"".join([*begun, b"\n"]), np.uint8)
