"""Precision and recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from rankinite.engine.kernel import SCORE, Floats
from rankinite.measures import _kernels
from rankinite.measures.base import Parts, expected_values
from rankinite.measures.binary import BinaryMeasure
from rankinite.measures.cutoff import check_word, per_returned, ranks_up_to
from rankinite.measures.ranking import Ranking

Share: TypeAlias = Literal["cutoff", "returned"]
"""What precision at k is a share of where fewer documents are returned: k, as in trec_eval, or the documents there are."""


@dataclass(frozen=True, slots=True)
class Precision(BinaryMeasure):
    """The share of relevant documents among the first ``cutoff``; without a cutoff, among all returned ones."""

    of: Share = "cutoff"

    name = "p"
    parts = Parts(_kernels.expected_linear, _kernels.scale_one)

    def __post_init__(self) -> None:
        BinaryMeasure.__post_init__(self)
        check_word(self.name, "of", self.of, get_args(Share))

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike: one over the cutoff, or 1 where the documents returned decide."""
        share = self.cutoff if self.cutoff is not None and self.of == "cutoff" else 1
        return np.full(ranks_up_to(self.cutoff, ranks), 1.0 / share, SCORE)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        values = expected_values(self, ranking)
        if self.cutoff is not None and self.of == "cutoff":
            return values
        return per_returned(values, self.cutoff, ranking)


@dataclass(frozen=True, slots=True)
class Recall(BinaryMeasure):
    """The share of the relevant documents that are among the first ``cutoff``. NaN where none is relevant."""

    name = "recall"
    parts = Parts(_kernels.expected_linear, _kernels.scale_by_relevant)

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike."""
        return np.ones(ranks_up_to(self.cutoff, ranks), SCORE)
