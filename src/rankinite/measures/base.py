"""Measure: what a measure promises, and what those that are made of kernels share.

A measure is a frozen value: comparable, hashable, printable (``str(NDCG(10)) == "ndcg@10"``) and readable back
(:func:`rankinite.parse_measure`). To add one of your own, write a class with the members of :class:`Measure` and pass
it wherever a measure goes; :func:`register_measure` also gives it a name for ``parse_measure`` and the command line.

Most measures are made of three things: the relevance of a grade, the discount of a rank and the scale of a query. Two kernels
put these together; a measure that can be trained for has two more, for what swapping two ranks would change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Indices, Reals, address, compiled, frozen
from rankinite.engine.parallel import over_queries
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.ranking import Ranking
from rankinite.measures.registry import LARGEST_CUTOFF, default_measures, spell
from rankinite.pickles import StablePickle

M = TypeVar("M")

UNJUDGED = -1.0
"""The grade of a document that nobody judged, as measures with ``sees_unjudged`` are given it."""
LOOKED_UP = 32
"""Grades below this are looked up: a power for each of a million rows would cost more than ranking them."""


class GradeError(MeasureError):
    """A measure does not know what a grade is worth; the grade is the error's ``value``."""


# ---- what a measure promises ------------------------------------------------------------------------------------------


@runtime_checkable
class Measure(Protocol):
    """Gives a ranked query a number."""

    @property
    def higher_is_better(self) -> bool:
        """False for errors."""
        ...

    @property
    def pooled(self) -> bool:
        """True when all rows are judged together, so that no query can be left out."""
        ...

    def per_query(self, ranking: Ranking) -> Floats:
        """One value per query, the exact expectation where documents tie; NaN where the measure is undefined.

        Unless the measure is pooled, large data come in parts, on several threads.
        """
        ...


@runtime_checkable
class BoundedMeasure(Measure, Protocol):
    """A measure whose mean cannot leave a range: confidence intervals end there."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest mean over queries, for grades from 0 on; infinite where there is none."""
        ...


class RelevanceMeasure(Measure, Protocol):
    """A measure of what documents of a grade are worth, and of how much a rank counts."""

    def relevance(self, grades: Reals) -> Floats:
        """What a document of each grade is worth; any grade the measure knows."""
        ...

    def discounts(self, ranks: int) -> Floats:
        """The weight of the first ``ranks`` ranks, cut off where the measure stops looking."""
        ...


class MeasureKernels(NamedTuple):
    """The two kernels that compute a measure; see ``measures/_kernels.py``."""

    expected: Callable[..., float]
    """What a ranking is worth, given the documents' relevance and the ranks' discounts."""
    scale: Callable[..., float]
    """What that is multiplied by: one over the ideal, or over the number of relevant documents."""


class Swap(NamedTuple):
    """The two kernels that compute what swapping two ranks changes; see ``measures/_swap_kernels.py``."""

    prepare: Callable[..., None]
    """Called once per query."""
    changes: Callable[..., None]
    """Called once per rank: what swapping it with every rank below would change."""


@runtime_checkable
class FactoredMeasure(RelevanceMeasure, Protocol):
    """A measure made of the relevance of a grade, the discount of a rank and the scale of a query."""

    @property
    def parts(self) -> MeasureKernels:
        """How the three are combined."""
        ...

    def table(self) -> Floats:
        """The relevance of the grades 0, 1, 2, …: of all there are, or of as many as are worth looking up."""
        ...


@runtime_checkable
class TrainableMeasure(RelevanceMeasure, Protocol):
    """A measure that lambda gradients can climb: it knows what swapping two documents would change.

    The changes of a query are multiplied by its scale: that of its parts where it is made of parts, or one of
    ``scales(relevance, offsets)`` where it has this method, else 1.
    """

    @property
    def swap(self) -> Swap:
        """Kernels for the change, on relevance values in rank order."""
        ...


@runtime_checkable
class _ScalesItself(Protocol):
    def scales(self, relevance: Floats, offsets: Indices) -> Floats: ...


