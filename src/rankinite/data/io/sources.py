"""Sources of judged data: files of each format, tables and arrays in memory, each with a function for the place of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.io.arrays import matrix_of, rows_to_data
from rankinite.data.io.chosen_features import declared_width, with_features
from rankinite.data.io.csv_tables import csv_table
from rankinite.data.io.delimiters import delimited_format, refuse_delimiter
from rankinite.data.io.format_detection import format_of
from rankinite.data.io.formats import CSV, LETOR, QRELS, TSV
from rankinite.data.io.letor.files import place_of_row, read_letor
from rankinite.data.io.position_files import with_positions
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.renaming import renamed_table
from rankinite.data.io.table_plans import plan_table
from rankinite.data.io.text_files import group_files
from rankinite.data.io.trec import read_qrels
from rankinite.engine.kernel import Indices
from rankinite.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from rankinite.data.io.tables import LazyTable  # brings Arrow along: it is loaded only where there is a table


@runtime_checkable
class ArrowStream(Protocol):
    """A table with the Arrow C interface: pandas, polars, PyArrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


ARRAY = "array"
"""What a matrix is called in messages."""


class Loaded(NamedTuple):
    """Data as the source has them, not cleaned yet."""

    data: Dataset
    place: Callable[[int], str]
    """Names the place of a source row in messages."""


def from_memory(source: object, settings: ReadSettings, format: str | None) -> Loaded:
    """A table or a matrix; ``format`` is only for files."""
    refuse_format(source, format)
    refuse_delimiter(settings.delimiter, f"a {type(source).__name__}", "")
    if not isinstance(source, ArrowStream):
        return _from_matrix(source, settings)
    from rankinite.data.io.frame_columns import stated_columns
    from rankinite.data.io.tables import frame_table

    stated = stated_columns(source)
    settings = replace(settings, known_features=(*settings.known_features, *stated.features))
    return _from_table(replace(frame_table(source), roles=stated.roles), settings)


def refuse_format(source: object, format: str | None) -> None:
    """Refuse the name of a format for data in memory."""
    if format is not None:
        raise ArgumentError(
            f"is for files, but the source is a {type(source).__name__}",
            owner="read",
            setting="format",
            value=format,
            remedy="Leave it out",
        )


def from_files(paths: Sequence[Path], settings: ReadSettings, format: str | None) -> Loaded:
    """Files of one format, read as one; ``format`` names it, else it is detected."""
    kind = file_kind(paths, settings, format)
    if kind == QRELS.name:
        return _from_qrels(paths, settings)
    if kind == LETOR.name:
        return _from_letor(paths, settings)
    from rankinite.data.io.table_files import OPENERS, open_csv

    if kind in (CSV.name, TSV.name):
        return _from_table(csv_table(paths, kind, settings, open_csv), settings, paths)
    return _from_table(OPENERS[kind](paths), settings, paths)


def file_kind(paths: Sequence[Path], settings: ReadSettings, format: str | None) -> str:
    """The name of the format of all these files."""
    named = format if format is not None else delimited_format(paths, settings.delimiter)
    kind = format_of(paths, named, grouped=settings.group is not None or bool(group_files(paths)))
    if kind not in (CSV.name, TSV.name):
        refuse_delimiter(settings.delimiter, kind, paths[0])
    return kind


def _from_table(table: LazyTable, settings: ReadSettings, paths: Sequence[Path] = ()) -> Loaded:
    from rankinite.data.io.tables import load_matrix, words_in

    table = renamed_table(table, settings.renaming)
    plan = plan_table(table, settings, paths, partial(words_in, table))
    matrix, values, categories = load_matrix(table, plan.roles)
    sizes = plan.sizes
    if not plan.has_queries:  # one query: there are no others to be weighed against
        sizes = np.asarray([table.rows])
        values = {role: array for role, array in values.items() if role not in ("weight", "batch")}
    names, rows = plan.roles.features, {**values, **plan.passed}
    data = rows_to_data(matrix, names, rows, sizes, source=table.source, place=table.place, categories=categories)
    return Loaded(data, table.place)


