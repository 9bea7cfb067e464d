"""Table files read some rows at a time: Arrow IPC and Feather by record batches, CSV and TSV by blocks.

Parquet files are read by row groups in any case (``table_files``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from rankinite.data.io.column_types import is_text
from rankinite.data.io.formats import ARROW, PARQUET
from rankinite.data.io.table_files import (
    arrow_reader,
    broken_csv,
    broken_files,
    csv_input,
    csv_options,
    described_table,
    in_file,
    named_table,
    open_parquet,
    place_in_csv,
)
from rankinite.data.io.tables import BATCH, UNCOUNTED, LazyTable, Piece, check_columns, merged_types, path_name
from rankinite.errors import DataError, cut, quoted


def stream_arrow(paths: Sequence[Path]) -> LazyTable:
    """Arrow IPC files or streams and Feather files with the same columns; a file is a piece, loaded batch by batch."""
    schemas: list[Any] = []
    for path in paths:
        with broken_files(path, "Arrow IPC"), arrow_reader(path) as reader:
            schemas.append(reader.schema)
        check_columns(schemas[0].names, schemas[-1].names, str(paths[0]), str(path))
    files = zip(paths, schemas, strict=True)
    pieces = [Piece(UNCOUNTED, partial(_arrow_batches, path, schema.names), str(path)) for path, schema in files]
    return described_table(paths, schemas, pieces)


def _arrow_batches(path: Path, names: Sequence[str], columns: Sequence[str]) -> Iterator[Any]:
    options = pa.ipc.IpcReadOptions(included_fields=[names.index(column) for column in columns])
    with broken_files(path, "Arrow IPC"), arrow_reader(path, options) as reader:
        for batch in _record_batches(reader):
            batch.validate(full=True)  # a damaged file could otherwise point outside its own bytes
            for first in range(0, batch.num_rows, BATCH):
                yield batch.select(list(columns)).slice(first, BATCH)


def _record_batches(reader: Any) -> Iterator[Any]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from reader


def stream_csv(paths: Sequence[Path], separator: str, header: bool, names: Mapping[str, str]) -> LazyTable:
    """Comma- or tab-separated files, as ``open_csv`` has them; a file is a piece, loaded block by block.

    The first block of a file tells the types of its columns.
    """
    schemas: list[Any] = []
    pieces: list[Piece] = []
    texts = {in_file(column, header): pa.string() for column in names.values()}
    for path in paths:
        with _csv_reader(path, separator, header, column_types=texts) as reader:
            schema = named_table(reader.schema.empty_table(), header, {}).schema
        schemas.append(schema)
        check_columns(schemas[0].names, schema.names, str(paths[0]), str(path))
        load = partial(_csv_batches, path, separator, header, names, schema)
        pieces.append(Piece(UNCOUNTED, load, str(path), partial(place_in_csv, path, separator, header)))
    return LazyTable(merged_types(schemas), pieces, path_name(paths))


@contextmanager
def _csv_reader(path: Path, separator: str, header: bool, **conversion: Any) -> Generator[Any]:
    """Arrow's reader of the blocks of one file; ``conversion``: how columns are converted."""
    options = csv_options(path, separator, header)
    converted = pyarrow.csv.ConvertOptions(**conversion)
    with (
        csv_input(path) as content,
        broken_csv(path, separator),
        pyarrow.csv.open_csv(content, **options, convert_options=converted) as reader,
    ):
        yield reader


def _csv_batches(
    path: Path, separator: str, header: bool, names: Mapping[str, str], schema: Any, columns: Sequence[str]
) -> Iterator[Any]:
    """The named columns of one file; those that are not text are numbers."""
    chosen = columns or schema.names[:1]  # Arrow takes an empty list for all columns
    texts = {*names.values(), *(() if columns else chosen)}
    types = {column: pa.string() if column in texts else _cell_type(schema.field(column).type) for column in chosen}
    in_files = {in_file(column, header): kind for column, kind in types.items()}
    with _csv_reader(path, separator, header, column_types=in_files, include_columns=list(in_files)) as reader:
        try:
            for batch in reader:
                yield named_table(pa.Table.from_batches([batch]), header, names).select(list(columns))
        except pa.ArrowInvalid as error:
            found = re.match(r"In CSV column #(\d+): (.*)", str(error), re.DOTALL)
            if found is None:
                raise
            raise _unlike_the_first_block(path, schema.names[int(found[1])], found[2]) from error


def _cell_type(kind: Any) -> Any:
    """The type to read a column as whose first block has this one: later blocks may have decimals, or values at all.

    Whole numbers beyond 2^53 are thus rounded twice on their way to 32 bits, where a file that is read as a whole, and has
    nothing else in the column, has them rounded once; they may differ in the last bit.
    """
    return kind if pa.types.is_boolean(kind) or is_text(kind) else pa.float64()


def _unlike_the_first_block(path: Path, column: str, reason: str) -> DataError:
    return DataError(
        f"column {quoted(column)} holds something else than in its first rows ({cut(reason.strip())})",
        place=path,
        value=column,
        rule="Where CSV files are read some rows at a time, the first rows tell what a column holds",
        remedy=f"Write the data as Parquet, leave the column out with `ignore={[column]!r}`, or, if it holds categories, pass "
        f"`categories={[column]!r}`",
    )


STREAM_OPENERS: dict[str, Callable[[Sequence[Path]], LazyTable]] = {PARQUET.name: open_parquet, ARROW.name: stream_arrow}
"""The formats whose files describe their columns."""
