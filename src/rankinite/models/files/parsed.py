"""Values of parsed JSON and UBJSON, and numbers from text, taken out by the type that is wanted.

Readers of foreign models ask for each value here, so that any other value ends in a DataError with the place in the file, the
value and what it must be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.errors import DataError, quoted

SAVE_AGAIN = "The file is damaged; save the model again"
"""The remedy where a foreign model cannot be what was written."""
LONGEST_NUMBER = 400
"""Characters of the longest number that is read; Python has an error of its own beyond 4,300 digits."""


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
