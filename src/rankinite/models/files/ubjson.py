"""Universal Binary JSON, as XGBoost writes it: values behind one letter that says what they are, typed arrays included."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.errors import DataError

NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
"""The letter of a number → how its bytes are read, the highest first."""
CONSTANTS = {"Z": None, "N": None, "T": True, "F": False}
"""The letter of a value that has no bytes → the value."""
DEEPEST = 100
"""How deeply brackets may be nested."""


def parse_ubjson(content: bytes, place: str) -> Any:
    """The value that the bytes stand for; typed arrays come as NumPy arrays."""
    return _Reader(content, place).value(0)


class _Reader:
    def __init__(self, content: bytes, file: str) -> None:
        self.content, self.file, self.place = content, file, 0

    def wrong(self, why: str) -> DataError:
        """The error for bytes that are no UBJSON."""
        return DataError(f"{self.file}: this is no whole UBJSON file: at byte {self.place}, {why}. Save the model again.")

    def take(self, count: int) -> bytes:
        """The next bytes; there must be so many."""
        left = len(self.content) - self.place
        if not 0 <= count <= left:
            raise self.wrong(f"{count} bytes are announced, but {left} are left")
        self.place += count
        return self.content[self.place - count : self.place]

    def letter(self) -> str:
        """The next byte."""
        return chr(self.take(1)[0])

    def peek(self) -> str:
        """The next byte, left where it is."""
        found = self.letter()
        self.place -= 1
        return found

    def value(self, depth: int, kind: str | None = None) -> Any:
        """The next value; ``kind``: its letter, where that came before."""
        if depth > DEEPEST:
            raise self.wrong(f"brackets are nested more than {DEEPEST} deep")
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
        if kind not in CONSTANTS:
            raise self.wrong(f"there is no kind of value {kind!r}")
        return CONSTANTS[kind]

    def numbers(self, kind: str, count: int) -> Any:
        """So many numbers of a kind."""
        dtype = np.dtype(NUMBERS[kind])
        return np.frombuffer(self.take(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))

    def length(self) -> int:
        """A length: a whole number from 0 on behind its letter."""
        kind = self.letter()
        length = int(self.numbers(kind, 1)[0]) if kind in "iUIlL" else -1
        if length < 0:
            raise self.wrong(f"a length is no whole number from 0 on (kind {kind!r})")
        return length

    def text(self) -> str:
        """A length, then letters."""
        try:
            return self.take(self.length()).decode()
        except UnicodeDecodeError as problem:
            raise self.wrong(f"a text is not UTF-8 ({problem.reason})") from problem

    def head(self) -> tuple[str | None, int | None]:
        """What all entries of a bracket are, and how many there are, where these come first."""
        kind, count = None, None
        if self.peek() == "$":
            self.letter()
            kind = self.letter()
        if self.peek() == "#":
            self.letter()
            count = self.length()
        if kind is not None and (count is None or kind in CONSTANTS):  # nothing would bound entries that take no bytes
            raise self.wrong(f"a bracket has entries of kind {kind!r} without a number, or without bytes")
        if count is not None and count > len(self.content) - self.place:
            raise self.wrong(f"{count} entries are announced, but {len(self.content) - self.place} bytes are left")
        return kind, count

    def array(self, depth: int) -> Any:
        """Entries up to ``]``, or as many as announced."""
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
        """Names and values up to ``}``, or as many as announced."""
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
