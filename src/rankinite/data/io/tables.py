"""Tables of every kind (Parquet, Arrow IPC and Feather, CSV and TSV, data frames) as one type: named columns in pieces.

A piece (a row group of a Parquet file, or a table in memory) is loaded, turned from columns into rows of the final
matrix, and freed, so that little more than the matrix itself is ever in memory. Pieces are read in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from rankinite.data._kernels import columns_to_rows
from rankinite.data.categories import Vocabulary, unite_codes
from rankinite.data.grades import MOST_WORDS
from rankinite.data.io.arrays import matrix_of
from rankinite.data.io.arrow_columns import numbers, plain
from rankinite.data.io.category_columns import check_guessed, coded_column
from rankinite.data.io.column_types import is_numeric, repeated_names
from rankinite.data.io.columns import Roles
from rankinite.data.io.frame_blocks import FrameBlock, largest_block
from rankinite.data.io.role_values import grade_values, role_values
from rankinite.engine.kernel import FEATURE, Features
from rankinite.engine.parallel import run
from rankinite.errors import DataError, listed, quoted

pc: Any = pyarrow.compute  # its functions are made at run time, so no type checker knows them

BATCH = 1 << 13
"""Rows decoded at a time: tables and the row groups of other writers can be so large that a second copy would matter."""
STRIP = 4096
"""Rows turned at a time: with some hundred features, their columns fit the cache."""
UNCOUNTED = 1 << 62
"""Stands for the rows of a piece that are counted only as they are read."""


class Piece(NamedTuple):
    """Rows that are loaded together."""

    rows: int
    load: Callable[[Sequence[str]], Iterable[Any]]
    """Gives the named columns of the piece as one or several Arrow tables or batches."""
    name: str
    """The file of the rows, or what the table is called in messages."""
    place: Callable[[int], str] | None = None
    """Names the place of a row of the file, in text files."""


@dataclass(frozen=True)
class LazyTable:
    """A table that is not loaded yet."""

    types: Mapping[str, Any]
    """Column name → Arrow type, in order."""
    pieces: Sequence[Piece]
    source: str
    """What the table is called in messages."""
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    """Role → column, where the file itself states them (ours do)."""
    guess: bool = True
    """Whether columns may also have other roles, recognised by their names; those of our own files have none."""
    block: FrameBlock | None = None
    """Columns that are a matrix already."""
    categories: tuple[str, ...] = ()
    """The features that are categories, where the file itself states them (ours do)."""
    written: bool = False
    """Whether it is a text file."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(piece.rows for piece in self.pieces)

    def place(self, row: int) -> str:
        """The place of a row, counted from 0 over all pieces, for messages."""
        start = 0
        files: dict[str, int] = {}
        for piece in self.pieces:
            in_file = files.get(piece.name, 0)
            if row < start + piece.rows:
                inside = in_file + row - start
                return f"{piece.name}, row {inside}" if piece.place is None else piece.place(inside)
            start += piece.rows
            files[piece.name] = in_file + piece.rows
        return f"{self.source}, row {row}"


def frame_table(frame: object, source: str = "table") -> LazyTable:
    """A pandas, polars or PyArrow table, or anything else that speaks the Arrow C interface."""
    try:
        block = largest_block(frame)
        if block is not None:
            return _block_table(frame, block, source)
        table: Any = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        kind = type(frame).__name__
        raise DataError(
            f"a {kind} cannot be read as an Arrow table ({error})",
            place=source,
            value=kind,
            remedy="Convert it to a pandas, polars or PyArrow table",
        ) from error
    return memory_table([(table, source, None)], source)


def _block_table(frame: Any, block: FrameBlock, source: str) -> LazyTable:
    """A pandas frame with a block, whose columns become Arrow's only if they are asked for."""
    first, width = list(map(str, frame.columns)).index(block.names[0]), len(block.names)
    others: Any = pa.table(frame.drop(columns=frame.columns[first : first + width]))
    floats = dict.fromkeys(block.names, pa.from_numpy_dtype(block.values.dtype))
    types = {name: others.schema.field(name).type for name in others.column_names}
    names = [*others.column_names[:first], *block.names, *others.column_names[first:]]
    rows, whole, one_at_a_time = len(frame), cache(partial(pa.table, frame)), Lock()

    def load(start: int, columns: Sequence[str]) -> list[Any]:
        if types.keys() >= set(columns):
            return _selected(others, start, columns)
        with one_at_a_time:  # or each thread would convert the frame
            table = whole()
        return _selected(table, start, columns)

    pieces = [Piece(min(BATCH, rows - start), partial(load, start), source) for start in range(0, rows, BATCH)]
    return LazyTable({name: (floats | types)[name] for name in names}, pieces, source, block=block)


def memory_table(parts: Sequence[tuple[Any, str, Callable[[int], str] | None]], source: str) -> LazyTable:
    """Tables in memory with the same columns, each with its name and, from text files, a function for the place of a row."""
    for table, name, _ in parts:
        check_columns(parts[0][0].column_names, table.column_names, parts[0][1], name)
    pieces = [
        Piece(min(BATCH, table.num_rows - first), partial(_selected, table, first), name, place)
        for table, name, place in parts
        for first in range(0, table.num_rows, BATCH)
    ]
    return LazyTable(merged_types([table.schema for table, _, _ in parts]), pieces, source)


