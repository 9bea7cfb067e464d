"""Judged data from rows in memory: a feature matrix, and one value a row for each role."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import TEXT, as_text
from rankinite.data.io.text_files import AnyPath, read_sizes
from rankinite.engine.kernel import FEATURE, GRADE, SCORE, Features, Indices, Strings
from rankinite.engine.memory import memory_left, too_large
from rankinite.errors import DataError

SIZES_RULE = (
    "Sizes must be whole numbers from 0 on that add up to the rows; check that the group file belongs to this data, or pass "
    "qid= instead."
)


def is_sparse(source: object) -> bool:
    """Whether this is a SciPy sparse matrix, told without loading SciPy where nobody has."""
    sparse: Any = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(source))


def matrix_of(source: object) -> Features:
    """A float32 matrix of our own from a NumPy array, nested lists or a SciPy sparse matrix."""
    if is_sparse(source):
        source = _dense(cast(Any, source))
    array = _as_array(source, "features")
    if array.ndim == 0:
        raise DataError(
            f"A {type(source).__name__} cannot be read. Give a path or several, a table (pandas, polars, PyArrow; collect() a "
            "lazy one first), or a matrix of rows × features."
        )
    if array.ndim != 2:
        raise DataError(
            f"The features have the shape {array.shape}. They must be a matrix of rows × features; use reshape(-1, 1) for one "
            "feature."
        )
    if array.dtype.kind not in "fiub":
        raise DataError(f"The features are of type {array.dtype}. They must be numbers; convert them, or pass a table.")
    with np.errstate(over="ignore"):  # numbers beyond float32 become infinite here, and the infinite= option decides
        return np.array(array, FEATURE, order="C")


def rows_to_data(
    matrix: Features,
    names: Sequence[str],
    values: Mapping[str, npt.NDArray[Any]],
    sizes: Indices | None,
    *,
    source: str,
    place: Callable[[int], str],
) -> Dataset:
    """Group rows into queries by the qid of each row, or by group sizes; ``values`` maps a role to one value a row."""
    rows = len(matrix)
    if rows == 0:
        raise DataError(f"{source}: there are no rows. Give at least one judged document.")
    for role, array in values.items():
        if array.shape != (rows,):
            raise DataError(f"{source}: {role} has shape {array.shape} but there are {rows} rows. Give one value a row.")
    given = _as_numbers(values["grades"], "grades", place)
    with np.errstate(over="ignore"):
        grades = given.astype(GRADE)
    bad = np.flatnonzero(~np.isfinite(grades))
    if len(bad):
        raise DataError(f"{place(int(bad[0]))}: the grade is {values['grades'][bad[0]]}. Grades must be finite numbers.")
    bad = np.flatnonzero((given == np.rint(given)) & (given != grades))
    if len(bad):
        raise DataError(
            f"{place(int(bad[0]))}: the whole grade {given[bad[0]]:.0f} becomes another number as a 32-bit float. Such floats "
            "have all whole numbers up to 16777216; map the grades to smaller ones."
        )
    weights = values.get("weight")
    return Dataset.from_rows(
        matrix,
        grades,
        _row_names(values["qid"], "qid", place) if sizes is None else _qids_of_sizes(sizes, rows, source),
        names,
        doc_ids=_row_names(values["doc_id"], "doc_id", place) if "doc_id" in values else None,
        weights=None if weights is None else _as_numbers(weights, "weight", place).astype(SCORE),
        batches=_row_names(values["batch"], "batch", place) if "batch" in values else None,
        source=source,
    )


def group_sizes(group: npt.ArrayLike | AnyPath) -> Indices:
    """Group sizes given as numbers, or as the path of a file with one a line."""
    if isinstance(group, str | PathLike):
        return read_sizes(Path(group))
    sizes = _as_array(group, "group")
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf" or (sizes != np.floor(sizes)).any() or np.isinf(sizes).any():
        raise DataError(f"group= has shape {sizes.shape} and type {sizes.dtype}. It must list whole numbers, one a query.")
    beyond = np.flatnonzero(sizes >= 2.0**63)
    if len(beyond):  # int64 would wrap round
        raise DataError(f"group= has size {sizes[beyond[0]]} at {beyond[0]}. {SIZES_RULE}")
    return sizes.astype(np.int64)


def runs_of_sizes(sizes: Indices, rows: int, source: str) -> tuple[list[str], Indices]:
    """The qids ("1", "2", …) and lengths of queries from the number of rows of each, in order.

    A query without rows is left out, but counts.
    """
    odd = np.flatnonzero((sizes < 0) | (sizes > rows))  # before they are added up: the sum of huge sizes wraps round
    if len(odd):
        raise DataError(f"{source}: group {odd[0]} has size {sizes[odd[0]]}, but there are {rows} rows. {SIZES_RULE}")
    if sizes.sum() != rows:
        raise DataError(f"{source}: the group sizes add up to {sizes.sum()} but there are {rows} rows. {SIZES_RULE}")
    filled = np.flatnonzero(sizes)
    return [str(number) for number in (filled + 1).tolist()], sizes[filled]


def inexact_whole_number(numbers: npt.NDArray[Any]) -> int | None:
    """The position of the first float too large to tell one whole number from the next, as a float64 from 2^53 on is."""
    found = np.flatnonzero(np.abs(numbers) >= 2.0 ** (np.finfo(numbers.dtype).nmant + 1))
    return int(found[0]) if len(found) else None


def _qids_of_sizes(sizes: Indices, rows: int, source: str) -> Strings:
    names, lengths = runs_of_sizes(sizes, rows, source)
    return np.repeat(np.asarray(names, TEXT), lengths)


def _row_names(values: npt.NDArray[Any], role: str, place: Callable[[int], str]) -> Strings:
    """One name a row as text, of a role whose values must not be missing."""
    missing = _missing_rows(values)
    if len(missing):
        where = place(int(missing[0]))
        raise DataError(f"{where}: the {role} is missing. Every row must have one; fill it in, or remove the row.")
    if values.dtype.kind != "f":
        return as_text(values)
    inexact = inexact_whole_number(values)
    if inexact is not None:
        raise DataError(
            f"{place(inexact)}: the {role} {values[inexact]} is a {values.dtype} too large to be exact, so that different ones "
            "may have become the same. Give whole numbers or text."
        )
    return as_text(values.astype(np.int64) if (values == np.floor(values)).all() else values)  # "7", not "7.0"


def _missing_rows(values: npt.NDArray[Any]) -> Indices:
    if values.dtype.kind == "f":
        return np.flatnonzero(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(0, np.int64)
    told = ("nan", "<NA>", "NaT")  # as float, pandas and NumPy write what is missing
    return np.flatnonzero([value is None or (not isinstance(value, str) and str(value) in told) for value in values.tolist()])


def _dense(sparse: Any) -> npt.NDArray[Any]:
    rows, columns = sparse.shape
    needed, allowed = rows * columns * np.dtype(FEATURE).itemsize, memory_left()
    if needed > allowed.left:
        what = f"{rows} rows × {columns} features, made dense,"
        raise too_large("sparse matrix", what, needed, allowed, "Choose fewer features.")
    return sparse.astype(FEATURE).toarray()


def _as_numbers(values: npt.NDArray[Any], role: str, place: Callable[[int], str]) -> npt.NDArray[Any]:
    if values.dtype.kind in "fiub":
        return values
    for row, value in enumerate(values.tolist()):
        try:
            float(value)
        except (TypeError, ValueError) as error:
            raise DataError(f"{place(row)}: {role} {value!r} is not a number. Give numbers.") from error
    return np.asarray([float(value) for value in values.tolist()])


def _as_array(values: object, what: str) -> npt.NDArray[Any]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        kind = type(values).__name__
        raise DataError(f"{what}: a {kind} that is no array ({error}). Give rows of equal length.") from error
    return array.astype(TEXT) if array.dtype.kind == "U" else array
