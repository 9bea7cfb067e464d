"""Measures of graded relevance: DCG, NDCG and AveNDCG, Q-measure, and ERR.

Papers: 000 §1, 002 §3 equation 5 and 001 §5 for gains; 002 §3 and 004 §3 for ERR. A measure here is the relevance of a grade (a
gain, or how surely a user stops there), the discount of a rank, and two kernels that put these together, exact over all orders
of tied documents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

import numpy as np

from rankinite.engine._math_kernels import binary_logarithms
from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.engine.powers import power_of_two
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.base import (
    LOOKED_UP,
    CutoffMeasure,
    GradeError,
    MeasureKernels,
    Swap,
    check_finite,
    check_word,
    expected_values,
    ranks_up_to,
    reciprocal_ranks,
    require_cutoff,
)
from rankinite.measures.ranking import Ranking
from rankinite.measures.registry import measure

__all__ = ["DCG", "ERR", "NDCG", "AveNDCG", "QMeasure"]

Gains: TypeAlias = Literal["exponential", "linear"] | tuple[float, ...]
"""What a grade g is worth: 2^g − 1 (up to grade 31), g itself, or the g-th entry of a table such as (0, 1, 3, 7, 10)."""
Discount: TypeAlias = Literal["log2", "letor"]
"""The weight of rank r = 1, 2, …: 1/log2(1+r); or LETOR's 1, 1, 1/log2(3), 1/log2(4), …, which leaves rank 2 undiscounted."""
Short: TypeAlias = Literal["counted", "zero"]
"""What a query with fewer documents than the cutoff counts: its value, or 0 as in LETOR's evaluation script."""

HIGHEST_EXPONENTIAL = 31
"""The highest grade that has an exponential gain, as in XGBoost: beyond, one document outweighs all others there could be."""

_LINEAR_INSTEAD = (
    "Choose linear gains, as in 'ndcg@10:gains=linear' (where training only watches the measure: "
    "`watch='ndcg@10:gains=linear'`), give a table of gains"
)


def gain_of(grades: Reals, gains: Gains) -> Floats:
    """The gain of every grade."""
    if gains == "linear":
        return np.asarray(grades, SCORE)
    if gains == "exponential":
        highest = float(np.max(grades, initial=0.0))
        if highest > HIGHEST_EXPONENTIAL:
            raise GradeError(
                f"grade {highest:g} is above {HIGHEST_EXPONENTIAL}, the highest with an exponential gain",
                value=highest,
                rule="Beyond it, 2^grade − 1 would leave nothing to all other documents",
                remedy=f"{_LINEAR_INSTEAD}, or map the grades to fewer with map_grades",
                shell_remedy=f"{_LINEAR_INSTEAD}, or write the files with fewer grades",
            )
        return power_of_two(grades) - 1.0
    unknown = [grade for grade in np.unique(grades).tolist() if grade not in range(len(gains))]
    if unknown:
        raise GradeError(
            f"grade {unknown[0]:g} has no gain in the table {quoted(gains)}",
            value=unknown[0],
            rule=f"A table of {len(gains)} gains serves the whole grades 0 … {len(gains) - 1}",
            remedy="Extend it or map the grades",
        )
    return np.asarray(gains, SCORE)[grades.astype(np.int64)]


def grades_with_gains(gains: Gains) -> Floats:
    """The grades 0, 1, 2, … whose gains are looked up: all of a table."""
    return np.arange(len(gains) if isinstance(gains, tuple) else LOOKED_UP, dtype=SCORE)


def check_gains(name: str, gains: Gains | Sequence[float]) -> Gains:
    """The gains as a frozen value; refuses those that are unknown, or fall with the grade."""
    if isinstance(gains, str) and gains in ("exponential", "linear"):
        return gains
    try:
        table = () if isinstance(gains, str) else tuple(float(gain) for gain in gains)
    except (TypeError, ValueError, OverflowError):
        table = ()
    if not table:
        raise MeasureError(
            f"gains={quoted(gains)} is unknown",
            place=name,
            value=gains,
            rule="Known are exponential, linear, or a table such as 0/1/3/7/10",
        )
    if not np.isfinite(table).all() or any(b < a for a, b in pairwise(table)):
        raise MeasureError(
            f"the gains {quoted(table)} are not finite, or fall",
            place=name,
            value=table,
            rule="Gains are finite and rise with the grade, as in 0/1/3/7/10",
        )
    return table


