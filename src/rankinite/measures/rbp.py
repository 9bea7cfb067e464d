"""Rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Floats
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import Parts, Swap, check_finite
from rankinite.measures.binary import BinaryMeasure
from rankinite.measures.cutoff import ranks_up_to


@dataclass(frozen=True, slots=True)
class RBP(BinaryMeasure):
    """Rank-biased precision: (1 − p)·Σ p^(rank − 1) over the relevant documents, of rank 1, 2, …"""

    p: float | None = None
    """How probably the user goes on to the next document, between 0 and 1. If None, 0.8 or as the convention has it."""

    name = "rbp"
    parts = Parts(_kernels.expected_linear, _kernels.scale_one)
    swap = Swap(_swap_kernels.prepare_nothing, _swap_kernels.changes_linear)

    def __post_init__(self) -> None:
        BinaryMeasure.__post_init__(self)
        check_finite(self.name, "p", self._continues)
        if not 0.0 < self._continues < 1.0:
            raise MeasureError(
                f"p={quoted(self.p)} is not between 0 and 1",
                place=self.name,
                value=self.p,
                rule="It is the probability that the user goes on from one document to the next",
                remedy="Give for example rbp:p=0.8",
            )

    @property
    def _continues(self) -> float:
        return 0.8 if self.p is None else self.p

    def discounts(self, ranks: int) -> Floats:
        """1 − p, (1 − p)·p, (1 − p)·p², … up to the cutoff."""
        factors = np.full(ranks_up_to(self.cutoff, ranks), self._continues, SCORE)
        factors[:1] = 1.0 - self._continues
        return np.multiply.accumulate(factors)  # not a power: products have the same bits everywhere
