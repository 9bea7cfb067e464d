"""Ranking: documents in the order in which a ranker puts them, which is what every measure looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from rankinite.choices import Ties
from rankinite.engine.kernel import GRADE, SCORE, Flags, Floats, Grades, Indices, Strings, frozen
from rankinite.engine.parallel import over_queries
from rankinite.errors import ArgumentError, DataError
from rankinite.measures import _ranking_kernels as _kernels
from rankinite.plurals import agreeing, counted

_CODES = {
    "expected": _kernels.TIES_EXPECTED,
    "lowest": _kernels.TIES_LOWEST,
    "highest": _kernels.TIES_HIGHEST,
    "order": _kernels.TIES_ORDER,
    "doc_id": _kernels.TIES_ORDER,
}


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of many queries in rank order; query q has the places offsets[q] … offsets[q+1]−1."""

    offsets: Indices
    grades: Grades
    tied: Flags
    """True where a document has the score of the one just above it and either may come first."""
    returned: Indices
    """One per query: how many documents have a rank. Those behind (score −inf) were not returned by the ranker:
    they count in the ideal ranking and among the relevant documents, and earn nothing."""
    one_grade: Flags
    """One per query: whether all its documents have the same grade, so that every ranker does equally well on it."""
    row_scores: Floats
    """The scores as they were given, row by row rather than in rank order."""
    row_grades: Grades
    """The grades of those rows."""

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    @property
    def longest(self) -> int:
        """The number of documents of the longest query."""
        return int(np.diff(self.offsets).max(initial=0))


def rank(
    scores: npt.ArrayLike,
    grades: npt.ArrayLike,
    offsets: npt.ArrayLike,
    *,
    ties: Ties = "expected",
    doc_ids: Strings | None = None,
) -> Ranking:
    """Sort each query's documents by score, the highest first."""
    values, grades = np.ascontiguousarray(scores, SCORE), np.ascontiguousarray(grades, GRADE)
    offsets = np.ascontiguousarray(offsets, np.int64)
    _check_scores(values, grades, offsets)
    check_ties(ties, doc_ids)
    return rank_checked(values, grades, offsets, ties, doc_ids)


def check_ties(ties: Ties, doc_ids: Strings | None) -> None:
    """Refuse a rule for ties that is unknown, or that the data cannot follow."""
    if ties not in _CODES:
        raise ArgumentError("is unknown", setting="ties", value=ties, rule=f"Known are {', '.join(get_args(Ties))}")
    if ties == "doc_id" and doc_ids is None:
        raise DataError(
            "ties by document id need data with document ids",
            value=ties,
            remedy="Choose `ties='expected'` or `ties='order'` instead",
        )


def rank_checked(values: Floats, grades: Grades, offsets: Indices, ties: Ties, doc_ids: Strings | None) -> Ranking:
    """:func:`rank` for scores and a rule that are known to be good."""
    if ties == "doc_id" and doc_ids is not None:
        # Rows of each query by falling id, then left in that order where scores tie.
        by_id = np.argsort(doc_ids, kind="stable")[::-1]
        query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        rows = by_id[np.argsort(query[by_id], kind="stable")]
        values, grades = values[rows], grades[rows]
    values, grades, offsets = frozen(values), frozen(grades), frozen(offsets)
    ranked, tied = np.empty(len(values), GRADE), np.empty(len(values), np.bool_)
    returned, one_grade = np.empty(len(offsets) - 1, np.int64), np.empty(len(offsets) - 1, np.bool_)

    def work(first: int, last: int) -> None:
        _kernels.rank_queries(values, grades, offsets, first, last, _CODES[ties], ranked, tied, returned, one_grade)

    over_queries(work, offsets)
    return Ranking(offsets, frozen(ranked), frozen(tied), frozen(returned), frozen(one_grade), values, grades)


def _check_scores(scores: Floats, grades: Grades, offsets: Indices) -> None:
    if (
        grades.ndim != 1
        or offsets.ndim != 1
        or offsets.size == 0
        or offsets[0] != 0
        or offsets[-1] != len(grades)
        or (np.diff(offsets) < 1).any()
    ):
        raise DataError(
            "the offsets do not cut the rows into queries",
            place="rank",
            value=offsets.shape,
            rule=f"Offsets rise from 0 to {grades.size}, the number of grades, without an empty query",
        )
    if scores.shape != grades.shape:
        raise DataError(
            f"there {agreeing(len(grades), 'is')} {counted(len(grades), 'row')} but the scores have shape {scores.shape}",
            place="rank",
            value=scores.shape,
            remedy="Give one score for each row, in the order of the data's rows",
        )
    bad = np.flatnonzero(np.isnan(scores))
    if len(bad):
        query = int(np.searchsorted(offsets, bad[0], side="right")) - 1
        raise DataError(
            f"the score is NaN, which has no place in a ranking ({len(bad)} NaN scores in all)",
            place=f"rank: row {bad[0]} (query number {query})",
            value=int(bad[0]),
            remedy="Give −inf for a document that is not returned",
        )
