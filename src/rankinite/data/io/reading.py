"""``read``: judged data from a file, several files, a table or arrays."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from rankinite.choices import Missing
from rankinite.data.cleaning import Infinite, Unjudged, check_choice, clean
from rankinite.data.dataset import Dataset
from rankinite.data.io.arrays import group_sizes, matrix_of, rows_to_data
from rankinite.data.io.columns import assign_roles, name_roles
from rankinite.data.io.formats import first_line, format_of, is_header
from rankinite.data.io.letor.files import place_of_row, read_letor
from rankinite.data.io.streams import spooled
from rankinite.data.io.text_files import AnyPath, group_files, read_sizes
from rankinite.data.io.trec import read_qrels
from rankinite.data.joining import check_same_features
from rankinite.engine.kernel import Indices
from rankinite.engine.memory import within_memory
from rankinite.errors import ArgumentError, DataError, quoted

if TYPE_CHECKING:
    from rankinite.data.io.tables import Table  # which brings Arrow along: it is loaded where there is a table


@runtime_checkable
class ArrowStream(Protocol):
    """A table that speaks the Arrow C interface: pandas, polars, PyArrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Source: TypeAlias = AnyPath | Iterable[AnyPath] | ArrowStream | npt.ArrayLike
Column: TypeAlias = str | npt.ArrayLike | None
"""A column by name, or its values, one a row."""


def read(
    source: Source,
    *,
    grades: Column = None,
    qid: Column = None,
    group: npt.ArrayLike | AnyPath | None = None,
    doc_id: Column = None,
    weight: Column = None,
    batch: Column = None,
    features: Sequence[int | str] | str | None = None,
    ignore: Sequence[str] | str = (),
    format: str | None = None,
    missing: Missing = "zero",
    infinite: Infinite = "error",
    unjudged: Unjudged = "error",
    zero_based: bool = False,
    like: Dataset | None = None,
) -> Dataset:
    """Read judged data.

    >>> train = read("train.txt.gz")                                          # doctest: +SKIP
    >>> valid = read("valid.txt.gz", like=train)                              # doctest: +SKIP
    >>> clicks = read(frame, qid="session", grades="clicked", ignore=["url"])  # doctest: +SKIP
    >>> small = read(X, grades=y, qid=q)                                      # doctest: +SKIP

    ``source`` is one of

    - a path, or several paths of one format that are read as one stream: LETOR / SVMlight text (``2 qid:7 1:0.5 … # doc``),
      Parquet, Arrow IPC or Feather, CSV or TSV, TREC qrels (judgements alone, without features). Text may be compressed
      (.gz, .zst, .xz). The format is told by the suffix, else by how the file begins; ``format`` ("letor", "parquet",
      "arrow", "csv", "tsv", "qrels") overrides that. A pipe is kept in a temporary file while it is read.
    - a table: pandas, polars, PyArrow, or anything else with ``__arrow_c_stream__``.
    - a matrix of rows × features: a NumPy array, or a SciPy sparse matrix, which is made dense.

    Rows of a query need not be adjacent: they are brought together in the order in which they come, and the order of
    the source is remembered (``Dataset.to_input_order``).

    **Which column is what.** ``grades``, ``qid``, ``doc_id``, ``weight`` and ``batch`` name columns of a table, or give the
    values, one a row. Columns that are not named are found by their usual names, such as ``qid`` or ``query_id`` and ``grade``,
    ``label`` or ``relevance``. All other columns are features and must be numeric or boolean; ``features`` chooses some
    of them, ``ignore`` leaves some out, as is the unnamed index that pandas writes. Empty cells are missing values (NaN).
    Qids are text: 7 becomes "7"; in text files they stay as they are written.

    ``group``: the number of rows of each query in turn, as numbers or as a file with one a line, where there is no query
    column. A file ``<path>.query`` or ``<path>.group`` beside the data is found by itself. A CSV or TSV file whose first
    line is all numbers has no header: its first column is the grade, the others are features "1", "2", ….

    **What to do with odd values.**
    ``missing``: a feature that a LETOR line leaves out is "zero" or "nan".
    ``infinite``: ±inf and numbers beyond 32-bit floats, such as 1.79e308, are an "error", "missing" (NaN), "clip" (made
    ± the largest float) or "keep".
    ``unjudged``: rows with a negative grade are an "error", "drop" (left out) or "keep".
    ``zero_based``: LETOR indices start at 0 instead of 1.

    ``like``: data whose features these must have. LETOR files are padded to as many, tables are read by its feature names.

    A :class:`~rankinite.errors.DataError` gives the place, the value, the rule and the remedy of whatever is wrong.
    """
    check_choice("missing", missing, get_args(Missing))
    if group is not None and qid is not None:
        raise ArgumentError("group= and qid= exclude each other: both say which rows belong together. Pass one of them.")
    columns = {"grades": grades, "qid": qid, "doc_id": doc_id, "weight": weight, "batch": batch}
    features = [features] if isinstance(features, str) else features  # one name is not a list of letters
    ignore = [ignore] if isinstance(ignore, str) else ignore
    if isinstance(features, int | np.integer):
        raise ArgumentError(f"features={features}: features are chosen by a list of names or positions, as in features=[0, 1].")
    options = _Options(columns, group, features, ignore, missing, zero_based, like)
    if isinstance(source, Iterator) and not isinstance(source, ArrowStream):
        source = list(source)
    paths = _paths(source)
    place = " + ".join(map(str, paths)) if paths else type(source).__name__
    with within_memory(place, "Choose fewer features or rows."), ExitStack() as pipes:
        files = [pipes.enter_context(spooled(path)) for path in paths or ()]
        data, place_of = _from_files(files, options, format) if files else _from_memory(source, options, format)
        data = clean(data, infinite=infinite, unjudged=unjudged, place=place_of)
    for path, file in zip(paths or (), files, strict=True):
        data = data if file is path else replace(data, source=data.source.replace(str(file), str(path)))
    return data


