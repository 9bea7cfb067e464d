"""Reciprocal rank; its mean over queries is MRR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import SMALL, Parts, Swap, check_cutoff, check_finite, expected_values, reciprocal_ranks, relevant
from rankinite.measures.ranking import Ranking
from rankinite.measures.spelling import spell


@dataclass(frozen=True, slots=True)
class RR:
    """Reciprocal rank: one over the rank of the first relevant document. NaN where none is relevant."""

    cutoff: int | None = None
    relevant: float = 1.0
    """The lowest grade that counts as relevant."""

    name = "rr"
    higher_is_better = True
    pooled = False
    bounds = (0.0, 1.0)
    parts = Parts(_kernels.expected_reciprocal_rank, _kernels.scale_if_relevant)
    swap = Swap(_swap_kernels.prepare_first_two, _swap_kernels.changes_first)

    def __post_init__(self) -> None:
        check_cutoff(self.name, self.cutoff)
        check_finite(self.name, "relevant", self.relevant)

    def __str__(self) -> str:
        return spell(self)

    def table(self) -> Floats:
        """1 for the relevant ones of the grades 0, 1, 2, …"""
        return relevant(np.arange(SMALL, dtype=SCORE), self.relevant)

    def relevance(self, grades: Reals) -> Floats:
        """1 for relevant documents."""
        return relevant(grades, self.relevant)

    def discounts(self, ranks: int) -> Floats:
        """1, 1/2, 1/3, … up to the cutoff."""
        return reciprocal_ranks(self.cutoff, ranks)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        return expected_values(self, ranking)
