"""Frame columns: data as an Arrow table, and what such a table, or a pandas frame made of it, states of its columns.

Reading finds the query and the grade of a frame by their usual names. A table of ours also states them, so that a feature that
is called ``weight`` stays a feature, and positions are found. What is stated of a column that is gone does not count.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa

from rankinite.data.dataset import Dataset
from rankinite.data.io.columns import USUAL_NAMES
from rankinite.data.io.table_files import ROLES_KEY
from rankinite.data.io.writing import batches_of, schema_of
from rankinite.frames import FRAME_KEY

FEATURES_KEY = b"rankinite.features"
"""The features whose names are those that a query, a grade and so on usually have."""


def table_of(data: Dataset) -> Any:
    """The data as an Arrow table; all categories are dictionaries, so that a frame of it has them too."""
    schema = schema_of(data)
    for name in data.categories:
        kind = schema.field(name).type
        if not pa.types.is_dictionary(kind):
            schema = schema.set(schema.get_field_index(name), pa.field(name, pa.dictionary(pa.int32(), kind)))
    usual = {name for names in USUAL_NAMES.values() for name in names}
    stated = [name for name in data.feature_names if name.lower() in usual]
    metadata = {ROLES_KEY: schema.metadata[ROLES_KEY], FEATURES_KEY: json.dumps(stated).encode()}
    schema = schema.with_metadata(metadata)
    return pa.Table.from_batches(batches_of(data, schema), schema)


@dataclass(frozen=True)
class StatedColumns:
    """What a table in memory states of its columns."""

    roles: dict[str, str]
    """Role → column."""
    features: tuple[str, ...]
    """Features that would be taken for something else by their names."""


def stated_columns(frame: Any) -> StatedColumns:
    """What an Arrow table or a pandas frame states; nothing if it is not one of ours."""
    stated = _stated(frame)
    roles, features = _parsed(stated.get(ROLES_KEY)), _parsed(stated.get(FEATURES_KEY))
    present = set(map(str, frame.columns if _is_pandas(frame) else frame.column_names)) if stated else set[str]()
    known = cast("dict[Any, Any]", roles if isinstance(roles, dict) else {})
    names = cast("list[Any]", features if isinstance(features, list) else [])
    return StatedColumns(
        {role: column for role, column in known.items() if role in USUAL_NAMES and column in present},
        tuple(name for name in names if name in present),
    )


def _stated(frame: Any) -> dict[bytes, Any]:
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame.schema.metadata or {}
    entry: Any = frame.attrs.get(FRAME_KEY) if _is_pandas(frame) else None
    return {str(key).encode(): value for key, value in cast("dict[Any, Any]", entry).items()} if isinstance(entry, dict) else {}


def _is_pandas(frame: Any) -> bool:
    pandas: Any = sys.modules.get("pandas")  # not loaded to find out
    return pandas is not None and isinstance(frame, pandas.DataFrame)


def _parsed(text: Any) -> Any:
    """What users do to the notes of a frame is no reason not to read it."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
