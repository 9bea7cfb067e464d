"""Arrow columns as plain arrays, in one chunk and without a dictionary, and as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from rankinite.data.grouping import TEXT
from rankinite.engine.kernel import Strings

pc: Any = pyarrow.compute  # its functions are made at run time, so no type checker knows them


def plain(column: Any) -> Any:
    """One array without a dictionary, of a kind of text that can be compared."""
    if isinstance(column, pa.ChunkedArray):
        chunks = [plain(chunk) for chunk in column.chunks]
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    if pa.types.is_dictionary(column.type):
        return plain(column.dictionary).take(column.indices)
    return pc.cast(column, pa.string()) if pa.types.is_string_view(column.type) else column


def text(column: Any) -> Strings:
    """An Arrow column of any type as text: 7 and 7.0 are both "7". Nulls are the caller's to refuse."""
    array = plain(column)
    if pa.types.is_floating(array.type) and pc.all(pc.equal(pc.floor(array), array)).as_py():
        array = pc.cast(array, pa.int64())
    if len(array) == 0:
        return np.zeros(0, TEXT)
    # Rows of a query are mostly adjacent, so a Python string is made only where the value changes.
    changes = pc.not_equal(array.slice(1), array.slice(0, len(array) - 1)).to_numpy(zero_copy_only=False)
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    names = np.asarray(pc.cast(array.take(pa.array(starts)), pa.string()).to_pylist(), TEXT)
    return np.repeat(names, np.diff(np.concatenate((starts, [len(array)]))))


def numbers(column: Any, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """A numeric Arrow column as a NumPy array of the dtype asked for; nulls become NaN."""
    array = plain(column)
    array = pc.cast(array, pa.from_numpy_dtype(np.dtype(kind)), safe=False)
    return array.to_numpy(zero_copy_only=False)
