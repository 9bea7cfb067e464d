"""Arrow columns as plain arrays: in one chunk, without a dictionary."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute

pc: Any = pyarrow.compute  # its functions are made at run time, so no type checker knows them


def plain(column: Any) -> Any:
    """One array without a dictionary, of a kind of text that can be compared."""
    if isinstance(column, pa.ChunkedArray):
        chunks = [plain(chunk) for chunk in column.chunks]
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
    if pa.types.is_dictionary(column.type):
        return plain(column.dictionary).take(column.indices)
    return pc.cast(column, pa.string()) if pa.types.is_string_view(column.type) else column
