"""BinaryMeasure: measures for which a document is relevant or not.

To add one, write a frozen dataclass with slots that inherits it and has a ``name``, ``parts`` and ``discounts`` (and ``swap``,
if it is to be trained for); see :class:`rankinite.measures.reciprocal_rank.RR`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.measures.base import SMALL, check_finite
from rankinite.measures.cutoff import CutoffMeasure


@dataclass(frozen=True, slots=True)
class BinaryMeasure(CutoffMeasure):
    """A measure of relevance 0 or 1, from 0 to 1 itself."""

    relevant: float = 1.0
    """The lowest grade that counts as relevant."""

    bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        CutoffMeasure.__post_init__(self)
        check_finite(self.name, "relevant", self.relevant)

    def table(self) -> Floats:
        """1 for the relevant ones of the grades 0, 1, 2, …"""
        return self.relevance(np.arange(SMALL, dtype=SCORE))

    def relevance(self, grades: Reals) -> Floats:
        """1 where the grade is at least the lowest relevant one, else 0."""
        return (grades >= self.relevant).astype(SCORE)
