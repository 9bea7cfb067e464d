"""Measure: what a measure promises, and the few pieces measures are built from.

A measure is a frozen value: comparable, hashable, printable (``str(NDCG(10)) == "ndcg@10"``) and readable back
(:func:`rankinite.parse_measure`). To add one of your own, write a class with the members of :class:`Measure` and pass
it wherever a measure goes; :func:`register_measure` also gives it a name for ``parse_measure`` and the command line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Indices, Reals, address, compiled, frozen
from rankinite.engine.parallel import over_queries
from rankinite.errors import MeasureError, quoted
from rankinite.measures import _kernels, _swap_kernels
from rankinite.measures.ranking import Ranking
from rankinite.measures.spelling import registered


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


class Parts(NamedTuple):
    """The two kernels a built-in measure is computed by; see ``measures/_kernels.py``."""

    expected: Callable[..., float]
    """What a ranking is worth, given the documents' relevance and the ranks' discounts."""
    scale: Callable[..., float]
    """What that is a share of."""


class Swap(NamedTuple):
    """The two kernels that compute what swapping two ranks changes; see ``measures/_swap_kernels.py``."""

    prepare: Callable[..., None]
    """Called once per query."""
    changes: Callable[..., None]
    """Called once per rank: what swapping it with every rank below would change."""


@runtime_checkable
class PartedMeasure(Measure, Protocol):
    """A measure made of the relevance of a grade, the discount of a rank and the scale of a query."""

    @property
    def parts(self) -> Parts:
        """How the three are combined."""
        ...

    def table(self) -> Floats:
        """The relevance of the grades 0, 1, 2, …: of all there are, or of as many as are worth looking up."""
        ...

    def relevance(self, grades: Reals) -> Floats:
        """What a document of each grade is worth; any grade the measure knows."""
        ...

    def discounts(self, ranks: int) -> Floats:
        """The weight of the first ``ranks`` ranks, cut off where the measure stops looking."""
        ...


@runtime_checkable
class TrainableMeasure(Measure, Protocol):
    """A measure that lambda gradients can climb: it knows what swapping two documents would change.

    The changes of a query are multiplied by its scale: that of its parts where it is made of parts, or one of
    ``scales(relevance, offsets)`` where it has this method, else 1.
    """

    @property
    def swap(self) -> Swap:
        """Kernels for the change, on relevance values in rank order."""
        ...

    def relevance(self, grades: Reals) -> Floats:
        """What a document of each grade is worth; any grade the measure knows."""
        ...

    def discounts(self, ranks: int) -> Floats:
        """The weight of the first ``ranks`` ranks, cut off where the measure stops looking."""
        ...


@runtime_checkable
class _ScalesItself(Protocol):
    def scales(self, relevance: Floats, offsets: Indices) -> Floats: ...


_NONE = np.empty(0, SCORE)


def sign_of(measure: Measure) -> float:
    """1 where higher is better, else −1: the best value is the one that is highest times this."""
    return 1.0 if measure.higher_is_better else -1.0


def expected_values(measure: PartedMeasure, ranking: Ranking) -> Floats:
    """The exact expected value of every query."""
    table, discounts, values = measure.table(), measure.discounts(ranking.longest), np.empty(ranking.queries, SCORE)
    most = min(max(int(ranking.grades.max(initial=0)), 0), len(table) - 1)
    levels = np.unique(table[: most + 1])[::-1].copy()
    expected, scale = address(measure.parts.expected, _kernels.EXPECTED), address(measure.parts.scale, _kernels.SCALE)

    def measured(signature: Any, grades: Reals, table: Floats, levels: Floats) -> bool:
        measure_each = compiled(_kernels.measure_each, signature)
        queries = (ranking.tied, ranking.returned, ranking.offsets)
        rest = (discounts, levels, values)
        return all(
            over_queries(
                lambda first, last: measure_each(expected, scale, grades, table, *queries, first, last, *rest), ranking.offsets
            )
        )

    if not measured(_kernels.MEASURE_GRADES, ranking.grades, table, levels):
        measured(_kernels.MEASURE_RELEVANCE, frozen(measure.relevance(ranking.grades)), _NONE, _NONE)
    return values


def scales_of(measure: PartedMeasure | TrainableMeasure, relevance: Floats, offsets: Indices, discounts: Floats) -> Floats:
    """The factor of each query, NaN where the measure is undefined."""
    if not isinstance(measure, PartedMeasure):
        return measure.scales(relevance, offsets) if isinstance(measure, _ScalesItself) else np.ones(len(offsets) - 1, SCORE)
    scales = np.empty(len(offsets) - 1, SCORE)
    levels = np.unique(measure.table())[::-1].copy()
    levels = levels[levels <= relevance.max(initial=0.0)]
    scale, scale_each = address(measure.parts.scale, _kernels.SCALE), compiled(_kernels.scale_each, _kernels.SCALE_EACH)
    relevance, offsets = frozen(relevance), frozen(offsets)
    over_queries(lambda first, last: scale_each(scale, relevance, offsets, first, last, discounts, levels, scales), offsets)
    return scales


def trainable_measures() -> list[str]:
    """The names of the registered measures that can be trained for."""
    return [name for name, measure in registered() if isinstance(measure, TrainableMeasure)]


def parted_measures() -> list[str]:
    """The names of the registered measures that are made of relevance, discounts and a scale, and so can be swept."""
    return [name for name, measure in registered() if isinstance(measure, PartedMeasure)]


def untrainable(measure: object) -> MeasureError:
    """The error of a measure that cannot be trained for."""
    return MeasureError(
        f"{measure} cannot be trained for: it does not know what swapping two documents would change",
        value=str(measure),
        rule=f"Those that do are {', '.join(trainable_measures())}",
        remedy="Train for one of them, and measure the result with any",
    )


def swap_changes(measure: TrainableMeasure, grades: Floats) -> Floats:
    """What swapping each pair of ranks would add to the measure, for one query's grades in rank order, shape (n, n)."""
    ranked = np.asarray(grades, SCORE)
    if not isinstance(measure, TrainableMeasure):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass any
        raise untrainable(measure)
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


SMALL = 32
"""Grades below this are looked up: a power for each of a million rows would cost more than ranking them."""
