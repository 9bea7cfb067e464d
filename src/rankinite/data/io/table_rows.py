"""The rows of a table, a slab at a time: turned and checked in parallel, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.io.category_columns import check_guessed
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.renaming import renamed_table
from rankinite.data.io.slabs import Slab, as_one_query, with_passed, with_sizes
from rankinite.data.io.table_plans import plan_table
from rankinite.data.io.tables import LazyTable, Piece, batches_of, load_batch, words_in
from rankinite.engine.kernel import FEATURE
from rankinite.engine.parallel import run_ahead

TOGETHER = 1 << 16
"""Row groups of at most so many rows are loaded by a thread as a whole; larger ones batch by batch."""


class TableRows:
    """The rows of a table of any kind, loaded in parallel."""

    def __init__(self, table: LazyTable, settings: ReadSettings, paths: Sequence[Path] = ()) -> None:
        self.source = table.source
        self._table = renamed_table(table, settings.renaming)
        self._plan = plan_table(self._table, settings, paths, partial(words_in, self._table))
        self.feature_names: tuple[str, ...] | None = self._plan.roles.features

    def slabs(self) -> Iterator[Slab]:
        """All rows, in order, with the qids of their queries."""
        loaded = (slab for slabs in self._loaded() for slab in slabs)
        slabs = with_passed(loaded, self._plan.passed, self.source)
        if not self._plan.has_queries:
            return as_one_query(slabs)
        return slabs if self._plan.sizes is None else with_sizes(slabs, self._plan.sizes, self.source)

    def chosen(self, data: Dataset, _place: Callable[[int], str], /) -> Dataset:
        """The same rows: columns that are not chosen are not loaded."""
        return data

    def _loaded(self) -> Iterator[list[Slab]]:
        places, columns = _Places(), self._plan.roles.columns()

        def stretches() -> Iterator[tuple[int, Iterable[Any]]]:
            start = 0
            for piece in self._table.pieces:
                places.begin(start, piece)
                if piece.rows <= TOGETHER:
                    yield start, batches_of(piece, columns)  # not loaded before the thread asks for the batches
                    start += piece.rows
                    continue
                for batch in batches_of(piece, columns):
                    yield start, [batch]
                    start += batch.num_rows

        def load(stretch: tuple[int, Iterable[Any]]) -> list[Slab]:
            start, batches = stretch
            slabs: list[Slab] = []
            for batch in batches:
                if batch.num_rows:
                    slabs.append(self._slab(batch, start, places))
                start += batch.num_rows
            return slabs

        yield from run_ahead(load, stretches())

    def _slab(self, batch: Any, start: int, places: _Places) -> Slab:
        roles = self._plan.roles
        features = np.empty((batch.num_rows, len(roles.features)), FEATURE)
        _, values, categories = load_batch(batch, roles, features, self.source, places.place, start)
        if start == 0:  # as of a table in memory, though only the first rows can tell
            check_guessed(categories, roles.categories, self.source)
        values.pop("doc_id", None)
        qids = values.pop("qid", None)
        slab = Slab(start, features, roles.features, values, places.place, categories=categories)
        return slab if qids is None else slab.with_qids(qids)


class _Places:
    """Where in the source its pieces begin, as far as it has been read."""

    def __init__(self) -> None:
        self._begun: list[tuple[int, int, Piece]] = []

    def begin(self, start: int, piece: Piece) -> None:
        """Note that row ``start`` is the first of the piece, which may be of the same file as the one before it."""
        same_file = bool(self._begun) and self._begun[-1][2].name == piece.name
        self._begun.append((start, self._begun[-1][1] if same_file else start, piece))

    def place(self, row: int) -> str:
        """The place of a row, counted from 0 over all pieces, for messages."""
        start, piece = next((start, piece) for begin, start, piece in reversed(self._begun) if begin <= row)
        return f"{piece.name}, row {row - start}" if piece.place is None else piece.place(row - start)
