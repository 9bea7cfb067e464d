"""Bytes in and out of files: plain or compressed, in chunks of whole lines, within bounds, and never half written."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from rankinite.data.unpacking import compression, explained, opened
from rankinite.errors import ArgumentError, DataError
from rankinite.kernel import Bytes, frozen
from rankinite.memory import PARSED_SHARE, Allowance, memory_left, spelled_size, too_large, within_memory

CHUNK = 1 << 21
"""Bytes of text handed to a thread at a time: large enough to hide the hand-over, small enough for the cache."""

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


RIGHT_FILE = "Check that it is the right file, or use a machine with more memory."
ROW_PER_LINE = "Check that it is a text file with one row per line."


def _check_room(path: Path, what: str, length: int, allowance: Allowance, remedy: str) -> None:
    """Refuse bytes of which nothing could be made: that takes several times as much."""
    if PARSED_SHARE * length > allowance.left:
        raise too_large(str(path), f"{what}, {spelled_size(length)} or more,", PARSED_SHARE * length, allowance, remedy)


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
        with explained(path, ""), path.open("rb") as pipe, copy.open("wb") as handle:
            shutil.copyfileobj(pipe, handle)
        try:
            yield copy
        except (DataError, ArgumentError) as problem:
            raise type(problem)(str(problem).replace(str(copy), str(path))) from problem


def line_chunks(path: Path, size: int = CHUNK) -> Iterator[Bytes]:
    """The file as read-only byte arrays of about ``size`` bytes, cut after newlines; each ends with a newline.

    Files are read, not mapped: where a mapped file is cut short meanwhile, the system stops the process without a word. A
    byte-order mark is passed over.
    """
    check_readable(path)
    packing = compression(path)
    plain = not packing and path.is_file()
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
            if not newline and start + len(block) == length:  # the last line may lack its newline; the parser relies on one
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
                f"{path}: the file shrank while it was read: it had {length} bytes, and ends after {start + done} now. Another "
                "program writes to it; wait until that is done, and read it again."
            )
        done += count


def _streamed_chunks(path: Path, packing: str, size: int) -> Iterator[Bytes]:
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


@contextmanager
def write_atomically(path: Path) -> Generator[IO[bytes]]:
    """A binary handle whose bytes become the file ``path`` when the ``with`` block ends without an error.

    They are compressed when the name ends in .gz, .zst or .xz. Until then they stand under another name in
    the same folder; on an error they are removed and whatever stood at ``path`` stays as it was. Symbolic links
    stay: the file they lead to is replaced. Devices, pipes and open files (``/dev/stdout``) are written directly.
    """
    target, direct = _destination(path)
    unfinished = target if direct else target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        raw = unfinished.open("ab" if direct else "xb")
    except (OSError, ValueError) as problem:
        raise DataError(f"{path}: cannot be written ({problem}). The folder must exist and be writeable.") from problem
    try:
        with raw, _compressor(path.suffix.lower())(raw) as handle:
            yield handle
        if not direct:
            unfinished.replace(target)
    except OSError as problem:  # a full disk, above all
        if not direct:
            unfinished.unlink(missing_ok=True)
        raise DataError(f"{path}: cannot be written ({problem}). Make room, or write elsewhere.") from problem
    except BaseException:
        if not direct:
            unfinished.unlink(missing_ok=True)
        raise


def _destination(path: Path) -> tuple[Path, bool]:
    """The file to write once symbolic links are followed, and whether to write it directly instead of replacing it."""
    try:
        if _is_open_file(path):
            return path, True
        target = path.resolve()
        if target.is_dir():
            raise DataError(f"{path}: this is a folder. Give the name of a file to write.")
        return target, target.exists() and not target.is_file()
    except (OSError, ValueError, RuntimeError) as problem:  # a name too long or not of this system, or links in a circle
        raise DataError(f"{path}: this path cannot be used ({problem}).") from problem


def _is_open_file(path: Path) -> bool:
    """Whether the path names a file that a process has open, as /dev/stdout and /dev/fd/3 do; none may be replaced."""
    for _ in range(40):  # links, as many as the system follows
        folder = path.parent.resolve()
        if folder.parts[:2] == ("/", "proc") or folder == Path("/dev/fd"):
            return True
        link = folder / path.name
        if not link.is_symlink():
            return False
        path = folder / link.readlink()
    return False


def _compressor(suffix: str) -> Callable[[IO[bytes]], Any]:
    return {".gz": _gzip, ".xz": _xz, ".zst": _zstd}.get(suffix, _plain)


@contextmanager
def _plain(raw: IO[bytes]) -> Generator[IO[bytes]]:
    yield raw


def _gzip(raw: IO[bytes]) -> gzip.GzipFile:
    # No name and no time inside: the same data give the same bytes.
    return gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0)


def _xz(raw: IO[bytes]) -> lzma.LZMAFile:
    return lzma.LZMAFile(raw, mode="wb")


@contextmanager
def _zstd(raw: IO[bytes]) -> Generator[Any]:
    import pyarrow as pa

    with pa.PythonFile(raw, mode="w") as sink, pa.CompressedOutputStream(sink, "zstd") as handle:
        yield handle