def _least_sum(gains: Gains) -> float:
    return -math.inf if isinstance(gains, tuple) and gains[0] < 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class GainMeasure(CutoffMeasure):
    """A measure of the gains of grades, discounted by rank."""

    gains: Gains = "exponential"
    discount: Discount = "log2"
    short: Short = "counted"

    def __post_init__(self) -> None:
        CutoffMeasure.__post_init__(self)
        object.__setattr__(self, "gains", check_gains(self.name, self.gains))
        check_word(self.name, "discount", self.discount, get_args(Discount))
        check_word(self.name, "short", self.short, get_args(Short))


@measure("dcg")
@dataclass(frozen=True, slots=True)
class DCG(GainMeasure):
    """Discounted cumulative gain: Σ gain(grade) × discount(rank)."""

    parts = MeasureKernels(_kernels.expected_linear, _kernels.scale_one)
    swap = Swap(_swap_kernels.prepare_nothing, _swap_kernels.changes_linear)

    @property
    def bounds(self) -> tuple[float, float]:
        """There is no greatest value."""
        return _least_sum(self.gains), math.inf

    def table(self) -> Floats:
        """The gains of the grades 0, 1, 2, …"""
        return gain_of(grades_with_gains(self.gains), self.gains)

    def relevance(self, grades: Reals) -> Floats:
        """The gains."""
        return gain_of(grades, self.gains)

    def discounts(self, ranks: int) -> Floats:
        """1/log2(1 + rank), up to the cutoff."""
        rank = np.arange(1, ranks_up_to(self.cutoff, ranks) + 1, dtype=SCORE)
        return 1.0 / binary_logarithms(1.0 + rank if self.discount == "log2" else np.maximum(rank, 2.0))

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        values = expected_values(self, ranking)
        if self.short == "zero" and self.cutoff is not None:
            values[np.diff(ranking.offsets) < self.cutoff] = 0.0
        return values


@measure("ndcg", cut_name="ndcg_cut", cut_settings=":gains=linear")
@dataclass(frozen=True, slots=True)
class NDCG(DCG):
    """Normalised discounted cumulative gain: DCG over the DCG of the best order. NaN where no document has a gain."""

    parts = MeasureKernels(_kernels.expected_linear, _kernels.scale_by_ideal)

    @property
    def bounds(self) -> tuple[float, float]:
        """No order is above the best one."""
        return _least_sum(self.gains), 1.0


@measure("avendcg")
@dataclass(frozen=True, slots=True)
class AveNDCG(GainMeasure):
    """The mean of NDCG@1, NDCG@2, … up to the cutoff (paper 001 §5 uses 10)."""

    cutoff: int = 10

    def __post_init__(self) -> None:
        GainMeasure.__post_init__(self)
        require_cutoff(self.name, self.cutoff)

    @property
    def bounds(self) -> tuple[float, float]:
        """Those of NDCG."""
        return _least_sum(self.gains), 1.0

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        last = min(self.cutoff, max(ranking.longest, 1))
        total = np.zeros(ranking.queries, SCORE)
        for cutoff in range(1, last + 1):
            total += self._ndcg(cutoff, ranking)
        if last < self.cutoff:  # beyond the longest query every cutoff gives the same
            total += (self.cutoff - last) * self._ndcg(last + 1, ranking)
        return total / self.cutoff

    def _ndcg(self, cutoff: int, ranking: Ranking) -> Floats:
        return NDCG(cutoff, self.gains, self.discount, self.short).per_query(ranking)


@measure("q", "q-measure", "qmeasure")
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

    bounds = (0.0, 1.0)
    parts = MeasureKernels(_kernels.expected_blended_ratios, _kernels.scale_by_relevant_above)

    def __post_init__(self) -> None:
        CutoffMeasure.__post_init__(self)
        object.__setattr__(self, "gains", check_gains(self.name, self.gains))
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
        return self.relevance(grades_with_gains(self.gains))

    def relevance(self, grades: Reals) -> Floats:
        """β times the gains; 0 where a gain is negative."""
        return self.beta * np.maximum(gain_of(grades, self.gains), 0.0)

    def discounts(self, ranks: int) -> Floats:
        """1 up to the cutoff, then 0: gains below it count in the ideal."""
        seen = np.zeros(ranks, SCORE)
        seen[: ranks_up_to(self.cutoff, ranks)] = 1.0
        return seen


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


@measure("err")
@dataclass(frozen=True, slots=True)
class ERR(CutoffMeasure):
    """Expected reciprocal rank: the user reads down the list and stops at a document with probability R(grade)."""

    max_grade: int = 4

    bounds = (0.0, 1.0)
    parts = MeasureKernels(_kernels.expected_cascade, _kernels.scale_one)
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
