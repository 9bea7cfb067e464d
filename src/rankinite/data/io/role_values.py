"""Values of the roles of a table: grades, queries, documents, weights and the like, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from rankinite.data.grades import GradeMap
from rankinite.data.io.arrays import inexact_name, inexact_whole_number, missing_value
from rankinite.data.io.arrow_columns import numbers, plain, text
from rankinite.data.io.column_types import holds_text
from rankinite.engine.kernel import SCORE
from rankinite.errors import DataError

pc: Any = pyarrow.compute  # its functions are made at run time, so no type checker knows them


def role_values(column: Any, role: str, source: str, place: Callable[[int], str], start: int) -> npt.NDArray[Any]:
    """The values of one role in a batch whose first row is row ``start`` of the table."""
    missing = pc.is_null(column, nan_is_null=True).to_numpy(zero_copy_only=False)
    if missing.any():
        raise missing_value(role, place(start + int(np.flatnonzero(missing)[0])))
    try:
        if role in ("weight", "positions"):
            return numbers(column, SCORE).copy()  # a view would keep the memory of the whole batch
        _refuse_inexact(column, role, place, start)
        return text(column)
    except (pa.ArrowException, ValueError) as error:
        raise DataError(
            f"the {role} column cannot be used ({error})",
            place=source,
            value=role,
            remedy=f"Name another with `{role}=…`",
            shell_remedy="Write the file again without it" if role in ("weight", "batch") else "",
        ) from error


def grade_values(column: Any, grade_map: GradeMap | None, place: Callable[[int], str], start: int) -> npt.NDArray[Any]:
    """The grades of a batch whose first row is row ``start`` of the table; NaN where there is none."""
    kind = column.type
    if grade_map is None:
        return numbers(column, SCORE).copy()  # a view would keep the memory of the whole batch

    def at(row: int) -> str:
        return place(start + row)

    if not holds_text(kind) and not (pa.types.is_boolean(kind) and grade_map.has_words):
        return grade_map.of_numbers(numbers(column, SCORE), at)
    array = plain(column)
    array = pc.if_else(array, "True", "False") if pa.types.is_boolean(kind) else pc.cast(array, pa.string())
    encoded = pc.fill_null(array, "").dictionary_encode()
    return grade_map.of_words(encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False), at)


def _refuse_inexact(column: Any, role: str, place: Callable[[int], str], start: int) -> None:
    array = plain(column)
    inexact = inexact_whole_number(array.to_numpy(zero_copy_only=False)) if pa.types.is_floating(array.type) else None
    if inexact is not None:
        raise inexact_name(role, float(array[inexact].as_py()), str(array.type), place(start + inexact))
