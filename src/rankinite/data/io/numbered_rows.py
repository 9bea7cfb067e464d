"""Rows whose features are known by their numbers, a slab at a time: those of LETOR files and of matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import TEXT
from rankinite.data.io.arrays import is_sparse, matrix_of, number_matrix
from rankinite.data.io.chosen_features import declared_width, with_chosen_features, with_features
from rankinite.data.io.letor._gatherer import Gatherer
from rankinite.data.io.letor.files import file_bytes, gather_chunks, letor_settings, no_rows, place_of_row, sizes_of_queries
from rankinite.data.io.read_settings import ReadSettings
from rankinite.data.io.slabs import Slab, as_one_query, with_passed, with_sizes
from rankinite.data.io.sources import ARRAY, array_row, passed_to_matrix, refuse_names
from rankinite.data.io.streams import CHUNK
from rankinite.engine.kernel import FEATURE, GRADE, INDEX
from rankinite.errors import DataError

ROWS = 1 << 13
"""Rows of a matrix in a slab."""


class LetorRows:
    """The rows of LETOR files. Each slab is as wide as any before it, until a pass has found the width of all."""

    def __init__(self, paths: Sequence[Path], settings: ReadSettings) -> None:
        settings.refuse_columns(paths[0])
        self.source = " + ".join(str(path) for path in paths)
        self._paths, self._settings, self._group = paths, settings, settings.sizes()
        self._width = declared_width(settings)
        self._letor = letor_settings(settings.missing, settings.zero_based, self._width, needs_grades=settings.needs_grades)
        # Features are chosen among all there are, and absent ones are padded with 0 alone.
        listed = settings.ignore or settings.categories or settings.renaming
        choosing = settings.features is not None or bool(listed) or settings.like is not None
        self._counts_first = choosing or settings.missing == "nan"

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Known once the files have been gone through, if the width is not declared."""
        if self._width is None:
            return None
        names = self._names(self._width)
        return _chosen_names(names, self._settings, self.source, letor=True)

    def slabs(self) -> Iterator[Slab]:
        """All rows, in order, with the qids of their queries."""
        if self._width is None and self._counts_first:
            self._count()
        slabs = self._chunks()
        first = next(slabs, None)
        if first is None:
            raise no_rows(self.source)
        needs_queries = self._settings.needs_queries
        sizes = sizes_of_queries(bool(first.qids), self._group, self._paths, self.source, needs_queries=needs_queries)
        slabs = chain([first], slabs)
        if first.qids:
            return slabs
        return as_one_query(slabs) if sizes is None else with_sizes(slabs, sizes, self.source)

    def chosen(self, data: Dataset, place: Callable[[int], str], /) -> Dataset:
        """Rows of a slab with the features that are chosen."""
        return with_features(self._settings.widened(data), self._settings, place)

    def _grades(self, gatherer: Gatherer, start: int) -> npt.NDArray[Any]:
        """The grades of the rows gathered, whose first is row ``start`` of the source."""
        grades, grade_map = np.concatenate(gatherer.grades), self._settings.grade_map
        if grade_map is None:
            return grades
        return grade_map.of_numbers(grades, lambda row: place_of_row(self._paths, start + row))

    def _names(self, width: int) -> tuple[str, ...]:
        return tuple(str(self._letor.base + column) for column in range(width))

    def _count(self) -> None:
        """Go through the files for their width alone."""
        for _ in self._chunks():
            pass

    def _gatherer(self) -> Gatherer:
        return Gatherer(self._letor, min(CHUNK, file_bytes(self._paths)), width=self._width or 0)

    def _chunks(self) -> Iterator[Slab]:
        gatherer, place = self._gatherer(), partial(place_of_row, self._paths)
        names, start = self._names(gatherer.width), 0
        for _ in gather_chunks(gatherer, self._paths):
            if not gatherer.rows:
                continue
            features = gatherer.features()
            names = names if len(names) == features.shape[1] else self._names(features.shape[1])
            self._check_width(gatherer)
            values = {"grades": self._grades(gatherer, start)} if gatherer.graded else {}
            yield Slab(start, features, names, values, place, gatherer.run_qids, np.asarray(gatherer.run_lengths, INDEX))
            start += gatherer.rows
            gatherer.clear()
        self._width = gatherer.width if self._width is None else self._width

    def _check_width(self, gatherer: Gatherer) -> None:
        if self._width is not None and gatherer.width > self._width:
            raise DataError(
                f"there are {gatherer.width} features by now, but when it was first read there were {self._width}",
                place=gatherer.path,
                value=gatherer.width,
                rule="The file must not change while it is read",
                remedy="Another program writes to it; wait until that is done, and read it again",
            )


class MatrixRows:
    """The rows of a matrix in memory, made 32-bit floats some rows at a time."""

    def __init__(self, source: object, settings: ReadSettings) -> None:
        refuse_names(settings)
        self.source = ARRAY
        matrix: Any = source
        self._matrix = matrix.tocsr() if is_sparse(source) else number_matrix(source)
        self._settings = settings
        self._passed, self._sizes = passed_to_matrix(settings)
        self._names = tuple(str(number) for number in range(1, self._matrix.shape[1] + 1))
        self.feature_names: tuple[str, ...] | None = _chosen_names(self._names, settings, self.source, letor=False)

    def slabs(self) -> Iterator[Slab]:
        """All rows, in order, with the qids of their queries."""
        parts = (
            Slab(first, matrix_of(self._matrix[first : first + ROWS]), self._names, {}, array_row)
            for first in range(0, self._matrix.shape[0], ROWS)
        )
        slabs = with_passed(parts, self._passed, self.source)
        return slabs if self._sizes is None else with_sizes(slabs, self._sizes, self.source)

    def chosen(self, data: Dataset, place: Callable[[int], str], /) -> Dataset:
        """Rows of a slab with the features that are chosen."""
        return with_features(data, self._settings, place)


def _chosen_names(names: Sequence[str], settings: ReadSettings, source: str, *, letor: bool) -> tuple[str, ...]:
    """The names of those of the features that are chosen; ``letor``: the last ones need not be mentioned."""
    nothing = Dataset(
        features=np.zeros((0, len(names)), FEATURE),
        grades=np.zeros(0, GRADE),
        offsets=np.zeros(1, INDEX),
        qids=np.zeros(0, TEXT),
        feature_names=tuple(names),
        source=source,
    )
    return with_chosen_features(settings.widened(nothing) if letor else nothing, settings).feature_names
