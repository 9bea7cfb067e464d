"""Table files: Parquet, Arrow IPC and Feather, CSV and TSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet as pq

from rankinite.data.io.column_names import USUAL_NAMES
from rankinite.data.io.column_types import repeated_names
from rankinite.data.io.format_detection import first_line
from rankinite.data.io.formats import ARROW, PARQUET
from rankinite.data.io.streams import open_bytes
from rankinite.data.io.tables import BATCH, LazyTable, Piece, check_columns, memory_table, merged_types, path_name
from rankinite.data.io.unpacking import compression
from rankinite.errors import DataError, listed, quoted
from rankinite.plurals import counted

pc: Any = pyarrow.compute  # its functions are made at run time, so no type checker knows them

ROLES_KEY = b"rankinite.roles"
"""Schema metadata in which our own files state the roles of their columns, as JSON."""
CATEGORIES_KEY = b"rankinite.categories"
"""Schema metadata in which our own files list the features that are categories, as JSON."""

LEAST_BLOCK, MOST_BLOCK = 1 << 20, 1 << 28
LINES_TOGETHER = 64
PAGES = 1 << 16
"""Bytes of a column of a Parquet file that are read at a time."""


def open_parquet(paths: Sequence[Path]) -> LazyTable:
    """Parquet files with the same columns; a row group is a piece."""
    pieces: list[Piece] = []
    schemas: list[Any] = []
    for path in paths:
        with broken_files(path, "Parquet"):
            metadata: Any = pq.read_metadata(path)
            schema: Any = metadata.schema.to_arrow_schema()
        schemas.append(schema)
        check_columns(schemas[0].names, schema.names, str(paths[0]), str(path))
        for group in range(metadata.num_row_groups):
            load = partial(_load_row_group, path, metadata, group)
            pieces.append(Piece(metadata.row_group(group).num_rows, load, str(path)))
    return described_table(paths, schemas, pieces)


def open_arrow(paths: Sequence[Path]) -> LazyTable:
    """Arrow IPC files or streams and Feather files with the same columns; a record batch of a file is a piece.

    A stream is loaded as a whole, as nothing tells where its batches begin.
    """
    pieces: list[Piece] = []
    schemas: list[Any] = []
    for path in paths:
        with broken_files(path, "Arrow IPC"), arrow_reader(path) as reader:
            schemas.append(reader.schema)
            if isinstance(reader, pa.ipc.RecordBatchFileReader):
                pieces += _record_batch_pieces(path, reader.schema.names)
            else:
                arrow = reader.read_all()
                arrow.validate(full=True)  # a damaged file could otherwise point outside its own bytes
                pieces += memory_table([(arrow, str(path), None)], str(path)).pieces
        check_columns(schemas[0].names, schemas[-1].names, str(paths[0]), str(path))
    return described_table(paths, schemas, pieces)


def _record_batch_pieces(path: Path, names: Sequence[str]) -> list[Piece]:
    """The record batches of a file. Only reading a batch tells how many rows it has, so one column of each is read."""
    with arrow_reader(path, pa.ipc.IpcReadOptions(included_fields=[0] if names else [])) as reader:
        counts = [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]
    return [
        Piece(rows, partial(_load_record_batch, path, names, number, rows), str(path)) for number, rows in enumerate(counts)
    ]


def _load_record_batch(path: Path, names: Sequence[str], number: int, rows: int, columns: Sequence[str]) -> Iterator[Any]:
    options = pa.ipc.IpcReadOptions(included_fields=[names.index(column) for column in columns], use_threads=False)
    with arrow_reader(path, options) as reader:
        batch = reader.get_batch(number)
        batch.validate(full=True)  # a damaged file could otherwise point outside its own bytes
        if batch.num_rows != rows:
            raise ValueError(f"record batch {number} had {rows} rows and has {batch.num_rows} by now")
        for first in range(0, rows, BATCH):
            yield batch.select(list(columns)).slice(first, BATCH)


def described_table(paths: Sequence[Path], schemas: Sequence[Any], pieces: Sequence[Piece]) -> LazyTable:
    """The table that several files make up; ``schemas``: one per file."""
    roles = _stated_roles(paths, schemas)
    stated = [name for path, schema in zip(paths, schemas, strict=True) for name in _categories_in(schema, path)]
    types, categories = merged_types(schemas), tuple(dict.fromkeys(stated))
    return LazyTable(types, pieces, path_name(paths), roles or {}, guess=roles is None, categories=categories)


def _categories_in(schema: Any, path: Path) -> list[str]:
    """The features that one file states to be categories."""
    text: bytes | None = (schema.metadata or {}).get(CATEGORIES_KEY)
    try:
        stated: Any = [] if text is None else json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise _bad_entry(path, CATEGORIES_KEY, f"they are not JSON ({problem})", None, "list columns") from problem
    names = cast("list[Any]", stated) if isinstance(stated, list) else [stated]
    wrong = [name for name in names if not isinstance(name, str) or name not in schema.names]
    if wrong:
        raise _bad_entry(path, CATEGORIES_KEY, f"they name {quoted(wrong[0])}, which is not a column", wrong[0], "list columns")
    return names


def open_csv(paths: Sequence[Path], separator: str, header: bool, names: Mapping[str, str]) -> LazyTable:
    """Comma- or tab-separated files with the same columns, compressed or not; without a header, the columns are 0, 1, …

    ``names`` maps the roles whose values are names to their columns, and so it does with columns that are called categories:
    007 is not 7 there, and NA is an ordinary name.
    """
    texts = {in_file(column, header): pa.string() for column in names.values()}
    parts: list[tuple[Any, str, Callable[[int], str] | None]] = []
    for path in paths:
        with csv_input(path) as content, broken_csv(path, separator):
            table = pyarrow.csv.read_csv(
                content,
                **csv_options(path, separator, header),
                convert_options=pyarrow.csv.ConvertOptions(column_types=texts),
            )
            table = named_table(table, header, names)
        parts.append((table, str(path), partial(place_in_csv, path, separator, header)))
    return memory_table(parts, path_name(paths))


def csv_options(path: Path, separator: str, header: bool) -> dict[str, Any]:
    """How Arrow is to cut a file into blocks, lines and fields."""
    return {
        "read_options": pyarrow.csv.ReadOptions(autogenerate_column_names=not header, block_size=_block_size(path)),
        "parse_options": pyarrow.csv.ParseOptions(delimiter=separator),
    }


def in_file(column: str, header: bool) -> str:
    """What Arrow calls a column: f0, f1, … in files without a header."""
    return column if header else f"f{column}"


def named_table(table: Any, header: bool, names: Mapping[str, str]) -> Any:
    """A table of Arrow's reader with our names of the columns, and with empty names of queries and batches as missing."""
    table = table if header else table.rename_columns([column.removeprefix("f") for column in table.column_names])
    columns = table.column_names
    for role, column in names.items():
        if role in ("qid", "batch") and column in columns:  # a document may have no name, a query must
            table = _with_blanks_missing(table, columns.index(column))
    return table


