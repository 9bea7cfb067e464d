"""Arrays as judged data: a feature matrix, and one value per row for each role."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary
from rankinite.data.dataset import Dataset
from rankinite.data.grades import is_absent, is_no_grade, number_in, with_missing_marked, words_without_map
from rankinite.data.grouping import TEXT, as_text
from rankinite.data.io.exact_numbers import inexact_grade
from rankinite.data.io.position_files import as_positions
from rankinite.data.io.text_files import AnyPath, read_sizes
from rankinite.engine.kernel import FEATURE, GRADE, SCORE, Features, Grades, Indices, Strings
from rankinite.engine.memory import memory_left, too_large
from rankinite.errors import DataError, quoted
from rankinite.plurals import agreeing, counted

SIZES_RULE = "Sizes must be whole numbers from 0 on that add up to the rows"
SIZES_REMEDY = "Check that the group file belongs to this data, or pass `qid=…` instead"


def is_sparse(source: object) -> bool:
    """Whether this is a SciPy sparse matrix; SciPy is not loaded to find out."""
    sparse: Any = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(source))


def matrix_of(source: object) -> Features:
    """A float32 matrix from a NumPy array, nested lists or a SciPy sparse matrix.

    An array that is such a matrix already, row by row, is not copied: what is made of it must not write to it.
    """
    if is_sparse(source):
        source = _dense(cast(Any, source))
    array = number_matrix(source)
    with np.errstate(over="ignore"):  # numbers beyond float32 become infinite here; infinite= decides what happens then
        return np.require(array, FEATURE, ("C", "ALIGNED", "ENSUREARRAY"))


def number_matrix(source: object) -> npt.NDArray[Any]:
    """A NumPy array or nested lists as a matrix of numbers of whatever type; the array itself, not a copy."""
    array = _as_array(source, "features")
    if array.ndim == 0:
        kind = type(source).__name__
        raise DataError(
            f"a {kind} cannot be read as data",
            value=kind,
            remedy="Give a path or several, a table (pandas, polars, PyArrow; a lazy one once it is collected), or a matrix "
            "of rows × features",
        )
    if array.ndim != 2:
        raise DataError(
            f"the shape is {array.shape}",
            place="features",
            value=array.shape,
            rule="Features must be a matrix of rows × features",
            remedy="Use reshape(-1, 1) for one feature",
        )
    if array.dtype.kind not in "fiub":
        raise DataError(
            f"the type is {array.dtype}",
            place="features",
            value=str(array.dtype),
            rule="Features must be numbers",
            remedy="Convert them, or pass a table",
        )
    return array


def rows_to_data(
    matrix: Features,
    names: Sequence[str],
    values: Mapping[str, npt.NDArray[Any]],
    sizes: Indices | None,
    *,
    source: str,
    place: Callable[[int], str],
    categories: Mapping[str, Vocabulary] | None = None,
) -> Dataset:
    """Group rows into queries by the qid of each row, or by group sizes; ``values`` maps a role to one value per row."""
    rows = len(matrix)
    check_lengths(values, rows, source)
    weights = values.get("weight")
    return Dataset.from_rows(
        matrix,
        _grades(values["grades"], place) if "grades" in values else None,
        row_names(values["qid"], "qid", place) if sizes is None else _qids_of_sizes(sizes, rows, source),
        names,
        doc_ids=row_names(values["doc_id"], "doc_id", place) if "doc_id" in values else None,
        weights=None if weights is None else _as_numbers(weights, "weight", place).astype(SCORE, copy=False),
        batches=row_names(values["batch"], "batch", place) if "batch" in values else None,
        positions=as_positions(values["positions"], place) if "positions" in values else None,
        source=source,
        categories=categories,
    )


def check_lengths(values: Mapping[str, npt.NDArray[Any]], rows: int, source: str) -> None:
    """Refuse a source without rows, and values of a role that are not one per row."""
    if rows == 0:
        raise DataError("there are no rows", place=source, value=0, remedy="Give at least one judged document")
    for role, array in values.items():
        if array.shape != (rows,):
            raise DataError(
                f"the shape is {array.shape}, but there {agreeing(rows, 'is')} {counted(rows, 'row')}",
                place=f"{source}, {role}",
                value=array.shape,
                remedy="Give one value per row",
            )


def group_sizes(group: npt.ArrayLike | AnyPath) -> Indices:
    """Group sizes given as numbers, or as the path of a file with one per line."""
    if isinstance(group, str | PathLike):
        return read_sizes(Path(group))
    sizes = _as_array(group, "group")
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf" or (sizes != np.floor(sizes)).any() or np.isinf(sizes).any():
        raise DataError("must list whole numbers, one per query", setting="group", value=sizes.tolist(), remedy=SIZES_REMEDY)
    beyond = np.flatnonzero(sizes >= 2.0**63)
    if len(beyond):  # int64 would wrap round
        size = int(sizes[beyond[0]])
        raise DataError(
            f"the size is {quoted(size)}", place=f"group {beyond[0]}", value=size, rule=SIZES_RULE, remedy=SIZES_REMEDY
        )
    return sizes.astype(np.int64)


def runs_of_sizes(sizes: Indices, rows: int, source: str) -> tuple[list[str], Indices]:
    """The qids ("1", "2", …) and lengths of queries from the number of rows of each, in order.

    A query without rows is left out, but counts.
    """
    check_sizes(sizes, rows, source)
    filled = np.flatnonzero(sizes)
    return [str(number) for number in (filled + 1).tolist()], sizes[filled]


def check_sizes(sizes: Indices, rows: int, source: str) -> None:
    """Refuse group sizes that do not add up to the rows."""
    odd = np.flatnonzero((sizes < 0) | (sizes > rows))  # before they are added up: the sum of huge sizes wraps round
    if len(odd):
        size = int(sizes[odd[0]])
        raise DataError(
            f"the size is {size}, but there {agreeing(rows, 'is')} {counted(rows, 'row')}",
            place=f"{source}, group {odd[0]}",
            value=size,
            rule=SIZES_RULE,
            remedy=SIZES_REMEDY,
        )
    if sizes.sum() != rows:
        raise DataError(
            f"the group sizes add up to {sizes.sum()}, but there {agreeing(rows, 'is')} {counted(rows, 'row')}",
            place=source,
            value=int(sizes.sum()),
            rule=SIZES_RULE,
            remedy=SIZES_REMEDY,
        )


def inexact_whole_number(numbers: npt.NDArray[Any]) -> int | None:
    """The position of the first float too large to tell one whole number from the next, as a float64 from 2^53 on is."""
    found = np.flatnonzero(np.abs(numbers) >= 2.0 ** (np.finfo(numbers.dtype).nmant + 1))
    return int(found[0]) if len(found) else None


def missing_value(role: str, place: str) -> DataError:
    """The error for a row without a grade, qid or another role."""
    what = role.removesuffix("s")  # roles are named as the settings of read: grades, positions
    return DataError(
        f"the {what} is missing",
        place=place,
        value=role,
        rule="Every row must have one",
        remedy="Fill it in, or remove the row",
    )


def inexact_name(role: str, name: float, kind: str, place: str) -> DataError:
    """The error for a qid or another name that is a float of a type (``kind``) that cannot tell it from its neighbours."""
    return DataError(
        f"the {role} {name} is a {kind} too large to be exact, so that different ones may have become the same",
        place=place,
        value=name,
        remedy="Give whole numbers or text",
    )


def _grades(values: npt.NDArray[Any], place: Callable[[int], str]) -> Grades:
    """Grades as numbers; missing ones are marked."""
    if values.dtype.kind in "OUT":
        values = _without_words(values, place)
    numbers = with_missing_marked(_as_numbers(values, "grade", place))
    with np.errstate(over="ignore"):
        grades = numbers.astype(GRADE, copy=False)
    bad = np.flatnonzero(~np.isfinite(grades))
    if len(bad):
        grade = numbers[bad[0]].item()
        raise DataError(
            f"the grade is {grade}", place=place(int(bad[0])), value=grade, rule="Grades must be finite as 32-bit floats"
        )
    bad = np.flatnonzero((numbers == np.rint(numbers)) & (numbers != grades))
    if len(bad):
        raise inexact_grade(place(int(bad[0])), int(numbers[bad[0]]))
    return grades


def _without_words(values: npt.NDArray[Any], place: Callable[[int], str]) -> npt.NDArray[Any]:
    """An array of objects whose absent values are NaN; refuses words, and lists them."""
    kept = [np.nan if is_no_grade(value) else value for value in values.tolist()]
    words = {
        value: row for row, value in reversed(list(enumerate(kept))) if isinstance(value, str) and number_in(value) is None
    }
    if words:
        first = min(words.values())
        raise words_without_map(sorted(words, key=words.__getitem__), place(first))
    return np.asarray(kept, object)


def _qids_of_sizes(sizes: Indices, rows: int, source: str) -> Strings:
    names, lengths = runs_of_sizes(sizes, rows, source)
    return np.repeat(np.asarray(names, TEXT), lengths)


def row_names(values: npt.NDArray[Any], role: str, place: Callable[[int], str]) -> Strings:
    """One name per row as text, of a role whose values must not be missing."""
    missing = _missing_rows(values)
    if len(missing):
        raise missing_value(role, place(int(missing[0])))
    if values.dtype.kind != "f":
        return as_text(values)
    inexact = inexact_whole_number(values)
    if inexact is not None:
        raise inexact_name(role, float(values[inexact]), str(values.dtype), place(inexact))
    return as_text(values.astype(np.int64) if (values == np.floor(values)).all() else values)  # "7", not "7.0"


def _missing_rows(values: npt.NDArray[Any]) -> Indices:
    if values.dtype.kind == "f":
        return np.flatnonzero(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(0, np.int64)
    return np.flatnonzero([is_absent(value) for value in values.tolist()])


def _dense(sparse: Any) -> npt.NDArray[Any]:
    rows, columns = sparse.shape
    needed, allowed = rows * columns * np.dtype(FEATURE).itemsize, memory_left()
    if needed > allowed.left:
        what = f"{rows} rows × {columns} features, made dense,"
        raise too_large("sparse matrix", what, needed, allowed, "Choose fewer features")
    return sparse.astype(FEATURE).toarray()


def _as_numbers(values: npt.NDArray[Any], what: str, place: Callable[[int], str]) -> npt.NDArray[Any]:
    if values.dtype.kind in "fiub":
        return values
    for row, value in enumerate(values.tolist()):
        try:
            float(value)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"the {what} {quoted(value)} is not a number", place=place(row), value=value, remedy="Give numbers"
            ) from error
    return np.asarray([float(value) for value in values.tolist()])


def _as_array(values: object, what: str) -> npt.NDArray[Any]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        kind = type(values).__name__
        raise DataError(
            f"a {kind} cannot be made an array ({error})", place=what, value=kind, remedy="Give rows of equal length"
        ) from error
    return array.astype(TEXT) if array.dtype.kind == "U" else array
