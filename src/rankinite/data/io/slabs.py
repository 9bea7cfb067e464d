"""Slabs: consecutive rows of a source, cut and joined so that no query is divided.

Each function takes slabs one by one and gives slabs one by one, so that few are in memory. What can be told only when all rows
have been counted, such as group sizes that do not add up, is refused behind the last slab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import Vocabulary, unite_codes
from rankinite.data.dataset import Dataset
from rankinite.data.grouping import as_text
from rankinite.data.io.arrays import check_lengths, check_sizes, inexact_whole_number, row_names, rows_to_data
from rankinite.engine.kernel import FEATURE, Features, Indices, Strings
from rankinite.engine.memory import memory_left, too_large
from rankinite.errors import DataError, quoted

UNCHECKED = 1 << 30
"""Bytes of features in a piece that are joined without asking how much memory is left."""


class Slab(NamedTuple):
    """Consecutive rows of a source."""

    start: int
    """The number of the first row in the source."""
    features: Features
    """rows × features."""
    names: Sequence[str]
    """One per feature."""
    values: Mapping[str, npt.NDArray[Any]]
    """Role → one value per row; the runs below give the qids; document ids are left out."""
    place: Callable[[int], str]
    """Names the place of a row of the source in messages."""
    qids: Sequence[str] = ()
    """One per run of rows of the same query; none if the rows do not tell."""
    lengths: Indices = np.zeros(0, np.int64)
    """The number of rows of each run."""
    categories: Mapping[str, Vocabulary] = {}
    """The vocabulary of each feature that is a category."""

    @property
    def stop(self) -> int:
        """The number of the row behind the last in the source."""
        return self.start + len(self.features)

    def with_qids(self, qids: Strings) -> Slab:
        """The same rows with the qid of each."""
        starts = np.concatenate(([0], np.flatnonzero(qids[1:] != qids[:-1]) + 1))
        return self._replace(qids=[str(qid) for qid in qids[starts].tolist()], lengths=np.diff(starts, append=len(qids)))

    def rows_between(self, first: int, last: int) -> Slab:
        """Some of the rows, counted from 0; both bounds are bounds of runs."""
        bounds = np.concatenate(([0], np.cumsum(self.lengths)))
        runs = slice(int(bounds.searchsorted(first)), int(bounds.searchsorted(last)))
        values = {role: array[first:last] for role, array in self.values.items()}
        return self._replace(
            start=self.start + first,
            features=self.features[first:last],
            values=values,
            qids=self.qids[runs],
            lengths=self.lengths[runs],
        )

    def as_data(self, source: str) -> Dataset:
        """The rows as data; queries must be whole."""
        qids = np.repeat(as_text(list(self.qids)), self.lengths)
        values = {**self.values, "qid": qids}
        categories, place = self.categories, self.place_inside
        return rows_to_data(self.features, self.names, values, None, source=source, place=place, categories=categories)

    def place_inside(self, row: int) -> str:
        """The place of a row that is counted from the first of these rows."""
        return self.place(self.start + row)


def with_passed(slabs: Iterable[Slab], passed: Mapping[str, npt.NDArray[Any]], source: str) -> Iterator[Slab]:
    """Add the values of roles that the caller passes, one per row of the source."""
    passed = {role: _whole_names(array) if role in ("qid", "batch") else array for role, array in passed.items()}
    rows = 0
    for slab in slabs:
        rows = slab.stop
        if any(array.ndim != 1 or len(array) < rows for array in passed.values()):
            continue  # refused below
        parts = {role: array[slab.start : rows] for role, array in passed.items()}
        if "doc_id" in parts:  # checked as in whole data, but not kept
            row_names(parts.pop("doc_id"), "doc_id", slab.place_inside)
        named = slab.with_qids(row_names(parts.pop("qid"), "qid", slab.place_inside)) if "qid" in parts else slab
        yield named._replace(values={**slab.values, **parts})
    check_lengths(passed, rows, source)


def _whole_names(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Floats that are names as text: whether 7.0 is called "7" depends on all of them. Those to be refused stay as they are."""
    if values.dtype.kind != "f" or values.ndim != 1 or np.isnan(values).any() or inexact_whole_number(values) is not None:
        return values
    return row_names(values, "", str)