def _block_size(path: Path) -> int:
    """Bytes that the CSV reader takes at a time: several lines, else it makes one small piece per line of every column."""
    return max(LEAST_BLOCK, min(LINES_TOGETHER * len(first_line(path)), MOST_BLOCK))


def _with_blanks_missing(table: Any, at: int) -> Any:
    column = table.column(at)
    return table.set_column(at, table.column_names[at], pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column))


def place_in_csv(path: Path, separator: str, header: bool, row: int) -> str:
    """The ``file:line`` of a row counted from 0; for messages, as it reads the file again."""
    left, line = row + header, 1
    for fields, after in _rows_of_csv(path, separator):
        if fields and left == 0:
            return f"{path}:{line}"
        left -= bool(fields)  # blank lines are no rows
        line = after
    return f"{path}, row {row}"


def _rows_of_csv(path: Path, separator: str) -> Iterator[tuple[list[str], int]]:
    """Every row with the line after it, up to a field beyond what this reader takes; for messages, as it is slow."""
    with open_bytes(path) as stream, suppress(csv.Error):
        reader = csv.reader(io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline=""), delimiter=separator)
        for fields in reader:
            yield fields, reader.line_num + 1


def _load_row_group(path: Path, metadata: Any, group: int, columns: Sequence[str]) -> Iterator[Any]:
    # One file object per piece: Parquet readers may not be shared between threads. Pages are read as they are decoded: the
    # row group, which would otherwise be read first, is often the whole file.
    with pq.ParquetFile(path, metadata=metadata, memory_map=False, pre_buffer=False, buffer_size=PAGES) as file:
        yield from file.iter_batches(BATCH, row_groups=[group], columns=list(columns), use_threads=False)


def arrow_reader(path: Path, options: Any = None) -> Any:
    """Arrow's reader of an IPC file, or of a stream."""
    file = pa.OSFile(str(path))  # not mapped: where a mapped file is cut short meanwhile, the system kills the process
    try:
        return pa.ipc.open_file(file, options=options)
    except pa.ArrowInvalid:
        file.seek(0)
        return pa.ipc.open_stream(file, options=options)


