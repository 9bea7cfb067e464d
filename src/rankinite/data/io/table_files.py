"""Opening table files: Parquet, Arrow IPC and Feather, CSV and TSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet as pq

from rankinite.data.io.columns import USUAL_NAMES, repeated_names
from rankinite.data.io.formats import first_line
from rankinite.data.io.streams import open_bytes
from rankinite.data.io.tables import BATCH, Piece, Table, check_columns, memory_table, merged_types, path_name
from rankinite.data.io.unpacking import compression
from rankinite.errors import DataError, listed

pc: Any = pyarrow.compute  # its functions are made at run time, so no type checker knows them

ROLES_KEY = b"rankinite.roles"
"""Schema metadata in which our own files say which column means what, as JSON."""

LEAST_BLOCK, MOST_BLOCK = 1 << 20, 1 << 28
LINES_TOGETHER = 64


def open_parquet(paths: Sequence[Path]) -> Table:
    """Parquet files with the same columns; a row group is a piece."""
    pieces: list[Piece] = []
    schemas: list[Any] = []
    for path in paths:
        with _broken_files(path, "Parquet"):
            metadata: Any = pq.read_metadata(path)
            schema: Any = metadata.schema.to_arrow_schema()
        schemas.append(schema)
        check_columns(schemas[0].names, schema.names, str(paths[0]), str(path))
        for group in range(metadata.num_row_groups):
            load = partial(_load_row_group, path, metadata, group)
            pieces.append(Piece(metadata.row_group(group).num_rows, load, str(path)))
    roles = _stated_roles(paths, schemas)
    return Table(merged_types(schemas), pieces, path_name(paths), roles or {}, guess=roles is None)


def open_arrow(paths: Sequence[Path]) -> Table:
    """Arrow IPC files or streams and Feather files with the same columns."""
    parts: list[tuple[Any, str, None]] = []
    for path in paths:
        with _broken_files(path, "Arrow IPC"):
            arrow = _arrow_table(path)
            arrow.validate(full=True)  # a damaged file could otherwise point outside its own bytes
            parts.append((arrow, str(path), None))
    table = memory_table(parts, path_name(paths))
    roles = _stated_roles(paths, [arrow.schema for arrow, _, _ in parts])
    return Table(table.types, table.pieces, table.source, roles or {}, guess=roles is None)


def open_csv(paths: Sequence[Path], separator: str, header: bool, names: Mapping[str, str]) -> Table:
    """Comma- or tab-separated files with the same columns, compressed or not; without a header, the columns are 0, 1, …

    ``names`` maps the roles whose values are names to their columns: 007 is not 7 there, and NA is a name like any other.
    """
    texts = {column if header else f"f{column}": pa.string() for column in names.values()}
    parts: list[tuple[Any, str, Callable[[int], str] | None]] = []
    for path in paths:
        with _csv_input(path) as given, _broken_files(path, "CSV" if separator == "," else "TSV"):
            table = pyarrow.csv.read_csv(
                given,
                read_options=pyarrow.csv.ReadOptions(autogenerate_column_names=not header, block_size=_block_size(path)),
                parse_options=pyarrow.csv.ParseOptions(delimiter=separator),
                convert_options=pyarrow.csv.ConvertOptions(column_types=texts),
            )
            columns = table.column_names if header else [str(number) for number in range(table.num_columns)]
            table = table.rename_columns(columns)
            for role, column in names.items():
                if role != "doc_id" and column in columns:  # a document may be nameless, a query may not
                    table = _with_blanks_missing(table, columns.index(column))
        parts.append((table, str(path), partial(_place_of_row, path, separator, header)))
    return memory_table(parts, path_name(paths))


def _block_size(path: Path) -> int:
    """Bytes that the CSV reader takes at a time: several lines, or it makes one small piece per line of every column."""
    return max(LEAST_BLOCK, min(LINES_TOGETHER * len(first_line(path)), MOST_BLOCK))


def _with_blanks_missing(table: Any, at: int) -> Any:
    column = table.column(at)
    return table.set_column(at, table.column_names[at], pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column))


def _place_of_row(path: Path, separator: str, header: bool, row: int) -> str:
    """The ``file:line`` of a row counted from 0; for messages, as it reads the file again."""
    left, line = row + header, 1
    with open_bytes(path) as stream:
        reader = csv.reader(io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline=""), delimiter=separator)
        try:
            for fields in reader:
                if fields and left == 0:
                    return f"{path}:{line}"
                left -= bool(fields)  # blank lines are no rows
                line = reader.line_num + 1
        except csv.Error:  # a field beyond what this reader takes
            pass
    return f"{path}, row {row}"


def _load_row_group(path: Path, metadata: Any, group: int, columns: Sequence[str]) -> Iterator[Any]:
    # A file object of its own for each piece: Parquet readers may not be shared between threads.
    with pq.ParquetFile(path, metadata=metadata, memory_map=False) as file:
        yield from file.iter_batches(BATCH, row_groups=[group], columns=list(columns), use_threads=False)


def _arrow_table(path: Path) -> Any:
    file = pa.OSFile(str(path))  # not mapped: where a mapped file is cut short meanwhile, the system stops the process
    try:
        return pa.ipc.open_file(file).read_all()
    except pa.ArrowInvalid:
        file.seek(0)
        return pa.ipc.open_stream(file).read_all()


@contextmanager
def _csv_input(path: Path) -> Generator[Any]:
    """What the CSV reader is given: the path where it can map the file, else decompressed bytes."""
    if not compression(path):
        yield path
    else:
        with open_bytes(path) as stream:
            yield stream


def _stated_roles(paths: Sequence[Path], schemas: Sequence[Any]) -> dict[str, str] | None:
    """Role → column, as our own files say; None where none does. Files read together must not contradict each other."""
    stated = {
        path: roles for path, schema in zip(paths, schemas, strict=True) if (roles := _roles_in(schema, path)) is not None
    }
    first = next(iter(stated), None)
    for path, roles in stated.items():
        if first is not None and roles != stated[first]:
            raise DataError(
                f"{path}: it says that its columns are {roles}, but {first} says {stated[first]}. Files read together must "
                "agree; read them one by one and join them with concat."
            )
    return None if first is None else stated[first]


def _roles_in(schema: Any, path: Path) -> dict[str, str] | None:
    """What one file says; whatever it says, the outcome is a column for each role, or an error."""
    text: bytes | None = (schema.metadata or {}).get(ROLES_KEY)
    if text is None:
        return None
    place = f"{path}: its metadata {ROLES_KEY.decode()!r}"
    rule = "They must map roles to columns, as files that rankinite writes do; write the file again, or remove the entry."
    try:
        stated: Any = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{place} are not JSON ({problem}). {rule}") from problem
    if not isinstance(stated, dict):
        raise DataError(f"{place} hold a {type(stated).__name__}. {rule}")
    roles, columns = cast("dict[str, Any]", stated), set(schema.names)
    for role, column in roles.items():
        if role not in USUAL_NAMES:
            raise DataError(f"{place} name the role {role[:60]!r}. Roles are {listed(USUAL_NAMES)}. {rule}")
        if not isinstance(column, str) or column not in columns:
            raise DataError(f"{place} give {role!r} to {str(column)[:60]!r}, which is no column. {rule}")
    shared = repeated_names(roles.values())
    if shared:
        raise DataError(f"{place} give several roles to column {shared[0]!r}. {rule}")
    return roles


@contextmanager
def _broken_files(path: Path, kind: str) -> Generator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).strip().rstrip(".")
        raise DataError(f"{path}: cannot be read as {kind} ({reason}). Check it, or name its format with format=….") from error


OPENERS: dict[str, Callable[[Sequence[Path]], Table]] = {"parquet": open_parquet, "arrow": open_arrow}
"""The formats whose files describe their own columns."""
