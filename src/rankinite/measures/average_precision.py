"""Average precision; its mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from rankinite.errors import MeasureError
from rankinite.kernel import SCORE, Floats, Indices, Reals
from rankinite.measures import _kernels, _swaps
from rankinite.measures.base import Swap, check_cutoff, expected_values, ranks_up_to, relevant, scales_by_total
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

    name: ClassVar[str] = "ap"
    higher_is_better: ClassVar[bool] = True
    pooled: ClassVar[bool] = False
    swap: ClassVar[Swap] = Swap(_swaps.prepare_precisions, _swaps.change_precisions)

    def __post_init__(self) -> None:
        check_cutoff(self.name, self.cutoff)
        if self.of not in ("all", "reachable"):
            raise MeasureError(f"ap: of={self.of!r} is unknown. Known are all, reachable.")

    def __str__(self) -> str:
        return spell(self)

    def relevance(self, grades: Reals) -> Floats:
        """1 for relevant documents."""
        return relevant(grades, self.relevant)

    def discounts(self, ranks: int) -> Floats:
        """1, 1/2, 1/3, … up to the cutoff."""
        return 1.0 / np.arange(1, ranks_up_to(self.cutoff, ranks) + 1, dtype=SCORE)

    def scales(self, relevance: Floats, offsets: Indices, discounts: Floats) -> Floats:
        """One over the number of relevant documents."""
        return scales_by_total(relevance, offsets, self.cutoff if self.of == "reachable" else None)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        return expected_values(_kernels.expected_average_precision, self, ranking)
