"""Compression on the way into a file, by the ending of its name; all of these carry a checksum of the content.

None of them closes the file below it, and the same content gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO, Any

CHECKSUM_FLAG = 1 << 2
"""The bit of a Zstandard frame's descriptor that says that a checksum follows its last block."""
DESCRIPTOR = 4
"""Where the descriptor stands, behind the four bytes by which a frame is known."""


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


@contextmanager
def _zstd(raw: IO[bytes]) -> Generator[Any]:
    """One Zstandard frame with a checksum. Arrow writes none: its flag is set, and it is put behind the frame, here."""
    import pyarrow as pa

    frame = _FlaggedFrame(raw)
    with pa.PythonFile(frame, mode="w") as sink, pa.CompressedOutputStream(sink, "zstd") as stream:
        content = _Summed(stream)
        yield content
    raw.write((content.checksum.value() & 0xFFFFFFFF).to_bytes(4, "little"))


class _FlaggedFrame(io.RawIOBase):
    """Passes a frame on, with the flag for a checksum set in its descriptor."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__()
        self._raw, self._passed = raw, 0

    def writable(self) -> bool:
        """Nothing else can be done with it."""
        return True

    def write(self, data: Any) -> int:
        """Pass bytes on."""
        piece = bytearray(data)
        at = DESCRIPTOR - self._passed
        if 0 <= at < len(piece):
            piece[at] |= CHECKSUM_FLAG
        self._passed += len(piece)
        self._raw.write(piece)
        return len(piece)


class _Summed(io.RawIOBase):
    """Passes content on to be compressed, and keeps its checksum."""

    def __init__(self, stream: Any) -> None:
        from rankinite.data.checksums import XXH64  # its kernel is needed here alone

        super().__init__()
        self._stream, self.checksum = stream, XXH64()

    def writable(self) -> bool:
        """Nothing else can be done with it."""
        return True

    def write(self, data: Any) -> int:
        """Pass bytes on."""
        content = bytes(data)
        self.checksum.update(content)
        self._stream.write(content)
        return len(content)
