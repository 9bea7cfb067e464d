"""Queries one by one, their documents, and the grades by rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.engine.kernel import Flags, Floats, Indices
from rankinite.errors import DataError
from rankinite.evaluation.evaluate import Evaluation, Result
from rankinite.report.document import Documents, GradesByRank, Number, Queries
from rankinite.report.movers import movers_of

DOCUMENT_BYTES = 12_500_000
"""About how much room documents may take in the file; of larger data only the first ones of each query are kept."""
TOPS = (100, 50, 30, 20, 10, 5, 3, 1)
"""How many of the first documents are then kept."""
RANKS = 20
"""Ranks at which grades are counted."""
MOST_GRADES = 10
"""More grades than this cannot be told apart by colour."""


@dataclass(frozen=True)
class JudgedRanker:
    """One ranker's scores of the rows of some data, and their result by a measure."""

    name: str
    scores: Floats
    result: Result


def check_same_queries(evaluation: Evaluation, data: Any, name: str) -> None:
    """Refuse data other than those that were judged."""
    if not isinstance(data, Dataset):
        kind, remedy = type(data).__name__, "Give a Dataset, as rankinite.read returns"
        raise DataError(f"this is a {kind}", place=name, value=kind, remedy=remedy)
    if len(evaluation.qids) != data.queries or (evaluation.qids != data.qids).any():
        remedy = "Give the report the data of the result"
        raise DataError("these are not the queries that were judged", place=data.source, value=name, remedy=remedy)
    check_judged(data)


def queries_of(
    data: Dataset,
    before: JudgedRanker | None,
    after: JudgedRanker,
    note: str = "",
    rankers: tuple[Any, Any] | None = None,
) -> Queries:
    """Every query that the measure counts, with its documents; ``rankers``: both, to see which features moved documents."""
    counted = np.flatnonzero(~np.isnan(after.result.per_query))
    shown = data.select_queries(counted)
    documents, order = _documents(shown, *(_of(side, data, counted) for side in (before, after)))
    movers = None
    if before is not None and documents.rank_before is not None and len(counted):
        moved = [old != new for old, new in zip(documents.rank_before, documents.rank_after, strict=True)]
        movers = movers_of(shown, order, moved, (after.result.per_query - before.result.per_query)[counted], rankers)
    return Queries(
        measure=str(after.result.measure),
        higher_is_better=after.result.measure.higher_is_better,
        source=data.source,
        note=note,
        before_name=None if before is None else before.name,
        after_name=after.name,
        skipped=data.queries - len(counted),
        qids=tuple(map(str, data.qids[counted].tolist())),
        before=None if before is None else rounded(before.result.per_query[counted], 6),
        after=rounded(after.result.per_query[counted], 6),
        documents=documents,
        movers=movers,
        cutoff=getattr(after.result.measure, "cutoff", None),
    )


def grades_by_rank(data: Dataset, before: JudgedRanker | None, after: JudgedRanker) -> GradesByRank | None:
    """Shares of grades at the first ranks; tied documents count at all their ranks in equal parts."""
    levels = np.unique(data.grades)
    if not 1 < len(levels) <= MOST_GRADES:
        return None
    lengths = np.diff(data.offsets)
    ranks = min(RANKS, int(lengths.max()))
    return GradesByRank(
        source=data.source,
        before_name=None if before is None else before.name,
        after_name=after.name,
        grades=_plain_grades(levels),
        queries=tuple(int((lengths > rank).sum()) for rank in range(ranks)),
        before=None if before is None else _shares(data, before.scores, levels, ranks),
        after=_shares(data, after.scores, levels, ranks),
    )


def rounded(values: Floats, decimals: int) -> tuple[float, ...]:
    """The values with no more digits than are shown; a rounded −0.0 is 0."""
    return tuple((np.round(values, decimals) + 0.0).tolist())


def tied_ranks(scores: Floats, offsets: Indices) -> Indices:
    """The rank of every row in its query from 1 on, the best of those that tie for all of them; 0: not returned."""
    queries = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-scores, queries))
    fresh = _begins(scores[order], queries[order])
    place = np.arange(len(scores)) - offsets[queries]
    first = np.maximum.accumulate(np.where(fresh, np.arange(len(scores)), 0))
    ranks = np.empty(len(scores), np.int64)
    ranks[order] = place[first] + 1
    ranks[np.isneginf(scores)] = 0
    return ranks


