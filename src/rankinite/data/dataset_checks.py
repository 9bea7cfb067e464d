"""Checks of data sets: arrays that fit together, as kernels write where offsets point without checking them, and grades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankinite.data.grouping import distinct
from rankinite.engine.kernel import Positions
from rankinite.errors import DataError, quoted
from rankinite.plurals import counted

LEAST_WEIGHT, MOST_WEIGHT = 1e-100, 1e100
"""Bounds of weights above 0: gradients are multiplied by the weight, squared and added up, in 64-bit floats."""

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


def check_dataset(data: Dataset) -> None:
    """Refuse arrays that do not fit together, or hold values that nothing can be computed from."""
    _check_shape(data, "features", (data.grades.size, len(data.feature_names)))
    for name, vocabulary in data.categories.items():
        if data.feature_names.count(name) != 1:
            raise DataError(
                f"{data.feature_names.count(name)} features are called {quoted(name)}, which has a vocabulary",
                place=data.source,
                value=name,
                rule="A vocabulary belongs to one feature",
                remedy="Give categories for features of the data, whose names differ",
            )
        column = data.features[:, data.feature_names.index(name)]
        codes = column[~np.isnan(column)]
        if len(codes) and not (codes.min() >= 0 and codes.max() < len(vocabulary) and (np.floor(codes) == codes).all()):
            wrong = codes[~((codes >= 0) & (codes < len(vocabulary)) & (np.floor(codes) == codes))]
            raise DataError(
                f"the code {wrong[0]:g} is no category",
                place=f"{data.source}, feature {quoted(name)}",
                value=float(wrong[0]),
                rule=f"Codes are whole numbers from 0 to {len(vocabulary) - 1}, or NaN",
                remedy="Let rankinite.read make the codes, with `categories`",
            )
    check_queries(data)


def check_queries(data: Dataset) -> None:
    """The same of all but the features."""
    rows, queries = data.grades.size, data.qids.size
    lengths = {"grades": rows, "qids": queries, "offsets": queries + 1, "doc_ids": rows, "weights": queries, "batches": queries}
    for name, length in (lengths | {"input_row": rows, "positions": rows}).items():
        _check_shape(data, name, (length,))

    offsets = data.offsets
    inside = bool(((offsets >= 0) & (offsets <= rows)).all())
    # Neighbours are compared, not subtracted: the difference of two huge numbers wraps round.
    if offsets[0] != 0 or offsets[-1] != rows or not inside or not (offsets[:-1] < offsets[1:]).all():
        raise DataError(
            f"the offsets {quoted(offsets.tolist())} do not divide {counted(rows, 'row')} into queries",
            place=f"{data.source}, offsets",
            value=offsets.tolist(),
            rule=f"They must rise from 0 to {rows}, the number of rows, without an empty query",
        )

    names, counts = distinct(data.qids)
    if len(names) < queries:
        repeated = str(names[counts > 1][0])
        raise DataError(
            f"query {quoted(repeated)} appears twice", place=data.source, value=repeated, rule="Query ids must differ"
        )

    if data.weights is not None:
        bad = np.flatnonzero(~((data.weights == 0) | ((data.weights >= LEAST_WEIGHT) & (data.weights <= MOST_WEIGHT))))
        if len(bad):
            raise DataError(
                f"the weight is {data.weights[bad[0]]:g}",
                place=f"{data.source}, query {quoted(str(data.qids[bad[0]]))}",
                value=float(data.weights[bad[0]]),
                rule=f"Weights must be finite and not negative: 0, or from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, so that their "
                "sums and squares are finite too",
                remedy="Divide all of them by one number",
            )

    if data.preferences is not None:
        data.preferences.check(data.query_of_row())

    bad = np.flatnonzero(~np.isfinite(data.grades))
    if len(bad):
        grade = float(data.grades[bad[0]])
        raise DataError(
            f"the grade is {grade}", place=f"{data.source}, row {bad[0]}", value=grade, rule="Grades must be finite numbers"
        )
    if not data.judged and data.grades.any():
        row = int(np.flatnonzero(data.grades)[0])
        raise DataError(
            f"the grade is {data.grades[row]:g}, but the data are not judged",
            place=f"{data.source}, row {row}",
            value=float(data.grades[row]),
            rule="Grades are 0 where nobody judged the rows",
            remedy="Pass `judged=True` too, or leave the grades out with `without_grades()`",
        )


def _check_shape(data: Dataset, name: str, shape: tuple[int, ...]) -> None:
    array = getattr(data, name)
    if array is not None and array.shape != shape:
        raise DataError(
            f"the shape is {array.shape}", place=f"{data.source}, {name}", value=array.shape, rule=f"It must be {shape}"
        )


def whole_positions(positions: npt.NDArray[Any], source: str) -> Positions:
    """Positions as 32-bit whole numbers; refuses others, and those below 1."""
    array = np.asarray(positions)
    if array.dtype == np.int32 and not (array < 1).any():
        return np.ascontiguousarray(array)
    numbers = array.astype(np.float64)
    bad = np.flatnonzero(~((numbers >= 1) & (numbers < 2.0**31) & (numbers == np.floor(numbers))))
    if len(bad):
        raise DataError(
            f"the position is {numbers.flat[bad[0]]:g}",
            place=f"{source}, row {bad[0]}",
            value=float(numbers.flat[bad[0]]),
            rule="Positions are whole numbers from 1 on, 1 for the document shown first, and every row has one",
            remedy="Number the shown documents of each query 1, 2, 3, …",
        )
    return numbers.astype(np.int32)


def check_judged(data: Dataset) -> None:
    """Refuse data without grades, where something is to be learnt from grades or measured by them."""
    if not data.judged:
        raise DataError(
            "its rows have no grades",
            place=data.source,
            value=False,
            rule="Rows that nobody judged can be scored, and distilled from, but not learnt from or evaluated on",
            remedy="Give judged data; if a column holds the grades, read them with `grades='…'`",
        )


def check_rows(data: Dataset) -> None:
    """Refuse to write data without rows, which no reader would take."""
    if data.rows == 0:
        raise DataError(
            "there are no rows",
            place=data.source,
            value=0,
            rule="A file without rows cannot be read back",
            remedy="Select at least one row",
        )