def _from_matrix(source: object, settings: ReadSettings) -> Loaded:
    refuse_names(settings)
    matrix = matrix_of(source)
    passed, sizes = passed_to_matrix(settings)
    names = [str(number) for number in range(1, matrix.shape[1] + 1)]
    data = rows_to_data(matrix, names, passed, sizes, source=ARRAY, place=array_row)
    return Loaded(with_features(data, settings, array_row), array_row)


def refuse_names(settings: ReadSettings) -> None:
    """Refuse names of columns, where the source is an array."""
    for role, column in settings.columns_by_name().items():
        raise ArgumentError(
            "names a column, but an array has no named columns",
            owner="read",
            setting=role,
            value=column,
            remedy="Pass the values, one per row",
        )


def passed_to_matrix(settings: ReadSettings) -> tuple[dict[str, npt.NDArray[Any]], Indices | None]:
    """The values of each role and the group sizes that come with a matrix."""
    passed, sizes = settings.columns_by_value(), settings.sizes()
    if "grades" not in passed and settings.needs_grades:
        raise _absent("grades", "is missing", "Pass one grade per row, or `unjudged='keep'` if nobody judged them")
    if sizes is None and "qid" not in passed:
        raise _absent(
            "qid", "is missing, and so is group", "Pass one qid per row, or the number of rows of each query as group"
        )
    return passed, sizes


def _absent(role: str, problem: str, remedy: str) -> DataError:
    return DataError(problem, owner="read", place=ARRAY, setting=role, value=None, remedy=remedy)


def array_row(row: int) -> str:
    """The place of a row of a matrix, for messages."""
    return f"{ARRAY}, row {row}"


def _from_letor(paths: Sequence[Path], settings: ReadSettings) -> Loaded:
    settings.refuse_columns(paths[0], but=("positions",))
    width = declared_width(settings)
    data = read_letor(
        paths,
        missing=settings.missing,
        zero_based=settings.zero_based,
        features=width,
        group=settings.sizes(),
        needs_grades=settings.needs_grades,
        needs_queries=settings.needs_queries,
    )
    data, place = with_positions(data, paths, settings.columns.get("positions")), partial(place_of_row, paths)
    return Loaded(with_features(settings.widened(mapped(data, settings, place)), settings, place), place)


def mapped(data: Dataset, settings: ReadSettings, place: Callable[[int], str]) -> Dataset:
    """The data with their grades mapped, for formats whose grades are numbers; ``place`` names the place of a source row."""
    if settings.grade_map is None or not data.judged:
        return data

    def place_here(row: int) -> str:
        return place(row if data.input_row is None else int(data.input_row[row]))

    return replace(data, grades=settings.grade_map.of_numbers(data.grades, place_here))


def _from_qrels(paths: Sequence[Path], settings: ReadSettings) -> Loaded:
    settings.refuse_columns(paths[0])
    useless = {
        "group": settings.group,
        "features": settings.features,
        "ignore": settings.ignore or None,
        "categories": settings.categories or None,
        "rename": settings.renaming or None,
    }
    for setting, value in useless.items():
        if value is not None:
            raise ArgumentError(
                "is for data with features, but this is read as qrels, which have none",
                owner="read",
                place=paths[0],
                setting=setting,
                value=value,
                remedy="Leave it out, or name the format with `format=…`",
            )
    if settings.like is not None:
        raise ArgumentError(
            f"this is read as qrels, which have no features, but must have those of {settings.like.source}",
            owner="read",
            place=paths[0],
            value=settings.like.source,
            remedy="Give data with features, or name the format with `format=…`",
        )
    data = read_qrels(paths)
    place = partial(_judgement, data.source)
    return Loaded(mapped(data, settings, place), place)


def _judgement(source: str, row: int) -> str:
    return f"{source}, judgement {row + 1}"