def _of(side: JudgedRanker | None, data: Dataset, counted: Indices) -> Floats | None:
    if side is None:
        return None
    kept = np.isin(data.query_of_row(), counted)
    return side.scores[kept]


def _begins(scores: Floats, queries: Indices) -> Flags:
    """Where a new block of tied documents begins, of rows in rank order."""
    fresh = np.ones(len(scores), np.bool_)
    fresh[1:] = (scores[1:] != scores[:-1]) | (queries[1:] != queries[:-1])
    return fresh


def _documents(data: Dataset, before: Floats | None, after: Floats | None) -> tuple[Documents, Indices]:
    """The documents in the order of the report, and their rows."""
    assert after is not None
    queries = data.query_of_row()
    new = tied_ranks(after, data.offsets)
    old = None if before is None else tied_ranks(before, data.offsets)
    keep, top = _kept(data, new, old)
    far = np.iinfo(np.int64).max
    order = np.lexsort((np.arange(data.rows), *([] if old is None else [_or(old, far)]), _or(new, far), queries))
    order = order[keep[order]]
    lengths = np.bincount(queries[order], minlength=data.queries)
    left_out = np.diff(data.offsets) - lengths
    found = Documents(
        offsets=(0, *np.cumsum(lengths).tolist()),
        grades=_plain_grades(data.grades[order]),
        ids=None if data.doc_ids is None else tuple(map(str, data.doc_ids[order].tolist())),
        rank_before=None if old is None else tuple(old[order].tolist()),
        rank_after=tuple(new[order].tolist()),
        score_before=None if before is None else _short(before[order]),
        score_after=_short(after[order]),
        top=top,
        left_out=tuple(left_out.tolist()) if top else (),
    )
    return found, order


def _or(ranks: Indices, unranked: int) -> Indices:
    return np.where(ranks == 0, unranked, ranks)


def _kept(data: Dataset, new: Indices, old: Indices | None) -> tuple[Flags, int]:
    """Which rows have room in the file, and the rank down to which they do (0: all)."""
    size = 18.0 if old is None else 30.0
    if data.doc_ids is not None:
        sample = data.doc_ids[:: max(1, data.rows // 2000)].tolist()
        size += 3.0 + sum(len(str(name).encode("utf-8", "replace")) for name in sample) / max(1, len(sample))
    keep, top = np.ones(data.rows, np.bool_), 0
    if data.rows * size <= DOCUMENT_BYTES:
        return keep, top
    for top in TOPS:
        keep = (new > 0) & (new <= top)
        if old is not None:
            keep |= (old > 0) & (old <= top)
        if keep.sum() * size <= DOCUMENT_BYTES:
            break
    return keep, top


def _short(scores: Floats) -> tuple[Number, ...]:
    """Scores with as many decimals as tell most apart: five digits of the largest; infinite ones are None."""
    finite = np.isfinite(scores)
    largest = float(np.abs(scores[finite]).max(initial=0.0))
    decimals = 4 - math.floor(math.log10(largest)) if largest > 0.0 else 0
    values = rounded(np.where(finite, scores, 0.0), min(max(decimals, 0), 15))
    return values if finite.all() else tuple(v if known else None for v, known in zip(values, finite.tolist(), strict=True))


def _plain_grades(grades: Any) -> tuple[float, ...]:
    """Whole grades as whole numbers, which are shorter."""
    whole = bool((grades == np.floor(grades)).all()) and bool((np.abs(grades) < 1e9).all())
    return tuple(grades.astype(np.int64).tolist() if whole else rounded(grades.astype(np.float64), 4))


def _shares(data: Dataset, scores: Floats, levels: Any, ranks: int) -> tuple[tuple[float, ...], ...]:
    queries = data.query_of_row()
    order = np.lexsort((-scores, queries))
    one_hot = (data.grades[order][:, None] == levels[None, :]).astype(np.float64)
    starts = np.flatnonzero(_begins(scores[order], queries[order]))
    blocks = np.diff(np.append(starts, len(order)))
    expected = np.repeat(np.add.reduceat(one_hot, starts, axis=0) / blocks[:, None], blocks, axis=0)
    place = np.arange(len(order)) - data.offsets[queries]
    shown = (place < ranks) & ~np.isneginf(scores[order])
    sums = np.zeros((ranks, len(levels)))
    np.add.at(sums, place[shown], expected[shown])
    totals = np.maximum(sums.sum(axis=1, keepdims=True), 1e-300)
    return tuple(rounded(row, 4) for row in sums / totals)
