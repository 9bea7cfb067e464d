"""Values of parsed JSON and UBJSON, and numbers from text, taken out by the type that is wanted.

Readers of foreign models ask for each value here, so that any other value ends in a DataError with the place in the file, the
value and what it must be.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.errors import DataError, cut, quoted

SAVE_AGAIN = "The file is damaged; save the model again"
"""The remedy where a foreign model cannot be what was written."""
LONGEST_NUMBER = 400
"""Characters of the longest number that is read; Python has an error of its own beyond 4,300 digits."""
MOST_UNNAMED = 1_000_000
"""Features that a model may have without naming them: as many as data may (see the LETOR reader), since all are kept dense."""


FAR = 2.0**1023
"""Numbers from here on are refused: a whole number of JSON may be beyond all floats."""
_FLOAT32 = struct.Struct("<f")
_JAVA_FLOAT = re.compile(r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,5})?)[fFdD]?\s*")


def is_json_object(content: bytes) -> bool:
    """Whether this begins like a JSON object; one of UBJSON has a letter behind its bracket."""
    beginning = content[:100].removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    return beginning.startswith(b"{") and beginning[1:2] in b'"\n\r\t }'


def parse_json(content: bytes) -> Any:
    """The value of a JSON file."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"this is not a whole JSON file ({cut(error)})", value=len(content), remedy="Save the model again"
        ) from error


def java_float(text: str) -> float:
    """The float of 32 bits nearest to a decimal number, as Java reads it; NaN: the text is no such number."""
    found = _JAVA_FLOAT.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    if found is None:
        return math.nan
    near = float(found[1])
    rounded = to_float32(near)
    beyond = 2.0 * near - rounded  # the float on the other side, if this lies in the middle of two: rare, and then exact
    if beyond != rounded and math.isfinite(beyond) and to_float32(beyond) == beyond:
        # Rounded twice, a number just beside the middle may end at the wrong one; its digits decide.
        digits, middle = Fraction(found[1]), Fraction(near)
        return rounded if digits == middle else max(rounded, beyond) if digits > middle else min(rounded, beyond)
    return rounded


def to_float32(number: float) -> float:
    """The float of 32 bits nearest to a number; those beyond all are infinite."""
    try:
        return _FLOAT32.unpack(_FLOAT32.pack(number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


@dataclass(frozen=True)
class Parsed:
    """A value, and where it was found."""

    value: Any
    maker: str
    """Whose model the file should be."""
    path: str = ""
    """The place of the value: ``learner.objective``."""

    def wrong(self, wanted: str) -> DataError:
        """The error for a value that is not what it must be."""
        return DataError(f"{quoted(self.value)} is not {wanted}", place=self.path, value=self.value, remedy=self._save_again())

    def __getitem__(self, name: str) -> Parsed:
        entry = self.get(name)
        if entry is None:
            raise DataError(f"there is no entry {name!r}", place=self.path, value=name, remedy=self._save_again())
        return entry

    def get(self, name: str) -> Parsed | None:
        """An entry of a JSON object; None: there is none."""
        if not isinstance(self.value, dict):
            raise self.wrong("a JSON object")
        entries = cast("dict[str, Any]", self.value)
        return self._at(entries[name], f".{name}") if name in entries else None

    def entries(self) -> list[Parsed]:
        """The entries of a list of values of any type."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [self._at(value, f"[{number}]") for number, value in enumerate(cast("list[Any]", self.value))]

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def whole(self) -> int:
        """A whole number from 0 on, as a number or, as XGBoost writes its settings, as text."""
        value = self.value
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= LONGEST_NUMBER:
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        raise self.wrong("a whole number from 0 on")

    def number(self) -> float:
        """A finite number."""
        value = self.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not -FAR < value < FAR:
            raise self.wrong("a finite number")
        return float(value)

    def float32(self) -> float:
        """A finite number as Java's float has it, from a number or, as Solr writes them, from text."""
        found = java_float(self.value) if isinstance(self.value, str) else to_float32(self.number())
        if not math.isfinite(found):
            raise self.wrong("a number of 32 bits")
        return found

    def numbers(self, dtype: npt.DTypeLike, count: int | None = None) -> npt.NDArray[Any]:
        """A list of numbers that all fit the dtype; ``count``: how many there must be."""
        wanted = f"a list of {'' if count is None else f'{count} '}numbers of type {np.dtype(dtype)}"
        found = fitting(_number_array(self.value), dtype)
        if found is None or found.ndim != 1 or count not in (None, len(found)):
            raise self.wrong(wanted)
        return found

    def _at(self, value: Any, step: str) -> Parsed:
        return Parsed(value, self.maker, (self.path + step).removeprefix("."))

    def _save_again(self) -> str:
        return f"This is not a model of {self.maker}, or it is damaged; save it again"


def _number_array(value: Any) -> npt.NDArray[Any] | None:
    """The numbers of a list, or a NumPy array as it is; None: it is not a list of numbers."""
    if isinstance(value, np.ndarray):
        return cast("npt.NDArray[Any]", value)
    if not isinstance(value, list) or not all(type(entry) in (int, float, bool) for entry in cast("list[Any]", value)):
        return None
    try:
        return np.asarray(value)
    except OverflowError:  # a whole number beyond all floats, beside floats
        return None


def fitting(values: npt.NDArray[Any] | None, dtype: npt.DTypeLike) -> npt.NDArray[Any] | None:
    """Numbers as another dtype; None where one of them would become another number: floats are only rounded."""
    if values is None or values.dtype.kind not in "biuf":
        return None
    wanted = np.dtype(dtype)
    if wanted.kind == "f":
        with np.errstate(over="ignore"):
            return values.astype(wanted)
    if values.dtype.kind == "f":
        end = 2.0 ** (8 * wanted.itemsize - 1)  # of signed whole numbers
        if not ((np.floor(values) == values) & (values >= -end) & (values < end)).all():
            return None
    converted = values.astype(wanted)
    return converted if (converted == values).all() else None


def splits_by_categories(tree: str) -> DataError:
    """The error for a tree that asks which category a row belongs to."""
    return DataError(
        "this tree splits by categories",
        place=tree,
        rule="Only trees over numerical features can be read",
        remedy="Train without categories",
    )


def number_words(text: str) -> Iterator[float]:
    """The numbers of a text, separated by blanks; raises ValueError with the first word that is not one."""
    for word in text.split():
        try:
            yield float(word) if len(word) <= LONGEST_NUMBER else float("x")
        except ValueError:
            raise ValueError(quoted(word)) from None
