"""Judged: the share of documents that anybody judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.measures import _kernels
from rankinite.measures.base import SMALL, Parts, expected_values
from rankinite.measures.cutoff import CutoffMeasure, per_returned, ranks_up_to
from rankinite.measures.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Judged(CutoffMeasure):
    """The share of judged documents among the first ``cutoff`` returned; without a cutoff, among all returned ones.

    Where it is low, other measures say little: to them an unjudged document is one that is not relevant.
    """

    name = "judged"
    bounds = (0.0, 1.0)
    sees_unjudged = True
    parts = Parts(_kernels.expected_linear, _kernels.scale_one)

    def table(self) -> Floats:
        """1 for the grades 0, 1, 2, …"""
        return np.ones(SMALL, SCORE)

    def relevance(self, grades: Reals) -> Floats:
        """1 where the grade is not negative."""
        return (grades >= 0.0).astype(SCORE)

    def discounts(self, ranks: int) -> Floats:
        """Ranks up to the cutoff count alike."""
        return np.ones(ranks_up_to(self.cutoff, ranks), SCORE)

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query; 0 where no document is returned."""
        return per_returned(expected_values(self, ranking), self.cutoff, ranking)
