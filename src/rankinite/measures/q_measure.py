"""Q-measure: average precision for several grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _whole_kernels
from rankinite.measures.base import SMALL, Parts, check_finite
from rankinite.measures.cutoff import CutoffMeasure, ranks_up_to
from rankinite.measures.dcg import Gains, checked_gains, gain_of


@dataclass(frozen=True, slots=True)
class QMeasure(CutoffMeasure):
    """Q-measure: at the rank r of each relevant document, (C(r) + β·cg(r)) / (r + β·cg*(r)), on average.

    C counts the relevant documents up to there and cg adds up their gains; cg* does so for the best order. A document is
    relevant where its gain is above 0. With a cutoff the sum up to there is a share of the relevant documents that fit above
    it, so that the best order always has 1. NaN where none is relevant.
    """

    gains: Gains = "linear"
    """What a grade is worth: ``linear`` (the grade itself), ``exponential``, or a table such as (0, 1, 3, 7, 10)."""
    beta: float = 1.0
    """How much gains count against the number of relevant documents; towards 0 it becomes average precision."""

    name = "q"
    bounds = (0.0, 1.0)
    parts = Parts(_whole_kernels.expected_blended_ratios, _whole_kernels.scale_by_relevant_above)

    def __post_init__(self) -> None:
        CutoffMeasure.__post_init__(self)
        object.__setattr__(self, "gains", checked_gains(self.name, self.gains))
        check_finite(self.name, "beta", self.beta)
        if self.beta <= 0.0:
            raise MeasureError(
                f"beta={quoted(self.beta)} is not above 0",
                place=self.name,
                value=self.beta,
                remedy="Give for example q:beta=1, or choose ap, where gains do not count",
            )

    def table(self) -> Floats:
        """β times the gains of the grades 0, 1, 2, …"""
        return self.relevance(np.arange(len(self.gains) if isinstance(self.gains, tuple) else SMALL, dtype=SCORE))

    def relevance(self, grades: Reals) -> Floats:
        """β times the gains; 0 where a gain is negative."""
        return self.beta * np.maximum(gain_of(grades, self.gains), 0.0)

    def discounts(self, ranks: int) -> Floats:
        """1 up to the cutoff, then 0: gains below it count in the ideal."""
        seen = np.zeros(ranks, SCORE)
        seen[: ranks_up_to(self.cutoff, ranks)] = 1.0
        return seen
