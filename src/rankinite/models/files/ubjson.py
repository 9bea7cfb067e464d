"""Universal Binary JSON, as XGBoost writes it: values after a letter that gives their type, typed arrays included."""

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


def parse_ubjson(content: bytes) -> Any:
    """The value that the bytes stand for; typed arrays come as NumPy arrays."""
    return _Reader(content).value(0)


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def wrong(self, why: str, value: object) -> DataError:
        """The error for bytes that are not UBJSON."""
        return DataError(
            f"this is not a whole UBJSON file: {why}", place=f"byte {self.place}", value=value, remedy="Save the model again"
        )

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes; refuses a file that has fewer."""
        left = len(self.content) - self.place
        if not 0 <= count <= left:
            raise self.wrong(f"{count} bytes are announced, but {left} are left", count)
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
            raise self.wrong(f"brackets are nested more than {DEEPEST} deep", depth)
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
            raise self.wrong(f"there is no kind of value {kind!r}", kind)
        return CONSTANTS[kind]

    def numbers(self, kind: str, count: int) -> Any:
        """The next ``count`` numbers of a kind."""
        dtype = np.dtype(NUMBERS[kind])
        return np.frombuffer(self.take(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))

    def length(self) -> int:
        """A length: a whole number from 0 on after its letter."""
        kind = self.letter()
        length = int(self.numbers(kind, 1)[0]) if kind in "iUIlL" else -1
        if length < 0:
            raise self.wrong(f"a length is not a whole number from 0 on (kind {kind!r})", kind)
        return length

    def text(self) -> str:
        """A length, then letters."""
        try:
            return self.take(self.length()).decode()
        except UnicodeDecodeError as problem:
            raise self.wrong(f"a text is not UTF-8 ({problem.reason})", problem.object) from problem

    def head(self) -> tuple[str | None, int | None]:
        """The kind and the number of a bracket's entries, where they are announced."""
        kind, count = None, None
        if self.peek() == "$":
            self.letter()
            kind = self.letter()
        if self.peek() == "#":
            self.letter()
            count = self.length()
        if kind is not None and (count is None or kind in CONSTANTS):  # nothing would bound entries that take no bytes
            raise self.wrong(f"a bracket has entries of kind {kind!r} without a number, or without bytes", kind)
        if count is not None and count > len(self.content) - self.place:
            raise self.wrong(f"{count} entries are announced, but {len(self.content) - self.place} bytes are left", count)
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
