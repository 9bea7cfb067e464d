"""Average precision; its mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import SMALL, Parts, Swap, check_cutoff, check_finite, expected_values, reciprocal_ranks, relevant
from rankinite.measures.ranking import Ranking
from rankinite.measures.spelling import spell

Share: TypeAlias = Literal["all", "reachable"]
"""What AP@k is a share of: all relevant documents, or the min(k, relevant) that fit above the cutoff."""


@dataclass(frozen=True, slots=True)
class AP:
    """Average precision: the mean precision at the ranks of the relevant documents. NaN where none is relevant."""

    cutoff: int | None = None
    relevant: float = 1.0
    """The lowest grade that counts as relevant."""
    of: Share = "all"

    name = "ap"
    higher_is_better = True
    pooled = False
    bounds = (0.0, 1.0)
    swap = Swap(_swap_kernels.prepare_precisions, _swap_kernels.changes_precisions)

    def __post_init__(self) -> None:
        check_cutoff(self.name, self.cutoff)
        check_finite(self.name, "relevant", self.relevant)
        if self.of not in {"all", "reachable"}:
            raise MeasureError(f"ap: of={quoted(self.of)} is unknown. Known are all, reachable.")

    def __str__(self) -> str:
        return spell(self)

    @property
    def parts(self) -> Parts:
        """Precisions, over the relevant documents there are or that can be reached."""
        scale = _kernels.scale_by_relevant if self.of == "all" else _kernels.scale_by_reachable
        return Parts(_kernels.expected_average_precision, scale)

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
