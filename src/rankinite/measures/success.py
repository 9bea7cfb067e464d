"""Success at k, also called the hit rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Floats
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import Parts, Swap
from rankinite.measures.binary import BinaryMeasure
from rankinite.measures.cutoff import check_given, ranks_up_to


@dataclass(frozen=True, slots=True)
class Success(BinaryMeasure):
    """1 where a relevant document is among the first ``cutoff``, else 0 (hit@k). NaN where none is relevant."""

    cutoff: int | None = 10

    name = "success"
    parts = Parts(_kernels.expected_reciprocal_rank, _kernels.scale_if_relevant)
    swap = Swap(_swap_kernels.prepare_first_two, _swap_kernels.changes_first)

    def __post_init__(self) -> None:
        BinaryMeasure.__post_init__(self)
        check_given(self.name, self.cutoff)

    def discounts(self, ranks: int) -> Floats:
        """The first relevant document counts 1 wherever it is above the cutoff."""
        return np.ones(ranks_up_to(self.cutoff, ranks), SCORE)