def with_sizes(slabs: Iterable[Slab], sizes: Indices, source: str) -> Iterator[Slab]:
    """Add the qids "1", "2", … to rows whose queries are known by their lengths."""
    possible = bool((sizes >= 0).all()) and float(sizes.sum(dtype=np.float64)) < 2.0**62  # else the sums below could wrap round
    ends = np.cumsum(sizes) if possible else np.zeros(0, np.int64)
    rows = 0
    for slab in slabs:
        rows = slab.stop
        if not len(ends) or rows > ends[-1]:
            continue  # refused below
        first, last = int(ends.searchsorted(slab.start, "right")), int(ends.searchsorted(rows, "left"))
        lengths = np.diff(np.minimum(ends[first : last + 1], rows), prepend=slab.start)
        filled = np.flatnonzero(lengths)
        yield slab._replace(qids=[str(number) for number in (filled + first + 1).tolist()], lengths=lengths[filled])
    check_sizes(sizes, rows, source)


def as_one_query(slabs: Iterable[Slab]) -> Iterator[Slab]:
    """Take all rows for one query; there are no others that it could be weighed against."""
    for slab in slabs:
        values = {role: array for role, array in slab.values.items() if role not in ("weight", "batch")}
        yield slab._replace(values=values, qids=["1"], lengths=np.asarray([len(slab.features)]))


def whole_queries(slabs: Iterable[Slab], rows: int) -> Iterator[Slab]:
    """Slabs of whole queries; each has as many queries as it takes to reach ``rows`` rows, the last may have fewer.

    Where slabs end makes no difference. The qids are remembered, all else is forgotten.
    """
    held: list[Slab] = []
    seen: set[str] = set()
    current: str | None = None
    for slab in slabs:
        begins = _beginnings(slab, current, seen)
        current, done = slab.qids[-1], 0
        while True:
            wanted = rows - sum(len(part.features) for part in held)
            following = int(begins.searchsorted(done + wanted))
            if following == len(begins):
                break
            last = int(begins[following])
            whole = _joined([*held, slab.rows_between(done, last)])
            held, done = [], last
            yield whole
            del whole  # memory of the caller from now on
        held.append(slab.rows_between(done, len(slab.features)))
    if held:
        yield _joined(held)


def _beginnings(slab: Slab, current: str | None, seen: set[str]) -> Indices:
    """The rows of a slab at which a query begins, as all runs do but the first if it goes on with the ``current`` query.

    Refuses a query that has been ``seen``.
    """
    begins = np.cumsum(slab.lengths) - slab.lengths
    goes_on = int(slab.qids[0] == current)
    for run, qid in enumerate(slab.qids[goes_on:], goes_on):
        if qid in seen:
            raise DataError(
                f"query {quoted(qid)} comes back behind rows of other queries",
                place=slab.place_inside(int(begins[run])),
                value=qid,
                rule="Rows of a query must be adjacent when data are streamed, a piece at a time",
                remedy="Sort the rows by query; or, if they fit in memory, read them with rankinite.read and give the Dataset",
                shell_remedy="Sort the rows by query",
            )
        seen.add(qid)
    return begins[goes_on:]


def _joined(slabs: Sequence[Slab]) -> Slab:
    """Consecutive slabs as one, as wide as the last of them, which is the widest."""
    slabs = [slab for slab in slabs if len(slab.features)]
    first, last = slabs[0], slabs[-1]
    if len(slabs) == 1:
        return first
    rows, width = last.stop - first.start, last.features.shape[1]
    _check_memory(rows, width, first)
    features = np.empty((rows, width), FEATURE)
    for slab in slabs:
        at, narrow = slab.start - first.start, slab.features.shape[1]
        features[at : at + len(slab.features), :narrow] = slab.features
        features[at : at + len(slab.features), narrow:] = 0  # only where absent features are 0 does the width grow
    parts = [(features[slab.start - first.start : slab.stop - first.start], slab.categories) for slab in slabs]
    return first._replace(
        features=features,
        names=last.names,
        values={role: np.concatenate([slab.values[role] for slab in slabs]) for role in first.values},
        qids=[qid for slab in slabs for qid in slab.qids],
        lengths=np.concatenate([slab.lengths for slab in slabs]),
        categories=unite_codes(last.names, parts),
    )


def _check_memory(rows: int, width: int, slab: Slab) -> None:
    needed = rows * width * np.dtype(FEATURE).itemsize
    if needed > UNCHECKED and needed > (allowance := memory_left()).left:
        what = f"{rows} rows of {width} features, which are read together,"
        raise too_large(slab.place_inside(0), what, needed, allowance, "Choose fewer features, or number them without gaps")