Read: TypeAlias = tuple[Dataset, Callable[[int], str]]
"""The data, and what names the place of a source row in messages."""


@dataclass(frozen=True)
class _Options:
    """Those settings of :func:`read` that depend on the kind of source."""

    columns: Mapping[str, Column]
    group: npt.ArrayLike | AnyPath | None
    features: Sequence[int | str] | None
    ignore: Sequence[str]
    missing: Missing
    zero_based: bool
    like: Dataset | None

    def named(self) -> dict[str, str]:
        """The roles given by a column's name."""
        return {role: column for role, column in self.columns.items() if isinstance(column, str)}

    def given(self) -> dict[str, npt.NDArray[Any]]:
        """The roles given by their values."""
        return {role: np.asarray(v) for role, v in self.columns.items() if v is not None and not isinstance(v, str)}

    def sizes(self, beside: Sequence[Path] = ()) -> Indices | None:
        """Group sizes: those given, else those in files beside the data."""
        if self.group is not None:
            return group_sizes(self.group)
        files = group_files(beside)
        return np.concatenate([read_sizes(file) for file in files]) if files else None

    def wanted(self, own: Mapping[str, str]) -> dict[str, str]:
        """Role → column, as named here, else by the table itself."""
        kept = {role: column for role, column in own.items() if column not in self.ignore and self.columns[role] is None}
        return {**kept, **self.named()}

    def chosen(self) -> list[str] | None:
        """The feature columns a table must have, where they are chosen."""
        if self.like is not None and self.features is not None:
            raise ArgumentError("like= and features= exclude each other for tables: both choose the features. Pass one.")
        names = self.features if self.like is None else self.like.feature_names
        return None if names is None else [str(name) for name in names]

    def refuse_columns(self, source: str) -> None:
        """For sources without columns: nothing may be said of them."""
        for role, value in self.columns.items():
            if value is not None:
                raise ArgumentError(
                    f"{source}: {role}= is for tables and arrays; this format has a place for it. Leave it out."
                )


def _from_memory(source: Source, options: _Options, format: str | None) -> Read:
    if format is not None:
        raise ArgumentError(f"format={quoted(format)} is for files, but the source is a {type(source).__name__}. Leave it out.")
    if not isinstance(source, ArrowStream):
        return _from_matrix(source, options)
    from rankinite.data.io.tables import frame_table

    return _from_table(frame_table(source), options)


def _from_files(paths: Sequence[Path], options: _Options, format: str | None) -> Read:
    kind = format_of(paths, format, grouped=options.group is not None or bool(group_files(paths)))
    if kind in ("parquet", "arrow"):
        from rankinite.data.io.table_files import OPENERS

        return _from_table(OPENERS[kind](paths), options, paths)
    if kind in ("csv", "tsv"):
        return _from_csv(paths, "," if kind == "csv" else "\t", options)
    return _from_qrels(paths, options) if kind == "qrels" else _from_letor(paths, options)


def _paths(source: Source) -> list[Path] | None:
    if isinstance(source, str | PathLike):
        return [Path(source)]
    if isinstance(source, list | tuple):
        entries = cast("Sequence[object]", source)
        if not entries:
            raise DataError("The list of files is empty. Give at least one.")
        if all(isinstance(entry, str | PathLike) for entry in entries):
            return [Path(cast(AnyPath, entry)) for entry in entries]
    return None