@contextmanager
def csv_input(path: Path) -> Generator[Any]:
    """The input of the CSV reader: the path if the file is not compressed, else decompressed bytes."""
    if compression(path) is None:
        yield path
    else:
        with open_bytes(path) as stream:
            yield stream


def _stated_roles(paths: Sequence[Path], schemas: Sequence[Any]) -> dict[str, str] | None:
    """Role → column, as our own files state them; None where none does. Files read together must not contradict each other."""
    stated = {
        path: roles for path, schema in zip(paths, schemas, strict=True) if (roles := _roles_in(schema, path)) is not None
    }
    first = next(iter(stated), None)
    for path, roles in stated.items():
        if first is not None and roles != stated[first]:
            raise DataError(
                f"it states that the roles of its columns are {roles}, but {first} states {stated[first]}",
                place=path,
                value=roles,
                rule="Files read together must agree",
                remedy="Read them one by one and join them with concat",
                shell_remedy="Give files that rankinite wrote from the same kind of data",
            )
    return None if first is None else stated[first]


def _roles_in(schema: Any, path: Path) -> dict[str, str] | None:
    """The roles that one file states: a column for each, or an error."""
    text: bytes | None = (schema.metadata or {}).get(ROLES_KEY)
    if text is None:
        return None
    try:
        stated: Any = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise _bad_roles(path, f"they are not JSON ({problem})", None) from problem
    if not isinstance(stated, dict):
        raise _bad_roles(path, f"they hold a {type(stated).__name__}", type(stated).__name__)
    roles, columns = cast("dict[str, Any]", stated), set(schema.names)
    for role, column in roles.items():
        if role not in USUAL_NAMES:
            raise _bad_roles(path, f"{quoted(role)} is not a role; roles are {listed(USUAL_NAMES)}", role)
        if not isinstance(column, str) or column not in columns:
            raise _bad_roles(path, f"they give {quoted(role)} to {quoted(column)}, which is not a column", column)
    shared = repeated_names(roles.values())
    if shared:
        raise _bad_roles(path, f"they give several roles to column {quoted(shared[0])}", shared[0])
    return roles


def _bad_roles(path: Path, problem: str, value: Any) -> DataError:
    return _bad_entry(path, ROLES_KEY, problem, value, "map roles to columns")


def _bad_entry(path: Path, key: bytes, problem: str, value: Any, rule: str) -> DataError:
    return DataError(
        problem,
        place=f"{path}, metadata {key.decode()!r}",
        value=value,
        rule=f"They must {rule}, as in files that rankinite writes",
        remedy="Write the file again, or remove the entry",
    )


@contextmanager
def broken_files(path: Path, kind: str, or_else: str = "") -> Generator[None]:
    """Turn what Arrow and the file system raise into a DataError; ``or_else``: the end of its remedy."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).strip().rstrip(".")
        raise DataError(
            f"it cannot be read as {kind} ({reason})",
            place=path,
            value=kind,
            remedy=f"Check it, or name its format with `format=…`{or_else}",
        ) from error


@contextmanager
def broken_csv(path: Path, separator: str) -> Generator[None]:
    """The same for text with this separator between its cells; a row with too few cells or too many is named by its line."""
    kind = {",": "CSV", "\t": "TSV"}.get(separator, f"a table with {separator!r} between its cells")
    with broken_files(path, kind, ", or what stands between its cells with `delimiter=…`"):
        try:
            yield
        except pa.ArrowInvalid as error:
            ragged = re.search(r"Expected (\d+) columns?, got \d+", str(error))
            line, cells = _first_unlike(path, separator, int(ragged[1])) if ragged else (0, 0)
            if not ragged or not line:
                raise
            raise DataError(
                f"the row has {counted(cells, 'cell')} instead of {ragged[1]}",
                place=f"{path}:{line}",
                value=cells,
                rule="Every row has as many cells as the first",
                remedy=f"Put cells that hold {separator!r} in quotes, or name what stands between cells with `delimiter=…`",
            ) from error


def _first_unlike(path: Path, separator: str, cells: int) -> tuple[int, int]:
    """The line of the first row that has another number of cells, and that number; 0 and 0 if it is not found."""
    line = 1
    for fields, after in _rows_of_csv(path, separator):
        if fields and len(fields) != cells:
            return line, len(fields)
        line = after
    return 0, 0


OPENERS: dict[str, Callable[[Sequence[Path]], LazyTable]] = {PARQUET.name: open_parquet, ARROW.name: open_arrow}
"""The formats whose files describe their columns."""
