"""``write``: data as LETOR text, Parquet, Arrow IPC, CSV, TSV or qrels, by the suffix of the path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_rows
from rankinite.data.io.category_output import arrow_names, arrow_type, arrow_values, check_in_text_table, with_values
from rankinite.data.io.column_names import USUAL_NAMES
from rankinite.data.io.column_types import repeated_names
from rankinite.data.io.columns import is_row_number
from rankinite.data.io.formats import (
    ARROW,
    CSV,
    LETOR,
    PARQUET,
    QRELS,
    TSV,
    FileFormat,
    check_packing,
    written_format,
)
from rankinite.data.io.letor.files import write_letor
from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.position_files import write_positions
from rankinite.data.io.table_files import CATEGORIES_KEY, ROLES_KEY
from rankinite.data.io.text_files import AnyPath
from rankinite.data.io.trec_lines import write_qrels
from rankinite.engine.kernel import Features
from rankinite.errors import DataError, quoted

ROW_GROUP = 1 << 16
"""Rows written, and later read, together."""
ROLE_COLUMNS = {
    "qid": "qid",
    "grades": "grade",
    "doc_id": "doc_id",
    "weight": "weight",
    "batch": "batch",
    "positions": "position",
}


def write(data: Dataset, path: AnyPath) -> None:
    """Write data in the format of the suffix: .parquet, .arrow, .csv, .tsv, .qrels; any other is LETOR text. Text is compressed
    if .gz, .zst or .xz is added.

    The file is written completely or not at all. Preferences are not written; LETOR has no room for weights and batches, and
    needs grades; its positions go to a second file, PATH.position, as LightGBM has it; qrels hold the judgements alone
    (:func:`write_qrels`). The other formats have no grade column where nobody judged the rows. CSV and TSV files do not say
    which column holds positions: read them with ``positions="position"``.

    Categories are written by name, in LETOR text by value, which only whole numbers have. Parquet and Arrow files state which
    features are categories. Text tables do not: whole numbers must be named with ``categories`` to be read as such again.
    """
    path = Path(path)
    file_format = written_format(path)
    check_packing(path, file_format)
    _writers()[file_format](data, path)


def _writers() -> dict[FileFormat, Callable[[Dataset, Path], None]]:
    return {
        LETOR: _write_letor,
        QRELS: lambda data, path: write_qrels(path, data),
        PARQUET: write_parquet,
        ARROW: write_arrow,
        CSV: partial(write_csv, separator=","),
        TSV: partial(write_csv, separator="\t"),
    }


def _write_letor(data: Dataset, path: Path) -> None:
    valued = with_values(data, path)
    write_positions(data, path)
    write_letor(valued, path)


def write_parquet(data: Dataset, path: AnyPath) -> None:
    """Write one float32 column per number, uncompressed and without dictionaries, which is the fastest to read."""
    schema = schema_of(data)
    texts: Any = [name for name in schema.names if not pa.types.is_primitive(schema.field(name).type)]
    with (
        write_atomically(Path(path)) as stream,
        pq.ParquetWriter(stream, schema, use_dictionary=texts, compression="none", write_statistics=False) as writer,
    ):
        for batch in batches_of(data, schema):
            writer.write_batch(batch, row_group_size=ROW_GROUP)


def write_arrow(data: Dataset, path: AnyPath) -> None:
    """Write an Arrow IPC file, which is also Feather version 2."""
    schema = schema_of(data)
    with write_atomically(Path(path)) as stream, pa.ipc.new_file(stream, schema) as writer:
        for batch in batches_of(data, schema):
            writer.write_batch(batch)


def write_csv(data: Dataset, path: AnyPath, separator: str = ",") -> None:
    """Write a header and one line per row; missing values are empty fields."""
    usual = {name for names in USUAL_NAMES.values() for name in names}
    taken = [name for name in data.feature_names if name.lower() in usual or is_row_number(name)]
    if taken:
        raise DataError(
            f"feature {quoted(taken[0])} would be read back as something else",
            place=path,
            value=taken[0],
            rule="A text table cannot state the roles of its columns",
            remedy="Rename it with rename_features, or write Parquet",
            shell_remedy="Write Parquet, or leave it out with `ignore=…`",
        )
    check_in_text_table(data, path)
    schema = schema_of(data, plain=True)
    options = pyarrow.csv.WriteOptions(delimiter=separator)
    with write_atomically(Path(path)) as stream, pyarrow.csv.CSVWriter(stream, schema, write_options=options) as writer:
        for batch in batches_of(data, schema, nan_is_null=True):
            writer.write_batch(batch)


def schema_of(data: Dataset, *, plain: bool = False) -> Any:
    """The columns: the roles the data fills, then the features; the metadata state the role of each column.

    ``plain``: categories are no dictionaries.
    """
    check_rows(data)
    repeated = repeated_names(data.feature_names)
    if repeated:
        raise DataError(
            f"feature {quoted(repeated[0])} appears twice",
            place=data.source,
            value=repeated[0],
            remedy="Rename it with rename_features",
            shell_remedy="Rename it in the data",
        )
    kinds = {"qid": pa.string()}
    kinds |= {"grades": pa.float32()} if data.judged else {}
    kinds |= {"doc_id": pa.string()} if data.doc_ids is not None else {}
    kinds |= {"weight": pa.float64()} if data.weights is not None else {}
    kinds |= {"batch": pa.string()} if data.batches is not None else {}
    kinds |= {"positions": pa.int32()} if data.positions is not None else {}
    roles: dict[str, str] = {}
    for role in kinds:
        roles[role] = ROLE_COLUMNS[role]
        while roles[role] in data.feature_names:  # a feature may be called "weight"
            roles[role] = f"_{roles[role]}"
    fields = [pa.field(roles[role], kind) for role, kind in kinds.items()]
    kinds = {name: arrow_type(vocabulary, plain=plain) for name, vocabulary in data.categories.items()}
    fields += [pa.field(name, kinds.get(name, pa.float32())) for name in data.feature_names]
    stated = {ROLES_KEY: json.dumps(roles).encode()}
    if data.categories:
        stated[CATEGORIES_KEY] = json.dumps(list(data.categories)).encode()
    return pa.schema(fields, metadata=stated)


def batches_of(data: Dataset, schema: Any, nan_is_null: bool = False) -> Iterator[Any]:
    """The rows as Arrow batches with the columns of the schema."""
    query_of_row = data.query_of_row()
    roles: dict[str, str] = json.loads(schema.metadata[ROLES_KEY])
    names = {name: arrow_names(vocabulary) for name, vocabulary in data.categories.items()}

    def feature(name: str, column: Features) -> Any:
        if name not in names:
            return pa.array(column, from_pandas=nan_is_null)
        return arrow_values(column, schema.field(name).type, names[name])

    for first in range(0, data.rows, ROW_GROUP):
        rows = slice(first, first + ROW_GROUP)
        query = query_of_row[rows]
        values = {
            "qid": data.qids[query],
            "grades": data.grades[rows],
            "doc_id": None if data.doc_ids is None else data.doc_ids[rows],
            "weight": None if data.weights is None else data.weights[query],
            "batch": None if data.batches is None else data.batches[query],
            "positions": None if data.positions is None else data.positions[rows],
        }
        sides = [_arrow(values[role]) for role in roles]
        columns = np.ascontiguousarray(data.features[rows].T)
        yield pa.record_batch([*sides, *map(feature, data.feature_names, columns)], schema=schema)


def _arrow(values: Any) -> Any:
    return pa.array(values.tolist(), pa.string()) if values.dtype.kind == "T" else pa.array(values)