def sign_of(measure: Measure) -> float:
    """1 where higher is better, else −1: the best value is the one that is highest times this."""
    return 1.0 if measure.higher_is_better else -1.0


def trainable_measures() -> list[str]:
    """The names of the registered measures that can be trained for."""
    return [name for name, measure in default_measures() if isinstance(measure, TrainableMeasure)]


def factored_measures() -> list[str]:
    """The names of the registered measures that are made of relevance, discounts and a scale, and so can be swept."""
    return [name for name, measure in default_measures() if isinstance(measure, FactoredMeasure)]


def require_trainable(measure: Measure) -> TrainableMeasure:
    """The measure, known to be one that can be trained for."""
    if not isinstance(measure, TrainableMeasure):
        raise MeasureError(
            f"{measure} cannot be trained for: it does not know what swapping two documents would change",
            value=str(measure),
            rule=f"Those that do are {', '.join(trainable_measures())}",
            remedy="Train for one of them, and measure the result with any",
        )
    return measure


# ---- values, scales and swap changes by kernels -----------------------------------------------------------------------


_NONE = np.empty(0, SCORE)


def expected_values(measure: FactoredMeasure, ranking: Ranking) -> Floats:
    """The exact expected value of every query."""
    table, discounts, values = measure.table(), measure.discounts(ranking.longest), np.empty(ranking.queries, SCORE)
    most = min(max(int(ranking.grades.max(initial=0)), 0), len(table) - 1)
    levels = np.unique(table[: most + 1])[::-1].copy()
    expected, scale = address(measure.parts.expected, _kernels.EXPECTED), address(measure.parts.scale, _kernels.SCALE)

    def fill_values(signature: Any, grades: Reals, table: Floats, levels: Floats) -> bool:
        measure_each = compiled(_kernels.measure_each, signature)
        queries = (ranking.tied, ranking.returned, ranking.offsets)
        rest = (discounts, levels, values)
        return all(
            over_queries(
                lambda first, last: measure_each(expected, scale, grades, table, *queries, first, last, *rest), ranking.offsets
            )
        )

    if not fill_values(_kernels.MEASURE_GRADES, ranking.grades, table, levels):  # a grade is no index of the table
        fill_values(_kernels.MEASURE_RELEVANCE, frozen(measure.relevance(ranking.grades)), _NONE, _NONE)
    return values


def scales_of(measure: FactoredMeasure | TrainableMeasure, relevance: Floats, offsets: Indices, discounts: Floats) -> Floats:
    """The factor of each query, NaN where the measure is undefined."""
    if not isinstance(measure, FactoredMeasure):
        return measure.scales(relevance, offsets) if isinstance(measure, _ScalesItself) else np.ones(len(offsets) - 1, SCORE)
    scales = np.empty(len(offsets) - 1, SCORE)
    levels = np.unique(measure.table())[::-1].copy()
    levels = levels[levels <= relevance.max(initial=0.0)]
    scale, scale_each = address(measure.parts.scale, _kernels.SCALE), compiled(_kernels.scale_each, _kernels.SCALE_EACH)
    relevance, offsets = frozen(relevance), frozen(offsets)
    over_queries(lambda first, last: scale_each(scale, relevance, offsets, first, last, discounts, levels, scales), offsets)
    return scales


def swap_changes(measure: TrainableMeasure, grades: Floats) -> Floats:
    """What swapping each pair of ranks would add to the measure, for one query's grades in rank order, shape (n, n)."""
    ranked = np.asarray(grades, SCORE)
    measure = require_trainable(measure)
    if ranked.ndim != 1 or not ranked.size:
        raise MeasureError(
            f"the grades have shape {ranked.shape}",
            place="swap_changes",
            value=ranked.shape,
            remedy="Give the grades of one query in rank order",
        )
    n = len(ranked)
    relevance = measure.relevance(ranked)
    discounts = np.zeros(n, SCORE)
    seen = measure.discounts(n)
    discounts[: len(seen)] = seen
    scale = float(scales_of(measure, relevance, np.asarray([0, n], np.int64), seen)[0])
    changes = np.empty((n, n), SCORE)
    prepare, row = address(measure.swap.prepare, _swap_kernels.PREPARE), address(measure.swap.changes, _swap_kernels.CHANGES)
    all_changes = compiled(_swap_kernels.all_changes, _swap_kernels.ALL_CHANGES)
    all_changes(prepare, row, relevance, discounts, 0.0 if np.isnan(scale) else scale, changes)
    return changes


