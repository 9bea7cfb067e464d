"""XXH64, the checksum that Zstandard frames may carry: Arrow verifies it but cannot be asked to write it."""

from __future__ import annotations

import numpy as np

from rankinite.data import _checksum_kernels as _kernels
from rankinite.kernel import frozen

_FIRST, _SECOND, _THIRD = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_FOURTH, _FIFTH = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_WORD = (1 << 64) - 1
_STRIPE = 32
"""Bytes taken together: four lanes of eight."""


class XXH64:
    """A running checksum of bytes, with the seed 0."""

    def __init__(self) -> None:
        self._sums = np.asarray([(_FIRST + _SECOND) & _WORD, _SECOND, 0, -_FIRST & _WORD], np.uint64)
        self._rest = b""
        self._length = 0

    def update(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        content = self._rest + bytes(data) if self._rest else bytes(data)
        self._length += len(content) - len(self._rest)
        whole = len(content) - len(content) % _STRIPE
        if whole:
            lanes = np.frombuffer(content, "<u8", whole // 8).astype(np.uint64, copy=False)
            with np.errstate(over="ignore"):  # modulo 2⁶⁴ is meant; only plain Python would warn
                _kernels.absorb(frozen(lanes), self._sums)
        self._rest = content[whole:]

    def value(self) -> int:
        """The checksum of all bytes so far."""
        total = _FIFTH
        if self._length >= _STRIPE:
            sums = self._sums.tolist()
            total = sum(_turned(one, by) for one, by in zip(sums, (1, 7, 12, 18), strict=True)) & _WORD
            for one in sums:
                total = ((total ^ _absorbed(one)) * _FIRST + _FOURTH) & _WORD
        return _mixed(_with_rest((total + self._length) & _WORD, self._rest))


def _with_rest(total: int, rest: bytes) -> int:
    """The bytes after the last stripe: eight at a time, then four, then one by one."""
    while len(rest) >= 8:
        total = (_turned(total ^ _absorbed(int.from_bytes(rest[:8], "little")), 27) * _FIRST + _FOURTH) & _WORD
        rest = rest[8:]
    if len(rest) >= 4:
        total = (_turned(total ^ int.from_bytes(rest[:4], "little") * _FIRST & _WORD, 23) * _SECOND + _THIRD) & _WORD
        rest = rest[4:]
    for byte in rest:
        total = _turned(total ^ byte * _FIFTH & _WORD, 11) * _FIRST & _WORD
    return total


def _mixed(total: int) -> int:
    total = (total ^ total >> 33) * _SECOND & _WORD
    total = (total ^ total >> 29) * _THIRD & _WORD
    return total ^ total >> 32


def _absorbed(lane: int) -> int:
    return _turned(lane * _SECOND & _WORD, 31) * _FIRST & _WORD


def _turned(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & _WORD
