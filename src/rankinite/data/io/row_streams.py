"""Row streams: sources whose rows can be gone through again and again, a slab of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from rankinite.data.dataset import Dataset
from rankinite.data.io.csv_tables import csv_table
from rankinite.data.io.formats import CSV, LETOR, TSV
from rankinite.data.io.numbered_rows import LetorRows, MatrixRows
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.slabs import Slab
from rankinite.data.io.sources import ArrowStream, refuse_format


class RowStream(Protocol):
    """A source of rows."""

    @property
    def source(self) -> str:
        """What it is called in messages."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features that are chosen; None before these are known."""
        ...

    def slabs(self) -> Iterator[Slab]:
        """All rows, in order, with the qids of their queries."""
        ...

    def chosen(self, data: Dataset, place: Callable[[int], str], /) -> Dataset:
        """Rows of a slab with the features that are chosen; ``place`` names the place of a row of the slab."""
        ...


def rows_in_memory(source: object, settings: ReadSettings, format: str | None) -> RowStream:
    """A table or a matrix; ``format`` is only for files."""
    refuse_format(source, format)
    if not isinstance(source, ArrowStream):
        return MatrixRows(source, settings)
    from rankinite.data.io.table_rows import TableRows
    from rankinite.data.io.tables import frame_table

    return TableRows(frame_table(source), settings)


def rows_of_files(paths: Sequence[Path], settings: ReadSettings, kind: str) -> RowStream:
    """Files of one format other than qrels."""
    if kind == LETOR.name:
        return LetorRows(paths, settings)
    from rankinite.data.io.table_rows import TableRows
    from rankinite.data.io.table_streams import STREAM_OPENERS, stream_csv

    if kind in (CSV.name, TSV.name):
        return TableRows(csv_table(paths, kind, settings, stream_csv), settings, paths)
    return TableRows(STREAM_OPENERS[kind](paths), settings, paths)
