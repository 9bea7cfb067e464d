"""Precision and recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _kernels
from rankinite.measures.base import SMALL, Parts, check_cutoff, check_finite, expected_values, ranks_up_to, relevant
from rankinite.measures.ranking import Ranking
from rankinite.measures.spelling import spell


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of relevant documents among the first ``cutoff``; without a cutoff, among all returned ones."""

    cutoff: int | None = None
    relevant: float = 1.0
    """The lowest grade that counts as relevant."""
    of: Literal["cutoff", "returned"] = "cutoff"
    """What a list shorter than the cutoff is a share of: the cutoff, as in trec_eval, or the documents there are."""

    name = "p"
    higher_is_better = True
    pooled = False
    bounds = (0.0, 1.0)
    parts = Parts(_kernels.expected_linear, _kernels.scale_one)

    def __post_init__(self) -> None:
        check_cutoff(self.name, self.cutoff)
        check_finite(self.name, "relevant", self.relevant)
        if self.of not in {"cutoff", "returned"}:
            raise MeasureError(f"p: of={quoted(self.of)} is unknown. Known are cutoff, returned.")

    def __str__(self) -> str:
        return spell(self)

    def table(self) -> Floats:
        """1 for the relevant ones of the grades 0, 1, 2, …"""
        return relevant(np.arange(SMALL, dtype=SCORE), self.relevant)

    def relevance(self, grades: Reals) -> Floats:
        """1 for relevant documents."""
        return relevant(grades, self.relevant)

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike: one over the cutoff, or 1 where the documents returned decide."""
        share = self.cutoff if self.cutoff is not None and self.of == "cutoff" else 1
        return np.full(ranks_up_to(self.cutoff, ranks), 1.0 / share, SCORE)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        values = expected_values(self, ranking)
        if self.cutoff is not None and self.of == "cutoff":
            return values
        most = ranking.longest if self.cutoff is None else self.cutoff
        return values / np.clip(ranking.returned, 1, most)


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of the relevant documents that stand among the first ``cutoff``. NaN where none is relevant."""

    cutoff: int | None = None
    relevant: float = 1.0
    """The lowest grade that counts as relevant."""

    name = "recall"
    higher_is_better = True
    pooled = False
    bounds = (0.0, 1.0)
    parts = Parts(_kernels.expected_linear, _kernels.scale_by_relevant)

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
        """Ranks up to the cutoff count alike."""
        return np.ones(ranks_up_to(self.cutoff, ranks), SCORE)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        return expected_values(self, ranking)