# ---- what built-in measures inherit -----------------------------------------------------------------------------------


class KernelMeasure(StablePickle):
    """A measure whose class is named by the registry, and whose values are computed by its ``parts``."""

    __slots__ = ()

    name: ClassVar[str]
    higher_is_better = True
    pooled = False

    def __str__(self) -> str:
        return spell(self)

    def per_query(self: FactoredMeasure, ranking: Ranking) -> Floats:
        """The expected value of every query."""
        return expected_values(self, ranking)


@dataclass(frozen=True, slots=True)
class CutoffMeasure(KernelMeasure):
    """A measure that looks at the first ``cutoff`` ranks."""

    cutoff: int | None = None

    def __post_init__(self) -> None:
        check_cutoff(self.name, self.cutoff)


def over_more_ranks(measure: M, times: int) -> M:
    """The same measure with ``times`` its cutoff; itself where it has none."""
    if not isinstance(measure, CutoffMeasure) or measure.cutoff is None:
        return measure
    return replace(measure, cutoff=min(measure.cutoff * times, LARGEST_CUTOFF))


def ranks_up_to(cutoff: int | None, ranks: int) -> int:
    """How many of ``ranks`` ranks a measure with this cutoff looks at."""
    return ranks if cutoff is None else min(cutoff, ranks)


def reciprocal_ranks(cutoff: int | None, ranks: int) -> Floats:
    """1, 1/2, 1/3, … up to the cutoff."""
    return 1.0 / np.arange(1, ranks_up_to(cutoff, ranks) + 1, dtype=SCORE)


# ---- checks of settings -----------------------------------------------------------------------------------------------


def check_cutoff(name: str, cutoff: object) -> None:
    """Refuse a cutoff that is not a number of ranks."""
    sound = isinstance(cutoff, int) and not isinstance(cutoff, bool) and 1 <= cutoff <= LARGEST_CUTOFF
    if cutoff is not None and not sound:
        raise MeasureError(
            f"the cutoff {quoted(cutoff)} is not a number of ranks",
            place=name,
            value=cutoff,
            rule=f"A cutoff is a whole number from 1 on, of {len(str(LARGEST_CUTOFF))} digits at most",
            remedy="Leave it out for the whole ranking",
        )


def require_cutoff(name: str, cutoff: int | None) -> None:
    """Require a cutoff."""
    if cutoff is None:
        raise MeasureError(
            "there is no cutoff, and without one it would say nothing", place=name, remedy=f"Give one, as in {name}@10"
        )


def check_word(name: str, setting: str, word: object, known: Sequence[str]) -> None:
    """Refuse a word that is not among those a setting knows."""
    if word not in known:
        raise MeasureError(
            f"{setting}={quoted(word)} is unknown",
            place=name,
            value=word,
            rule=f"Known are {', '.join(known)}",
            remedy=f"Write for example {name}:{setting}={known[0]}",
        )


def check_finite(name: str, setting: str, value: float) -> None:
    """Refuse a setting that is compared with grades or scores but is no finite number."""
    number: Any = value  # users may pass anything
    sound = isinstance(number, int | float | np.number) and not isinstance(number, bool)
    if not sound or not -sys.float_info.max <= value <= sys.float_info.max:
        raise MeasureError(
            f"{setting}={quoted(number)} is not a finite number",
            place=name,
            value=number,
            remedy=f"Give one, as in {name}:{setting}=2",
        )
