"""Reciprocal rank; its mean over queries is MRR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankinite.kernel import SCORE, Floats, Indices, Reals
from rankinite.measures import _kernels, _swaps
from rankinite.measures.base import Swap, check_cutoff, expected_values, ranks_up_to, relevant, scales_by_total
from rankinite.measures.ranking import Ranking
from rankinite.measures.spelling import spell


@dataclass(frozen=True, slots=True)
class RR:
    """Reciprocal rank: one over the rank of the first relevant document. NaN where none is relevant."""

    cutoff: int | None = None
    relevant: float = 1.0
    """The lowest grade that counts as relevant."""

    name: ClassVar[str] = "rr"
    higher_is_better: ClassVar[bool] = True
    pooled: ClassVar[bool] = False
    swap: ClassVar[Swap] = Swap(_swaps.prepare_first_two, _swaps.change_first)

    def __post_init__(self) -> None:
        check_cutoff(self.name, self.cutoff)

    def __str__(self) -> str:
        return spell(self)

    def relevance(self, grades: Reals) -> Floats:
        """1 for relevant documents."""
        return relevant(grades, self.relevant)

    def discounts(self, ranks: int) -> Floats:
        """1, 1/2, 1/3, … up to the cutoff."""
        return 1.0 / np.arange(1, ranks_up_to(self.cutoff, ranks) + 1, dtype=SCORE)

    def scales(self, relevance: Floats, offsets: Indices, discounts: Floats) -> Floats:
        """1 where a document is relevant."""
        return scales_by_total(relevance, offsets, most=1)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        return expected_values(_kernels.expected_reciprocal_rank, self, ranking)
