"""Universal Binary JSON, as XGBoost writes it: values behind one letter that says what they are, typed arrays included."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from rankinite.errors import DataError

NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
"""The letter of a number → how its bytes are read, the highest first."""
DEEPEST = 100
"""Brackets inside each other."""


def parse_ubjson(content: bytes, place: str) -> Any:
    """The value that the bytes stand for; typed arrays come as NumPy arrays."""
    try:
        return _Reader(content).value(0)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError, KeyError) as error:
        raise DataError(f"{place}: this is no whole UBJSON file ({error}). Save the model again.") from error


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def letter(self) -> str:
        """The next byte."""
        self.place += 1
        return chr(self.content[self.place - 1])

    def value(self, depth: int, kind: str | None = None) -> Any:
        """The next value; ``kind``: its letter, where that was told before."""
        if depth > DEEPEST:
            raise ValueError("brackets stand inside each other too deeply")
        kind = self.letter() if kind is None else kind
        if kind in NUMBERS:
            return self.numbers(kind, 1)[0].item()
        if kind == "S":
            return self.text()
        if kind == "C":
            return self.letter()
        if kind == "[":
            return self.array(depth)
        if kind == "{":
            return self.table(depth)
        return {"Z": None, "N": None, "T": True, "F": False}[kind]

    def numbers(self, kind: str, count: int) -> Any:
        """So many numbers of a kind."""
        dtype = np.dtype(NUMBERS[kind])
        end = self.place + count * dtype.itemsize
        if count < 0 or end > len(self.content):
            raise ValueError("it ends too soon")
        found = np.frombuffer(self.content, dtype, count, self.place)
        self.place = end
        return found.astype(dtype.newbyteorder("="))

    def length(self) -> int:
        """A length: a whole number behind its letter."""
        kind = self.letter()
        if kind not in "iUIlL":
            raise ValueError(f"a length of kind {kind!r}")
        return int(self.numbers(kind, 1)[0])

    def text(self) -> str:
        """A length, then letters."""
        length = self.length()
        if length < 0 or self.place + length > len(self.content):
            raise ValueError("it ends too soon")
        self.place += length
        return self.content[self.place - length : self.place].decode()

    def head(self) -> tuple[str | None, int | None]:
        """What all entries of a bracket are, and how many there are, where that is told first."""
        kind, count = None, None
        if self.peek() == "$":
            self.letter()
            kind = self.letter()
        if self.peek() == "#":
            self.letter()
            count = self.length()
        return kind, count

    def peek(self) -> str:
        """The next byte, left where it is."""
        return chr(self.content[self.place])

    def array(self, depth: int) -> Any:
        """Entries up to ``]``, or so many as told."""
        kind, count = self.head()
        if kind in NUMBERS and count is not None:
            return self.numbers(kind, count)
        entries: list[Any] = []
        while (len(entries) < count) if count is not None else (self.peek() != "]"):
            entries.append(self.value(depth + 1, kind))
        if count is None:
            self.letter()
        return entries

    def table(self, depth: int) -> dict[str, Any]:
        """Names and values up to ``}``, or so many as told."""
        kind, count = self.head()
        entries: dict[str, Any] = {}
        seen = 0
        while (seen < count) if count is not None else (self.peek() != "}"):
            name = self.text()
            entries[name] = self.value(depth + 1, kind)
            seen += 1
        if count is None:
            self.letter()
        return entries
