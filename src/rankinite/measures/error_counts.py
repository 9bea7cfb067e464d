"""Measures that count mistakes, the fewer the better: pairs in the wrong order, documents on the wrong side of a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankinite.engine.kernel import SCORE, Floats
from rankinite.engine.parallel import over_queries
from rankinite.errors import MeasureError
from rankinite.measures import _kernels
from rankinite.measures.base import check_finite
from rankinite.measures.ranking import Ranking
from rankinite.measures.registry import measure, spell
from rankinite.pickles import StablePickle

__all__ = ["BalancedError", "PairwiseErrors"]


@measure("pairwise-errors")
@dataclass(frozen=True, slots=True)
class PairwiseErrors(StablePickle):
    """The number of pairs of a query that are ranked against their grades (002, Figure 1); a tied pair counts one half."""

    name: ClassVar[str]
    higher_is_better = False
    pooled = False
    bounds = (0.0, math.inf)

    def __str__(self) -> str:
        return spell(self)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected count of every query."""
        errors = np.empty(ranking.queries, SCORE)
        over_queries(
            lambda a, b: _kernels.pairwise_errors(ranking.grades, ranking.tied, ranking.offsets, a, b, errors),
            ranking.offsets,
        )
        return errors


@measure("balanced-error")
@dataclass(frozen=True, slots=True)
class BalancedError(StablePickle):
    """False positives / 2n₋ + false negatives / 2n₊ over all rows (002 §6.1): chance is ½ whatever the balance.

    A document is called positive when its score is above the threshold. Query q contributes its own mistakes times
    the number of queries, so that the mean over queries is the error of the whole.
    """

    threshold: float = 0.0
    relevant: float = 1.0
    """The lowest grade that counts as positive."""

    name: ClassVar[str]
    higher_is_better = False
    pooled = True
    bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_finite(self.name, "relevant", self.relevant)
        check_finite(self.name, "threshold", self.threshold)

    def __str__(self) -> str:
        return spell(self)

    def per_query(self, ranking: Ranking) -> Floats:
        """Each query's part of the error."""
        positive = ranking.row_grades >= self.relevant
        called = ranking.row_scores > self.threshold
        positives = int(positive.sum())
        negatives = len(positive) - positives
        if not positives or not negatives:
            raise MeasureError(
                f"{positives} of {len(positive)} documents have a grade from relevant={self.relevant:g} on",
                place=self.name,
                value=positives,
                rule="There must be documents on both sides",
                remedy=f"Choose another lowest grade, as in {self.name}:relevant=2",
            )
        # Counted in whole numbers: the order of the rows must not change a bit.
        false_positives = np.add.reduceat((called & ~positive).astype(np.int64), ranking.offsets[:-1])
        false_negatives = np.add.reduceat((~called & positive).astype(np.int64), ranking.offsets[:-1])
        return ranking.queries * (false_positives / (2.0 * negatives) + false_negatives / (2.0 * positives))
