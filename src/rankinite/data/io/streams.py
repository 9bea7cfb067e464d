"""Byte streams out of files: plain or compressed, in chunks of whole lines, within bounds. Writing: ``output_files``."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from rankinite.data.io.formats import Compression
from rankinite.data.io.unpacking import compression, explained, opened
from rankinite.engine.kernel import Bytes, frozen
from rankinite.engine.memory import PARSED_SHARE, Allowance, memory_left, spelled_size, too_large, within_memory
from rankinite.errors import DataError, RankiniteError, cut, quoted

CHUNK = 1 << 21
"""Bytes of text handed to a thread at a time: large enough for the hand-over not to matter, small enough for the cache."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def check_readable(path: Path) -> None:
    """Refuse a path that does not exist, is a folder, or may not be read."""
    if "\n" in str(path):
        raise DataError(
            f"{quoted(str(path))} is a text of several lines, not a path",
            value=str(path),
            remedy="Write the text to a file; if it is a model, load that file with rankinite.load",
        )
    try:
        if path.is_dir():
            coded = (path / "manifest.json").exists()
            remedy = "Give a file: of folders of bins, which `rankinite train` takes, the data they were made from"
            raise DataError("this is a folder", place=path, remedy=remedy if coded else "Give a file")
        if not path.exists():
            raise DataError("no such file", place=path, value=str(path), rule=f"Relative paths start at {Path.cwd()}")
        if not os.access(path, os.R_OK):
            raise DataError("this file may not be read", place=path, remedy="Change its permissions")
    except (OSError, ValueError) as problem:  # a name too long, or with a NUL in it
        raise DataError(
            f"this path cannot be used ({getattr(problem, 'strerror', problem)})",
            place=cut(path, 60),
            value=str(path),
            remedy="Give another path; if this is the text of a model, write it to a file, and load that with rankinite.load",
        ) from problem


@contextmanager
def open_bytes(path: Path) -> Generator[IO[bytes]]:
    """The bytes of a file to read, decompressed when its name or its first bytes say that it is compressed."""
    check_readable(path)
    packing = compression(path)
    with explained(path, packing), opened(path, packing) as handle:
        yield handle


def read_whole(path: Path) -> bytes:
    """All bytes of a file, decompressed; refused as soon as there are more than this process has room for."""
    allowance = memory_left()
    content = io.BytesIO()
    with within_memory(str(path), RIGHT_FILE), open_bytes(path) as handle:
        while block := handle.read(CHUNK):
            _check_room(path, "its content", content.tell() + len(block), allowance, RIGHT_FILE)
            content.write(block)
        return content.getvalue()


RIGHT_FILE = "Check that it is the right file, or use a machine with more memory"
ROW_PER_LINE = "Check that it is a text file with one row per line"


def _check_room(path: Path, what: str, length: int, allowance: Allowance, remedy: str) -> None:
    """Refuse more bytes than could be parsed: that takes several times as much memory."""
    if PARSED_SHARE * length > allowance.left:
        raise too_large(str(path), f"{what}, {spelled_size(length)} or more,", PARSED_SHARE * length, allowance, remedy)


@contextmanager
def spooled(path: Path) -> Generator[Path]:
    """A path that can be read more than once: a pipe's bytes are put into a temporary file, any other file is itself.

    Errors raised meanwhile name the pipe, not the temporary file.
    """
    check_readable(path)
    if path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="rankinite-") as folder:
        file = Path(folder) / path.name  # its suffixes tell the format
        with explained(path, None), path.open("rb") as pipe, file.open("wb") as handle:
            shutil.copyfileobj(pipe, handle)
        try:
            yield file
        except RankiniteError as problem:
            raise problem.replaced(str(file), str(path)) from problem


def line_chunks(path: Path, size: int = CHUNK) -> Iterator[Bytes]:
    """The file as read-only byte arrays of about ``size`` bytes, cut after newlines; each ends with a newline.

    Files are read, not mapped: where a mapped file is cut short meanwhile, the system kills the process without a message. A
    byte-order mark is skipped.
    """
    check_readable(path)
    packing = compression(path)
    plain = packing is None and path.is_file()
    with explained(path, packing):
        yield from _plain_chunks(path, size) if plain else _streamed_chunks(path, packing, size)


def _plain_chunks(path: Path, size: int) -> Iterator[Bytes]:
    allowance = memory_left()
    with path.open("rb", buffering=0) as handle:
        length = os.fstat(handle.fileno()).st_size
        start = len(BYTE_ORDER_MARK) if handle.read(3) == BYTE_ORDER_MARK else 0
        reach = size
        while start < length:
            block = bytearray(min(reach, length - start))
            _fill(block, handle, start, length, path)
            newline = block.rfind(b"\n") + 1
            if not newline and start + len(block) == length:  # the parser relies on a newline, which the last line may not have
                block += b"\n"
                newline = len(block)
            if newline:
                yield frozen(np.frombuffer(block, np.uint8, newline))
                start, reach = start + newline, size
            else:
                reach *= 2
                _check_room(path, "a line", reach, allowance, ROW_PER_LINE)


def _fill(block: bytearray, handle: io.FileIO, start: int, length: int, path: Path) -> None:
    """Read the bytes from ``start`` on; ``length`` is what the file had when it was opened."""
    handle.seek(start)
    view, done = memoryview(block), 0
    while done < len(block):
        count = handle.readinto(view[done:]) or 0
        if not count:
            raise DataError(
                f"the file shrank while it was read, from {length} bytes to {start + done}",
                place=path,
                value=start + done,
                remedy="Another program writes to it; wait until that is done, and read it again",
            )
        done += count


def _streamed_chunks(path: Path, packing: Compression | None, size: int) -> Iterator[Bytes]:
    allowance = memory_left()
    with opened(path, packing) as handle:
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
            _check_room(path, "a line", size * len(begun), allowance, ROW_PER_LINE)
        if any(begun):
            yield np.frombuffer(b"".join([*begun, b"\n"]), np.uint8)
