"""Compression on the way into a file, by the ending of its name; all of these carry a checksum of the content.

None of them closes the file below it, and the same content gives the same bytes.
"""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO, Any


def compressor(suffix: str) -> Callable[[IO[bytes]], Any]:
    """What makes a writeable file of one to write to, as a context; for an ending that means nothing, the file itself."""
    return {".gz": _gzip, ".xz": _xz, ".zst": _zstd}.get(suffix, _plain)


@contextmanager
def _plain(raw: IO[bytes]) -> Generator[IO[bytes]]:
    yield raw


def _gzip(raw: IO[bytes]) -> gzip.GzipFile:
    # No name and no time inside: the same data give the same bytes.
    return gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0)


def _xz(raw: IO[bytes]) -> lzma.LZMAFile:
    return lzma.LZMAFile(raw, mode="wb")


def _zstd(raw: IO[bytes]) -> Any:
    import zstandard  # Arrow, which reads these files and verifies the checksum, cannot be asked to write it

    return zstandard.ZstdCompressor(write_checksum=True).stream_writer(raw, closefd=False)