def _from_csv(paths: Sequence[Path], separator: str, options: _Options) -> Read:
    from rankinite.data.io.table_files import open_csv
    from rankinite.data.io.tables import Table

    line = first_line(paths[0])
    header = is_header(line, separator)
    columns = next(csv.reader([line], delimiter=separator), [])
    if not header:  # the columns are then "0", "1", …, so that features are counted from 1
        columns = [str(number) for number in range(len(columns))]
    own = {} if header else {"grades": "0"}
    roles = name_roles(
        columns,
        source=str(paths[0]),
        wanted=options.wanted(own),
        given=options.given(),
        taken=[*(options.chosen() or ()), *options.ignore],
    )
    names = {role: column for role, column in roles.items() if role in ("qid", "doc_id", "batch")}
    table = open_csv(paths, separator, header, names)
    return _from_table(Table(table.types, table.pieces, table.source, own), options, paths)


def _from_table(table: Table, options: _Options, paths: Sequence[Path] = ()) -> Read:
    from rankinite.data.io.tables import load_matrix

    given = options.given()
    roles = assign_roles(
        table.types,
        source=table.source,
        wanted=options.wanted(table.roles),
        given=given,
        grouped=options.group is not None or bool(group_files(paths)),
        features=options.chosen(),
        ignore=options.ignore,
        guess=table.guess,
    )
    if options.group is not None and "qid" in roles.named:
        column = roles.named["qid"]
        raise DataError(
            f"{table.source}: column {quoted(column)} names the query of each row and group= is given too. Leave group= out, "
            f"or pass ignore=[{quoted(column)}] to go by group=."
        )
    has_qid = "qid" in roles.named or "qid" in given
    sizes = options.sizes(() if has_qid else paths)
    matrix, values = load_matrix(table, roles)
    data = rows_to_data(matrix, roles.features, {**values, **given}, sizes, source=table.source, place=table.place)
    return data, table.place


def _from_matrix(source: object, options: _Options) -> Read:
    for role, column in options.named().items():
        raise ArgumentError(
            f"{role}={quoted(column)} names a column, but an array has no named columns. Pass the values, one per row."
        )
    matrix = matrix_of(source)
    given, sizes = options.given(), options.sizes()
    if "grades" not in given:
        raise DataError("The array has no grades. Pass them with grades=…, one a row.")
    if sizes is None and "qid" not in given:
        raise DataError("Which rows of the array belong together? Pass qid=…, one a row, or group=…, the rows of each query.")
    names = [str(number) for number in range(1, matrix.shape[1] + 1)]
    data = rows_to_data(matrix, names, given, sizes, source="array", place=lambda row: f"array row {row}")
    return _with_chosen_features(data, options), lambda row: f"array row {row}"


def _from_letor(paths: Sequence[Path], options: _Options) -> Read:
    options.refuse_columns(str(paths[0]))
    width = _declared_width(options)
    data = read_letor(paths, missing=options.missing, zero_based=options.zero_based, features=width, group=options.sizes())
    return _with_chosen_features(data, options), lambda row: place_of_row(paths, row)


def _from_qrels(paths: Sequence[Path], options: _Options) -> Read:
    options.refuse_columns(str(paths[0]))
    useless = {"group": options.group, "features": options.features, "like": options.like, "ignore": options.ignore or None}
    for option, value in useless.items():
        if value is not None:
            raise ArgumentError(
                f"{paths[0]}: {option}= is for data with features, but this is read as qrels, which have none. Leave it out, "
                "or name the format with format=…."
            )
    data = read_qrels(paths)
    return data, lambda row: f"{data.source}, judgement {row + 1}"


def _with_chosen_features(data: Dataset, options: _Options) -> Dataset:
    """For sources whose features are known by position."""
    chosen = list(options.features) if options.features is not None else list(data.feature_names)
    if options.features is not None or options.ignore:
        ignored = {data.feature_index(name) for name in options.ignore}
        data = data.select_features([feature for feature in chosen if data.feature_index(feature) not in ignored])
    if options.like is None or options.like.feature_names == data.feature_names:
        return data
    names = options.like.feature_names
    if len(names) == len(data.feature_names) and not all(name.isdecimal() for name in names):
        return data.rename_features(names)
    if names != data.feature_names[: len(names)] and set(names) <= set(data.feature_names):
        return data.select_features(names)  # a selection, not merely fewer features
    check_same_features(options.like, data)
    return data


def _declared_width(options: _Options) -> int | None:
    """How many features a LETOR file must have: as many as ``like``, unless that is a selection of numbered ones."""
    if options.like is None or options.features is not None or options.ignore:
        return None
    names = options.like.feature_names
    first = 0 if options.zero_based else 1
    in_order = names == tuple(str(number) for number in range(first, first + len(names)))
    return len(names) if in_order or not all(name.isdecimal() for name in names) else None
