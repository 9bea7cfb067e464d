"""Pieces: data of any size, some whole queries at a time, so that the matrix of features is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Protocol, Self, get_args

import numpy as np

from rankinite.checks import check_choice, check_count
from rankinite.choices import Infinite, Missing, Unjudged
from rankinite.data.categories import drop_unused_categories
from rankinite.data.dataset import Dataset
from rankinite.data.io.formats import QRELS
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.reading import Source, paths_of, read_with, settled
from rankinite.data.io.row_streams import RowStream, rows_in_memory, rows_of_files
from rankinite.data.io.slabs import whole_queries
from rankinite.data.io.sources import file_kind, refuse_format
from rankinite.data.io.streams import spooled
from rankinite.data.joining import check_same_features
from rankinite.data.value_rules import clean
from rankinite.engine.memory import within_memory
from rankinite.errors import ArgumentError, RankiniteError

ROWS = 65_536
"""Rows of a piece, if the caller does not say how many: 36 MB with 136 features."""


class PieceSource(Protocol):
    """What pieces are made from."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features; None before these are known."""
        ...

    def pieces(self, rows: int) -> Iterator[Dataset]:
        """The data in pieces of about so many rows, from the beginning."""
        ...


class Pieces:
    """Data in pieces: iterating gives Datasets of consecutive whole queries, and each iteration goes through the source anew.

    >>> with open_pieces("train.txt.gz", settings) as pieces:                         # doctest: +SKIP
    ...     for piece in pieces:
    ...         print(piece.rows)

    Leaving the context removes the copy of a pipe; other sources need none.
    """

    def __init__(self, made_from: PieceSource, source: str, input_bytes: int, rows: int, pipes: _Pipes | None = None) -> None:
        self._made_from, self._rows, self._pipes = made_from, rows, pipes or _Pipes()
        self.source = source
        """What the data are called in messages, as in ``Dataset.source``."""
        self.input_bytes = input_bytes
        """The size of the files; 0 for data in memory."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """None for LETOR files until they have been gone through once, unless it is declared which features they have.

        Until then a piece has the features that have been seen so far; later all pieces have all of them.
        """
        return self._made_from.feature_names

    def __iter__(self) -> Generator[Dataset]:
        try:
            with within_memory(self.source, "Choose fewer features"):
                yield from self._made_from.pieces(self._rows)
        except RankiniteError as problem:
            raise self._pipes.explained(problem) from problem

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the copies of pipes."""
        self._pipes.close()


def open_pieces(
    source: Source | Dataset,
    settings: ReadSettings,
    *,
    format: str | None = None,
    infinite: Infinite = "error",
    rows: int = ROWS,
) -> Pieces:
    """The data that :func:`~rankinite.data.io.reading.read_with` would read, in pieces of about ``rows`` rows.

    Joined, the pieces are the same data, but without document ids, and without the order of the source. Rows of a query must be
    adjacent in the source. No query is divided: a piece ends with the query that brings it to ``rows`` rows. Categories have a
    vocabulary of the piece, unless the source is a Dataset.

    A Dataset is taken as it is, so settings that say how to read do not apply to it, and pieces are views of its features.
    TREC qrels, which have no features, are read as a whole.
    """
    check_count("open_pieces", "rows", rows)
    check_choice("read", "missing", settings.missing, get_args(Missing))
    check_choice("read", "infinite", infinite, get_args(Infinite))
    check_choice("read", "unjudged", settings.unjudged, get_args(Unjudged))
    if settings.one_hot:
        raise ArgumentError(
            "needs all categories of the data, which are read in pieces",
            owner="read",
            setting="one_hot",
            value=list(settings.one_hot),
            remedy="Write the columns to a file first, with rk.write(rk.read(…, one_hot=[…]), …)",
            shell_remedy="Write the columns to a file first, with rankinite convert",
        )
    if isinstance(source, Dataset):
        _refuse_settings(source, settings, format)
        return Pieces(_QueryRanges(source), source.source, 0, rows)
    source = settled(source)
    paths = paths_of(source)
    if not paths:
        stream = rows_in_memory(source, settings, format)
        return Pieces(_CleanRows(stream, stream.source, infinite, settings.unjudged), stream.source, 0, rows)
    with ExitStack() as stack:
        files = [stack.enter_context(spooled(path)) for path in paths]
        pipes = _Pipes(files, paths)
        kind, size = file_kind(files, settings, format), sum(file.stat().st_size for file in files)
        if kind == QRELS.name:
            data = read_with(files, settings, format=format, infinite=infinite)
            return Pieces(_QueryRanges(data), data.source, size, rows)
        stream = rows_of_files(files, settings, kind)
        name = pipes.named(stream.source)
        pipes.stack = stack.pop_all()
    return Pieces(_CleanRows(stream, name, infinite, settings.unjudged), name, size, rows, pipes)


