"""PreparedScorer: a ranker made ready to score many small matrices, as a service does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankinite.data.io.column_types import repeated_names
from rankinite.engine.kernel import FEATURE, INDEX, SCORE, Floats, Reals
from rankinite.errors import ArgumentError, DataError
from rankinite.models.base import Fitted, names_of, part_scores
from rankinite.models.inputs import NamedMatrix, two_features
from rankinite.pickles import restore_scorer
from rankinite.plurals import counted
from rankinite.trees.walk import TreeRun, add_runs, expected_grades

if TYPE_CHECKING:
    from rankinite.models.forest import Forest

PRECISIONS = frozenset({np.dtype(FEATURE), np.dtype(SCORE)})
"""What a matrix may hold."""


@dataclass(frozen=True, eq=False, repr=False)
class PreparedScorer:
    """A function from matrices to scores: ``scorer = ranker.scorer(names)``, then ``scorer(matrix)`` for every request.

    The scores are those of the ranker's ``score``, to the bit. The scorer holds nothing that a call changes, so any number of
    threads may call it at once, and so may processes that are forked after it was made.
    """

    ranker: Fitted
    """The ranker, its features named as the columns are."""
    names: tuple[str, ...]
    """What the columns are; empty for a ranker that takes them by position alone."""

    def __call__(self, matrix: npt.NDArray[Any]) -> Floats:
        """One score per row of a row-major matrix of float32 or float64; NaN is missing.

        If the score of a document depends on the others of its query, all rows of a call are documents of one query.
        """
        return self._scores(self._checked(matrix))

    def __repr__(self) -> str:
        return f"<Scorer of {counted(len(self.names), 'column')}: {self.ranker.line()}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_scorer, (self.ranker, self.names)

    def _scores(self, matrix: Reals) -> Floats:
        features = NamedMatrix(matrix, self.names) if self.names else matrix
        return np.asarray(part_scores(self.ranker, features, np.zeros(len(matrix), INDEX)), SCORE)

    def _checked(self, matrix: npt.NDArray[Any]) -> Reals:
        """The matrix, after the few checks without which a kernel could read outside of it."""
        array = np.asarray(matrix)
        if array.dtype not in PRECISIONS or not array.flags.c_contiguous:
            raise DataError(
                f"the matrix is {array.dtype}{'' if array.flags.c_contiguous else ', not row by row'}",
                value=str(array.dtype),
                rule="A scorer takes float32 or float64, row-major",
                remedy="Convert it once with `numpy.ascontiguousarray(matrix, numpy.float32)`",
            )
        if array.ndim != 2 or (array.shape[1] != len(self.names) and self.names):
            columns = counted(len(self.names), "column") if self.names else "its columns"
            raise DataError(
                f"the matrix has shape {array.shape}",
                value=array.shape,
                rule=f"It must have one row per document and {columns}",
                remedy="Give the columns that the scorer was made for; one document is `row.reshape(1, -1)`",
            )
        return array


@dataclass(frozen=True, eq=False, repr=False)
class ForestScorer(PreparedScorer):
    """The scorer of a forest: its trees are laid out for the columns."""

    ranker: Forest  # pyright: ignore[reportIncompatibleVariableOverride] - it is frozen
    runs: tuple[TreeRun, ...]
    """All trees."""

    def __post_init__(self) -> None:
        for precision in PRECISIONS:  # loads the kernels now, not at the first request, nor in every forked process
            self(np.empty((0, len(self.names)), precision))

    def _scores(self, matrix: Reals) -> Floats:
        forest = self.ranker
        sums = np.empty((len(forest.start), len(matrix)))
        sums[:] = forest.start[:, None]
        add_runs(self.runs, matrix, sums)
        return sums[0] if forest.grades is None else expected_grades(sums, forest.grades)


def matched_by_names(ranker: Fitted, names: Sequence[str] | None) -> tuple[Fitted, tuple[str, ...]]:
    """The ranker with its features named as columns are, and the names of the columns; refuses names that do not fit."""
    columns = names_of(ranker) if names is None else tuple(names)
    odd: Any = names if isinstance(names, str) else next((name for name in columns if not isinstance(name, str)), None)  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
    if odd is not None:
        raise ArgumentError(
            "must list the names of columns", owner="scorer", setting="names", value=odd, remedy="Give a list of texts"
        )
    if repeated := repeated_names(columns):
        raise two_features("the columns", repeated[0])
    return (ranker.matched(columns, "the columns", lambda _: None) if columns else ranker), columns
