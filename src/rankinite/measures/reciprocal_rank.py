"""Reciprocal rank; its mean over queries is MRR."""

from __future__ import annotations

from dataclasses import dataclass

from rankinite.engine.kernel import Floats
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import Parts, Swap
from rankinite.measures.binary import BinaryMeasure
from rankinite.measures.cutoff import reciprocal_ranks


@dataclass(frozen=True, slots=True)
class RR(BinaryMeasure):
    """Reciprocal rank: one over the rank of the first relevant document. NaN where none is relevant."""

    name = "rr"
    parts = Parts(_kernels.expected_reciprocal_rank, _kernels.scale_if_relevant)
    swap = Swap(_swap_kernels.prepare_first_two, _swap_kernels.changes_first)

    def discounts(self, ranks: int) -> Floats:
        """1, 1/2, 1/3, … up to the cutoff."""
        return reciprocal_ranks(self.cutoff, ranks)
