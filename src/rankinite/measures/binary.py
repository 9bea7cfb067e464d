"""BinaryMeasure: measures for which a document is relevant or not, with a cutoff; WholeMeasure: the same without one.

To add one, write a frozen dataclass with slots that inherits one of them and has a ``name`` and ``parts`` (with a cutoff also
``discounts``, and ``swap``, if it is to be trained for); see :class:`rankinite.measures.reciprocal_rank.RR`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.measures.base import SMALL, PartedMeasure, check_finite, expected_values
from rankinite.measures.cutoff import CutoffMeasure
from rankinite.measures.ranking import Ranking
from rankinite.measures.spelling import spell


class RelevanceThreshold:
    """The relevance of a measure for which a document is relevant or not."""

    __slots__ = ()

    relevant: float
    bounds = (0.0, 1.0)

    def table(self) -> Floats:
        """1 for the relevant ones of the grades 0, 1, 2, …"""
        return self.relevance(np.arange(SMALL, dtype=SCORE))

    def relevance(self, grades: Reals) -> Floats:
        """1 where the grade is at least the lowest relevant one, else 0."""
        return (grades >= self.relevant).astype(SCORE)


@dataclass(frozen=True, slots=True)
class BinaryMeasure(RelevanceThreshold, CutoffMeasure):
    """A measure of relevance 0 or 1, from 0 to 1 itself."""

    relevant: float = 1.0
    """The lowest grade that counts as relevant."""

    def __post_init__(self) -> None:
        CutoffMeasure.__post_init__(self)
        check_finite(self.name, "relevant", self.relevant)


@dataclass(frozen=True, slots=True)
class WholeMeasure(RelevanceThreshold):
    """A measure of relevance 0 or 1 that looks at the whole ranking, or decides itself how far."""

    relevant: float = 1.0
    """The lowest grade that counts as relevant."""

    name: ClassVar[str]
    higher_is_better = True
    pooled = False

    def __post_init__(self) -> None:
        check_finite(self.name, "relevant", self.relevant)

    def __str__(self) -> str:
        return spell(self)

    def discounts(self, ranks: int) -> Floats:
        """Every rank counts."""
        return np.ones(ranks, SCORE)

    def per_query(self: PartedMeasure, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        return expected_values(self, ranking)
