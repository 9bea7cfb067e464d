"""Discounted cumulative gain and its relatives (papers 000 §1, 002 §3 equation 5, 001 §5)."""

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
from rankinite.measures.base import SMALL, Parts, Swap, expected_values
from rankinite.measures.cutoff import CutoffMeasure, check_word, ranks_up_to
from rankinite.measures.grades import GradeError
from rankinite.measures.ranking import Ranking

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


def discount_of(discount: Discount, ranks: int) -> Floats:
    """The weight of the first ``ranks`` ranks."""
    rank = np.arange(1, ranks + 1, dtype=SCORE)
    return 1.0 / binary_logarithms(1.0 + rank if discount == "log2" else np.maximum(rank, 2.0))


def checked_gains(name: str, gains: Gains | Sequence[float]) -> Gains:
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


def _least(gains: Gains) -> float:
    """The least that a sum of gains can be: 0, unless a table has negative ones."""
    return -math.inf if isinstance(gains, tuple) and gains[0] < 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class GainMeasure(CutoffMeasure):
    """A measure of the gains of grades, discounted by rank."""

    gains: Gains = "exponential"
    discount: Discount = "log2"
    short: Short = "counted"

    def __post_init__(self) -> None:
        CutoffMeasure.__post_init__(self)
        object.__setattr__(self, "gains", checked_gains(self.name, self.gains))
        check_word(self.name, "discount", self.discount, get_args(Discount))
        check_word(self.name, "short", self.short, get_args(Short))


@dataclass(frozen=True, slots=True)
class DCG(GainMeasure):
    """Discounted cumulative gain: Σ gain(grade) × discount(rank)."""

    name = "dcg"
    parts = Parts(_kernels.expected_linear, _kernels.scale_one)
    swap = Swap(_swap_kernels.prepare_nothing, _swap_kernels.changes_linear)

    @property
    def bounds(self) -> tuple[float, float]:
        """There is no greatest value."""
        return _least(self.gains), math.inf

    def table(self) -> Floats:
        """The gains of the grades 0, 1, 2, …"""
        return gain_of(np.arange(len(self.gains) if isinstance(self.gains, tuple) else SMALL, dtype=SCORE), self.gains)

    def relevance(self, grades: Reals) -> Floats:
        """The gains."""
        return gain_of(grades, self.gains)

    def discounts(self, ranks: int) -> Floats:
        """1/log2(1 + rank), up to the cutoff."""
        return discount_of(self.discount, ranks_up_to(self.cutoff, ranks))

    def per_query(self, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        values = expected_values(self, ranking)
        if self.short == "zero" and self.cutoff is not None:
            values[np.diff(ranking.offsets) < self.cutoff] = 0.0
        return values


@dataclass(frozen=True, slots=True)
class NDCG(DCG):
    """Normalised discounted cumulative gain: DCG over the DCG of the best order. NaN where no document has a gain."""

    name = "ndcg"
    parts = Parts(_kernels.expected_linear, _kernels.scale_by_ideal)

    @property
    def bounds(self) -> tuple[float, float]:
        """No order is above the best one."""
        return _least(self.gains), 1.0


@dataclass(frozen=True, slots=True)
class AveNDCG(GainMeasure):
    """The mean of NDCG@1, NDCG@2, … up to the cutoff (paper 001 §5 uses 10)."""

    cutoff: int = 10

    name = "avendcg"

    @property
    def bounds(self) -> tuple[float, float]:
        """Those of NDCG."""
        return _least(self.gains), 1.0

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
