"""Arguments of the kernels of the pair losses: all that stays the same while scores change."""

from __future__ import annotations

from typing import NamedTuple

from rankinite.engine.kernel import Floats, Grades, Indices, RowNumbers


class Graded(NamedTuple):
    """Pairs that follow from grades. ``relevance`` and ``order`` are in content order."""

    prepare: int
    changes: int
    """Addresses of the two kernels of a measure (see ``measures._swap_kernels``)."""
    rows: RowNumbers
    """(rows,) the content order: query by query, which rows come one after the other."""
    grades: Grades
    """(rows,) in the order of the data: the data's own array, as a copy in content order would take memory of its own."""
    relevance: Floats
    offsets: Indices
    """(queries + 1,)."""
    discounts: Floats
    """One per rank of the longest query."""
    scales: Floats
    """(queries,); 0 leaves a query out."""
    weights: Floats
    """(queries,)."""
    sigma: float
    depth: int
    """Pairs count whose upper rank is below this."""
    normalise: bool
    order: Indices
    """(rows,) how each query was ranked at the last call, where the next one starts to sort: the one array that changes."""


class JudgedPairs(NamedTuple):
    """Pairs that were judged, query by query."""

    rows: RowNumbers
    """(rows,) the content order."""
    better: Indices
    worse: Indices
    """Rows of the data, one per pair."""
    probability: Floats
    """That the first is better, one per pair."""
    pair_offsets: Indices
    """(queries + 1,)."""
    offsets: Indices
    """(queries + 1,)."""
    weights: Floats
    """(queries,)."""
    sigma: float


class Differing(NamedTuple):
    """Numbers whose differences within queries are to be followed."""

    rows: RowNumbers
    """(rows,) the content order."""
    grades: Floats
    """(rows,) in the order of the data."""
    offsets: Indices
    """(queries + 1,)."""
    weights: Floats
    """(queries,)."""


class Work(NamedTuple):
    """Workspace for one query of up to n documents, m being n filled up to whole blocks."""

    numbers: Floats
    """(8, m)."""
    states: Floats
    """2(n + 1)."""
    places: Indices
    """(2, m)."""
