"""Category columns of tables: the codes of some rows, in a vocabulary of just these rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from rankinite.data.categories import WHOLE, Vocabulary, not_whole, vocabulary_of
from rankinite.data.io.arrow_columns import plain
from rankinite.data.io.column_types import is_text
from rankinite.data.io.columns import CategoryColumns
from rankinite.engine.kernel import FEATURE, Features
from rankinite.errors import DataError, quoted

pc: Any = pyarrow.compute  # its functions are made at run time, so no type checker knows them

MOSTLY = 0.9
"""Share of numbers from which on text of unknown meaning is taken for numbers with a slip, such as "unknown"."""
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


class CodedColumn(NamedTuple):
    """The categories of some rows."""

    codes: Features
    """One per row; NaN = missing."""
    vocabulary: Vocabulary
    """What the codes stand for: the categories of these rows, and no others."""


def coded_column(
    column: Any, name: str, columns: CategoryColumns, source: str, place: Callable[[int], str], start: int
) -> CodedColumn:
    """The categories of a batch whose first row is row ``start`` of the table; ``place`` names the place of such a row."""
    array, kind = plain(column), column.type
    if name not in columns.asked and not (is_text(kind) or pa.types.is_dictionary(kind) or pa.types.is_null(kind)):
        raise DataError(
            f"column {quoted(name)} holds {kind} in one part and text in another",
            place=place(start),
            value=[name],
            rule="A feature holds numbers, or categories",
            remedy=f"Mend the values that are not numbers, or pass `categories={[name]!r}`",
        )
    try:
        if is_text(array.type):
            return _coded(_cells(array) if columns.written else array, numbers_among=columns.written)
        return _coded(_whole_numbers(array, name, place, start), numbers_among=True)
    except (pa.ArrowException, ValueError) as error:  # above all text that is not UTF-8
        raise DataError(
            f"column {quoted(name)} cannot be used ({error})",
            place=source,
            value=name,
            remedy=f"Leave it out with `ignore={[name]!r}`",
        ) from error


def _coded(array: Any, *, numbers_among: bool) -> CodedColumn:
    """``numbers_among``: whether categories that are all whole numbers are such, rather than text that looks like them."""
    encoded = array.dictionary_encode()
    found: list[str] = pc.cast(encoded.dictionary, pa.string()).to_pylist()
    vocabulary = vocabulary_of(found, numeric=numbers_among and bool(found) and all(map(WHOLE.fullmatch, found)))
    code_of = np.asarray([*map(vocabulary.places.__getitem__, found), np.nan], FEATURE)
    return CodedColumn(code_of[pc.fill_null(encoded.indices, len(found)).to_numpy(zero_copy_only=False)], vocabulary)


def _cells(array: Any) -> Any:
    """Cells of a text file: an empty one is missing, and 7.0, as whole numbers are written beside missing ones, is 7."""
    array = pc.replace_substring_regex(array, r"^(-?(?:0|[1-9][0-9]*))\.0+$", r"\1")
    return pc.if_else(pc.equal(array, ""), pa.scalar(None, array.type), array)


def _whole_numbers(array: Any, name: str, place: Callable[[int], str], start: int) -> Any:
    """Numbers that stand for categories; NaN is missing."""
    if pa.types.is_integer(array.type):
        return array
    if pa.types.is_boolean(array.type) or pa.types.is_null(array.type):
        return pc.cast(array, pa.int8())
    values: npt.NDArray[Any] = (
        array if pa.types.is_floating(array.type) else pc.cast(array, pa.float64(), safe=False)
    ).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(~np.isnan(values) & ~_are_exact(values))
    if len(wrong):
        raise not_whole(name, float(values[wrong[0]]), str(array.type), place(start + int(wrong[0])))
    missing = np.isnan(values)
    return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)


def _are_exact(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which floats are whole numbers that differ from the next."""
    return (np.floor(values) == values) & (np.abs(values) < 2.0 ** (np.finfo(values.dtype).nmant + 1))


def slip_among_numbers(vocabulary: Vocabulary) -> str | None:
    """A category that is not a number, where nearly all are: such as "unknown"."""
    others = [one for one in vocabulary.names if not _NUMBER.fullmatch(one)]
    return others[0] if others and len(vocabulary) - len(others) >= MOSTLY * len(vocabulary) else None


def decimal_comma_among(vocabulary: Vocabulary) -> str | None:
    """A number with a comma before its decimals, where nearly all categories are numbers so written."""
    commas = [one for one in vocabulary.names if _DECIMAL_COMMA.fullmatch(one)]
    numbers = [one for one in vocabulary.names if _NUMBER.fullmatch(one)]
    return commas[0] if commas and len(commas) + len(numbers) >= MOSTLY * len(vocabulary) else None


def check_guessed(vocabularies: Mapping[str, Vocabulary], columns: CategoryColumns, source: str) -> None:
    """Refuse columns of a text file that nobody called categories, where they seem to hold numbers: all of them at once."""
    guessed = [name for name in vocabularies if columns.written and name not in columns.asked]
    commas = {name: one for name in guessed if (one := decimal_comma_among(vocabularies[name]))}
    slips = {name: one for name in guessed if name not in commas and (one := slip_among_numbers(vocabularies[name]))}
    if not commas and not slips:
        return
    problems = [f"column {quoted(name)} holds decimal commas, as in {quoted(one)}" for name, one in commas.items()]
    problems += [f"column {quoted(name)} holds {quoted(one)} beside numbers" for name, one in slips.items()]
    remedies = ["Write the numbers with decimal points"] if commas else []
    if slips:
        remedies.append(f"Mend the values that are not numbers, or pass `categories={list(slips)!r}`")
    raise DataError(
        "; ".join(problems),
        place=source,
        value=next(iter((commas | slips).values())),
        rule="Text is a category unless nearly all of it is numbers",
        remedy=". ".join(remedies),
    )
