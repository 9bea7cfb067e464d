"""Judged data from rows in memory: a feature matrix, and one value a row for each role."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import TEXT, as_text
from rankinite.data.text_files import AnyPath, read_sizes
from rankinite.errors import DataError
from rankinite.kernel import FEATURE, GRADE, SCORE, Features, Indices, Strings


def matrix_of(source: object) -> Features:
    """A float32 matrix of our own from a NumPy array, nested lists or a SciPy sparse matrix."""
    if scipy.sparse.issparse(source):
        source = cast(Any, source).astype(FEATURE).toarray()
    array = _as_array(source, "features")
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
    grades = _as_numbers(values["grades"], "grades", place).astype(GRADE)
    bad = np.flatnonzero(~np.isfinite(grades))
    if len(bad):
        raise DataError(f"{place(int(bad[0]))}: the grade is {values['grades'][bad[0]]}. Grades must be finite numbers.")
    weights = values.get("weight")
    return Dataset.from_rows(
        matrix,
        grades,
        _row_qids(values["qid"], place) if sizes is None else qids_of_sizes(sizes, rows, source),
        names,
        doc_ids=_as_names(values.get("doc_id")),
        weights=None if weights is None else _as_numbers(weights, "weight", place).astype(SCORE),
        batches=_as_names(values.get("batch")),
        source=source,
    )


def group_sizes(group: npt.ArrayLike | AnyPath) -> Indices:
    """Group sizes given as numbers, or as the path of a file with one a line."""
    if isinstance(group, str | PathLike):
        return read_sizes(Path(group))
    sizes = _as_array(group, "group")
    if sizes.ndim != 1 or sizes.dtype.kind not in "iuf" or (sizes != np.floor(sizes)).any():
        raise DataError(f"group= has shape {sizes.shape} and type {sizes.dtype}. It must list whole numbers, one a query.")
    return sizes.astype(np.int64)


def qids_of_sizes(sizes: Indices, rows: int, source: str) -> Strings:
    """One qid a row ("1", "2", …) from the number of rows of each query, in order."""
    if len(sizes) and sizes.min() < 0:
        raise DataError(f"{source}: group {int(np.argmin(sizes))} has size {sizes.min()}. Sizes must not be negative.")
    if sizes.sum() != rows:
        raise DataError(
            f"{source}: the group sizes add up to {sizes.sum()} but there are {rows} rows. They must add up to the rows; "
            "check that the group file belongs to this data, or pass qid= instead."
        )
    return np.repeat(as_text(np.arange(1, len(sizes) + 1)), sizes)


def _row_qids(qids: npt.NDArray[Any], place: Callable[[int], str]) -> Strings:
    if qids.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(qids))
        if not len(missing) and (qids == np.floor(qids)).all():
            return as_text(qids.astype(np.int64))  # "7", not "7.0"
    elif qids.dtype.kind == "O":
        missing = np.flatnonzero([qid is None or (isinstance(qid, float) and math.isnan(qid)) for qid in qids.tolist()])
    else:
        missing = np.zeros(0, np.int64)
    if len(missing):
        where = place(int(missing[0]))
        raise DataError(f"{where}: the qid is missing. Every row must have one; fill it in, or remove the row.")
    return as_text(qids)


def _as_names(values: npt.NDArray[Any] | None) -> Strings | None:
    return None if values is None else as_text(values)


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
