"""Compression on the way into a file, by the suffix of its name; all of these carry a checksum of the content.

None of them closes the file below it, and the same content gives the same bytes.
"""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rankinite.data.io.formats import GZIP, XZ, ZSTD, compression_of_suffix


def compressor(path: Path) -> Callable[[IO[bytes]], Any]:
    """A function that wraps an open file in one that compresses, as a context; without such a suffix, in nothing."""
    compression = compression_of_suffix(path)
    return _plain if compression is None else {GZIP: _gzip, XZ: _xz, ZSTD: _zstd}[compression]


@contextmanager
def _plain(raw: IO[bytes]) -> Generator[IO[bytes]]:
    yield raw


def _gzip(raw: IO[bytes]) -> gzip.GzipFile:
    # Neither name nor time in the header: the same data give the same bytes.
    return gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0)


def _xz(raw: IO[bytes]) -> lzma.LZMAFile:
    return lzma.LZMAFile(raw, mode="wb")


def _zstd(raw: IO[bytes]) -> Any:
    import zstandard  # Arrow, which reads these files and verifies the checksum, cannot be asked to write it

    return zstandard.ZstdCompressor(write_checksum=True).stream_writer(raw, closefd=False)