def _refuse_settings(data: Dataset, settings: ReadSettings, format: str | None) -> None:
    """Refuse what says how to read data, where they have been read."""
    refuse_format(data, format)
    chosen = {
        "group": settings.group,
        "features": settings.features,
        "ignore": settings.ignore or None,
        "categories": settings.categories or None,
        "one_hot": settings.one_hot or None,
        "rename": settings.renaming or None,
        "map_grades": settings.grade_map and dict(settings.grade_map.grades),
        "delimiter": settings.delimiter,
    }
    for setting, value in {**settings.columns, **chosen}.items():
        if value is not None:
            raise ArgumentError(
                "is for data that are yet to be read, but the source is a Dataset",
                owner="open_pieces",
                place=data.source,
                setting=setting,
                value=value,
                remedy="Leave it out",
            )
    if settings.like is not None:
        check_same_features(settings.like, data)


class _Pipes:
    """The files that pipes are copied to, kept as long as they are read, and the names to call them by."""

    def __init__(self, files: Sequence[Path] = (), paths: Sequence[Path] = ()) -> None:
        self._names = [(file, path) for file, path in zip(files, paths, strict=True) if file is not path]
        self.stack = ExitStack()

    def named(self, text: str) -> str:
        """A text that names pipes instead of their files."""
        for file, path in self._names:
            text = text.replace(str(file), str(path))
        return text

    def explained(self, problem: RankiniteError) -> RankiniteError:
        """An error that names pipes instead of their files."""
        for file, path in self._names:
            problem = problem.replaced(str(file), str(path))
        return problem

    def close(self) -> None:
        """Remove the files."""
        self.stack.close()


class _CleanRows:
    """Rows of a stream as pieces, with the rules for odd values applied to each."""

    def __init__(self, stream: RowStream, source: str, infinite: Infinite, unjudged: Unjudged) -> None:
        self._stream, self._source = stream, source
        self._infinite: Infinite = infinite
        self._unjudged: Unjudged = unjudged

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Those of the stream."""
        return self._stream.feature_names

    def pieces(self, rows: int) -> Iterator[Dataset]:
        """The data in pieces of about so many rows; queries of which no row is left do not count."""
        given, dropped = False, None
        for slab in whole_queries(self._stream.slabs(), rows):
            data = self._stream.chosen(slab.as_data(self._source), slab.place_inside)
            if self._unjudged == "drop" and (data.grades < 0).all():
                dropped = data.select_queries([0]), slab.place_inside
                continue
            given = True
            data = drop_unused_categories(_without_source_order(self._clean(data, slab.place_inside)))
            del slab  # what the caller is done with does not stay in memory while the next piece is read
            yield data
            del data
        if not given and dropped is not None:
            self._clean(*dropped)  # raises: nothing is left of any piece

    def _clean(self, data: Dataset, place: Callable[[int], str]) -> Dataset:
        return clean(data, infinite=self._infinite, unjudged=self._unjudged, place=place)


def _without_source_order(data: Dataset) -> Dataset:
    """The same data as if their source had these rows alone."""
    return data if data.input_row is None else replace(data, input_row=None, input_rows=-1)


class _QueryRanges:
    """Ranges of the queries of a Dataset; the features are views of its own."""

    def __init__(self, data: Dataset) -> None:
        self._data = data

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Those of the data."""
        return self._data.feature_names

    def pieces(self, rows: int) -> Iterator[Dataset]:
        """The data in pieces of about so many rows."""
        data, first = self._data, 0
        while first < data.queries:
            last = min(int(data.offsets.searchsorted(data.offsets[first] + rows)), data.queries)
            yield _query_range(data, first, last)
            first = last


def _query_range(data: Dataset, first: int, last: int) -> Dataset:
    begin, end = int(data.offsets[first]), int(data.offsets[last])
    preferences = data.preferences
    return Dataset(
        features=data.features[begin:end],
        grades=data.grades[begin:end],
        offsets=data.offsets[first : last + 1] - begin,
        qids=data.qids[first:last],
        feature_names=data.feature_names,
        weights=None if data.weights is None else data.weights[first:last],
        batches=None if data.batches is None else data.batches[first:last],
        preferences=None if preferences is None else preferences.take(np.arange(begin, end), data.rows),
        source=data.source,
        judged=data.judged,
        positions=None if data.positions is None else data.positions[begin:end],
        categories=data.categories,
    )
