"""Categories as they are written: by name, or by value where they are whole numbers."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from rankinite.data.categories import MOST, WHOLE, Vocabulary, drop_unused_categories
from rankinite.data.dataset import Dataset
from rankinite.data.io.category_columns import coded_column, slip_among_numbers
from rankinite.data.io.columns import CategoryColumns
from rankinite.data.io.text_files import AnyPath
from rankinite.engine.kernel import FEATURE, Features
from rankinite.errors import DataError, quoted


def arrow_type(vocabulary: Vocabulary, *, plain: bool) -> Any:
    """The Arrow type of a category: integers, or text, as a dictionary unless it must be ``plain``."""
    if is_whole(vocabulary):
        return pa.int64()
    return pa.string() if plain else pa.dictionary(pa.int32(), pa.string())


def is_whole(vocabulary: Vocabulary) -> bool:
    """Whether the categories are whole numbers of 64 bits, as they are whenever ``read`` says that they are whole numbers."""
    return vocabulary.numeric and all(map(WHOLE.fullmatch, vocabulary.names))


def arrow_values(codes: Features, kind: Any, names: Any) -> Any:
    """Codes as an Arrow array of this type; ``names``: :func:`arrow_names` of the vocabulary."""
    missing = np.isnan(codes)
    indices = pa.array(np.where(missing, 0, codes).astype(np.int32), mask=missing)
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(indices, names)
    return names.take(indices)


def arrow_names(vocabulary: Vocabulary) -> Any:
    """The categories as an Arrow array of text, or of integers."""
    if is_whole(vocabulary):
        return pa.array([int(name) for name in vocabulary.names], pa.int64())
    return pa.array(vocabulary.names, pa.string())


def check_in_text_table(data: Dataset, path: AnyPath) -> None:
    """Refuse categories that would be read back from a CSV file as something else: "" as missing, "007" as 7."""
    for name, vocabulary in drop_unused_categories(data).categories.items():
        if is_whole(vocabulary):
            continue
        column, columns = _read_back(vocabulary), CategoryColumns((name,), frozenset(), written=True)
        lost = _first_lost(column, vocabulary, columns, name)
        if lost is not None:
            raise DataError(
                f"category {quoted(lost)} of feature {quoted(name)} would be read back as something else",
                place=path,
                value=lost,
                rule="In a text table an empty cell is missing, and what looks like a number is one",
                remedy="Write Parquet, which takes any text",
            )


def _read_back(vocabulary: Vocabulary) -> Any:
    """The categories as Arrow reads them from a CSV file."""
    stream = io.BytesIO()
    pyarrow.csv.write_csv(pa.table({"name": pa.array(vocabulary.names, pa.string()), "row": range(len(vocabulary))}), stream)
    stream.seek(0)
    # One block: the type of a column is that of all its values.
    options = pyarrow.csv.ReadOptions(block_size=max(1 << 10, len(stream.getbuffer()) + 1))
    return pyarrow.csv.read_csv(stream, read_options=options).column("name")


def _first_lost(column: Any, vocabulary: Vocabulary, columns: CategoryColumns, name: str) -> str | None:
    if not pa.types.is_string(column.type):
        return vocabulary.names[0] if vocabulary.names else None
    found = coded_column(column, name, columns, name, str, 0)
    slip = slip_among_numbers(found.vocabulary)
    if slip is not None:
        return slip
    codes = [None if np.isnan(code) else found.vocabulary.names[int(code)] for code in found.codes.tolist()]
    return next((name for name, code in zip(vocabulary.names, codes, strict=True) if name != code), None)


def with_values(data: Dataset, path: Path) -> Dataset:
    """The data with plain numbers for categories, as LETOR files have them; refused for text."""
    if not data.categories:
        return data
    for name, vocabulary in data.categories.items():
        wrong = [one for one in vocabulary.names if not vocabulary.numeric or abs(int(one)) >= MOST]
        if wrong:
            raise DataError(
                f"category {quoted(wrong[0])} of feature {quoted(name)} cannot be written to a LETOR file",
                place=path,
                value=wrong[0],
                rule="Its values are numbers, 32-bit floats where they are read",
                remedy="Write Parquet, Arrow, CSV or TSV, which have names of categories",
            )
    features = data.features.copy()
    for name, vocabulary in data.categories.items():
        column = data.feature_index(name)
        value_of = np.asarray([*map(int, vocabulary.names), np.nan], FEATURE)
        codes = features[:, column]
        features[:, column] = value_of[np.where(np.isnan(codes), len(vocabulary), codes).astype(np.int64)]
    return replace(data, features=features, categories={})