def check_columns(first: Sequence[str], names: Sequence[str], first_name: str, name: str) -> None:
    """Refuse a repeated column name, and files that should be one table but name different columns."""
    repeated = repeated_names(names)
    if repeated:
        raise DataError(
            f"column {quoted(repeated[0])} appears more than once",
            place=name,
            value=repeated[0],
            rule="Column names must differ",
            remedy="Rename one of them",
        )
    if set(first) != set(names):
        odd = sorted(set(first) ^ set(names))
        raise DataError(
            f"its columns differ from those of {first_name} in {listed(odd)}",
            place=name,
            value=odd,
            rule="Files read together must have the same columns",
            remedy="Read them one by one with features=[…]",
            shell_remedy="Give files with the same columns",
        )


class LoadedTable(NamedTuple):
    """The rows of a table, or of a part of it."""

    features: Features
    """rows × features."""
    values: dict[str, npt.NDArray[Any]]
    """Role → one value per row."""
    categories: Mapping[str, Vocabulary]
    """The vocabulary of each feature that is a category."""


def load_matrix(table: LazyTable, roles: Roles) -> LoadedTable:
    """The features as a row-major matrix, and the values of each role, one per row.

    The matrix is the source's own where it has one of 32-bit floats.
    """
    ready = None if table.block is None or roles.categories.names else table.block.matrix_of(roles.features)
    if ready is not None:
        return LoadedTable(matrix_of(ready), load_matrix(table, Roles(roles.named, ())).values, {})
    matrix = np.empty((table.rows, len(roles.features)), FEATURE)
    starts = np.cumsum([0, *(piece.rows for piece in table.pieces)])[:-1].tolist()
    columns = roles.columns()

    def load(numbered: tuple[int, Piece]) -> list[LoadedTable]:
        start, piece = numbered
        loaded: list[LoadedTable] = []
        for batch in batches_of(piece, columns):
            loaded.append(load_batch(batch, roles, matrix[start : start + batch.num_rows], table.source, table.place, start))
            start += batch.num_rows
        return loaded

    parts = [part for loaded in run(load, zip(starts, table.pieces, strict=True)) for part in loaded]
    empty = np.zeros(0)
    values = {role: np.concatenate([part.values[role] for part in parts] or [empty]) for role in roles.named}
    categories = unite_codes(roles.features, [(part.features, part.categories) for part in parts])
    check_guessed(categories, roles.categories, table.source)
    return LoadedTable(matrix, values, categories)


def load_batch(
    batch: Any, roles: Roles, out_matrix: Features, source: str, place: Callable[[int], str], start: int
) -> LoadedTable:
    """Turn the feature columns of a batch into rows of the matrix; categories are coded by a vocabulary of the batch.

    ``start`` is the number of its first row in the source, and ``place`` names the place of such a row in messages.
    """
    coded = {
        name: coded_column(batch.column(name), name, roles.categories, source, place, start) for name in roles.categories.names
    }
    _fill_rows(
        [coded[name].codes if name in coded else numbers(batch.column(name), FEATURE) for name in roles.features], out_matrix
    )
    values = {
        role: grade_values(batch.column(name), roles.grade_map, place, start)
        if role == "grades"
        else role_values(batch.column(name), role, source, place, start)
        for role, name in roles.named.items()
    }
    return LoadedTable(out_matrix, values, {name: column.vocabulary for name, column in coded.items()})


def _fill_rows(arrays: Sequence[Features], out_matrix: Features) -> None:
    """Turn one piece's columns into rows, a strip of rows at a time so that the strip stays in the cache."""
    rows = len(out_matrix)
    strip = np.empty((len(arrays), min(STRIP, rows)), FEATURE)
    for first in range(0, rows, STRIP):
        last = min(first + STRIP, rows)
        for feature, array in enumerate(arrays):
            strip[feature, : last - first] = array[first:last]
        columns_to_rows(strip, last - first, out_matrix[first:last])


def words_in(table: LazyTable, column: str) -> list[str]:
    """Words that a column of text holds: all of them, or the first that are too many to be listed."""
    found: dict[str, None] = {}
    for piece in table.pieces:
        for batch in batches_of(piece, [column]):
            found |= dict.fromkeys(pc.cast(pc.unique(plain(batch.column(column))).drop_null(), pa.string()).to_pylist())
            if len(found) > 2 * MOST_WORDS:
                return list(found)
    return list(found)


def batches_of(piece: Piece, columns: Sequence[str]) -> Iterator[Any]:
    """The named columns of a piece as Arrow tables or batches."""
    try:
        yield from piece.load(columns)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"it cannot be read ({error})", place=piece.name, remedy="The file seems broken; make it again"
        ) from error


def _selected(table: Any, first: int, columns: Sequence[str]) -> list[Any]:
    return [table.select(columns).slice(first, BATCH)]


def merged_types(schemas: Iterable[Any]) -> dict[str, Any]:
    """Column types over several files; a column that is not numeric in one of them is not numeric."""
    types: dict[str, Any] = {}
    for schema in schemas:
        for column in schema:
            known = types.get(column.name)
            if known is None or pa.types.is_null(known) or not is_numeric(column.type):
                types[column.name] = column.type
    return types


def path_name(paths: Sequence[Path]) -> str:
    """What a list of files is called in messages."""
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
