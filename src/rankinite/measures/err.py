"""Expected reciprocal rank (papers 002 §3, 004 §3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.engine.powers import power_of_two
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import Parts, Swap
from rankinite.measures.cutoff import CutoffMeasure, reciprocal_ranks
from rankinite.measures.grades import GradeError


def stopping_probability(grades: Reals, max_grade: int) -> Floats:
    """R = (2^g − 1) / 2^max_grade (004, equation 2): how surely a user is content with a document of grade g."""
    outside = np.flatnonzero(~((grades >= 0) & (grades <= max_grade)))
    if len(outside):
        fitting = f"Use err:max_grade={int(np.ceil(np.max(grades)))}, or map the grades" if np.min(grades) >= 0 else ""
        raise GradeError(
            f"grade {grades[outside[0]]:g} is outside 0 … {max_grade}, the scale of this ERR",
            value=float(grades[outside[0]]),
            rule="The highest grade is part of the measure, never taken from the data",
            remedy=fitting or "Map the grades to grades from 0 on",
        )
    return (power_of_two(grades) - 1.0) / 2.0**max_grade


@dataclass(frozen=True, slots=True)
class ERR(CutoffMeasure):
    """Expected reciprocal rank: the user reads down the list and stops at a document with probability R(grade)."""

    max_grade: int = 4

    name = "err"
    bounds = (0.0, 1.0)
    parts = Parts(_kernels.expected_cascade, _kernels.scale_one)
    swap = Swap(_swap_kernels.prepare_cascade, _swap_kernels.changes_cascade)

    def __post_init__(self) -> None:
        CutoffMeasure.__post_init__(self)
        if self.max_grade not in range(1, 21):  # beyond, 1 − R is so small that swap changes lose their digits
            raise MeasureError(
                f"max_grade={quoted(self.max_grade)} is not a whole number in 1 … 20",
                place=self.name,
                value=self.max_grade,
                remedy="Give the highest grade of the scale, as in err:max_grade=4",
            )

    def table(self) -> Floats:
        """The stopping probabilities of the grades 0 … max_grade."""
        return stopping_probability(np.arange(self.max_grade + 1, dtype=SCORE), self.max_grade)

    def relevance(self, grades: Reals) -> Floats:
        """The stopping probabilities R."""
        return stopping_probability(grades, self.max_grade)

    def discounts(self, ranks: int) -> Floats:
        """1, 1/2, 1/3, … up to the cutoff."""
        return reciprocal_ranks(self.cutoff, ranks)
