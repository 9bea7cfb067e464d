"""Average precision; its mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from rankinite.engine.kernel import Floats
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import Parts, Swap
from rankinite.measures.binary import BinaryMeasure
from rankinite.measures.cutoff import check_word, reciprocal_ranks

Share: TypeAlias = Literal["all", "reachable"]
"""What AP@k is a share of: all relevant documents, or the min(k, relevant) that fit above the cutoff."""


@dataclass(frozen=True, slots=True)
class AP(BinaryMeasure):
    """Average precision: the mean precision at the ranks of the relevant documents. NaN where none is relevant."""

    of: Share = "all"

    name = "ap"
    swap = Swap(_swap_kernels.prepare_precisions, _swap_kernels.changes_precisions)

    def __post_init__(self) -> None:
        BinaryMeasure.__post_init__(self)
        check_word(self.name, "of", self.of, get_args(Share))

    @property
    def parts(self) -> Parts:
        """Precisions, over the relevant documents there are or that can be reached."""
        scale = _kernels.scale_by_relevant if self.of == "all" else _kernels.scale_by_reachable
        return Parts(_kernels.expected_average_precision, scale)

    def discounts(self, ranks: int) -> Floats:
        """1, 1/2, 1/3, … up to the cutoff."""
        return reciprocal_ranks(self.cutoff, ranks)
