"""What a measure promises, and the few pieces measures are built from.

A measure is a frozen value: comparable, hashable, printable (``str(NDCG(10)) == "ndcg@10"``) and readable back
(:func:`rankinite.parse_measure`). To add one of your own, write a class with the members of :class:`Measure` and pass
it wherever a measure goes; :func:`register_measure` also gives it a name for ``parse_measure`` and the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from rankinite.errors import MeasureError
from rankinite.kernel import SCORE, Floats, Indices, Reals
from rankinite.measures import _kernels, _swaps
from rankinite.measures.ranking import Ranking
from rankinite.parallel import over_queries


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
        """One value a query, exact expectation where documents tie; NaN where the measure says nothing."""
        ...


class Swap(NamedTuple):
    """The two kernels that say what swapping two ranks does; see ``measures/_swaps.py``."""

    prepare: Callable[..., None]
    change: Callable[..., float]


@runtime_checkable
class TrainableMeasure(Measure, Protocol):
    """A measure lambda gradients can climb: it also says what swapping two documents would change."""

    @property
    def swap(self) -> Swap:
        """Kernels for the change, on relevance values in rank order."""
        ...

    def relevance(self, grades: Reals) -> Floats:
        """What a document of each grade is worth; computed once for a data set."""
        ...

    def discounts(self, ranks: int) -> Floats:
        """The weight of the first ``ranks`` ranks, cut off where the measure stops looking."""
        ...

    def scales(self, relevance: Floats, offsets: Indices, discounts: Floats) -> Floats:
        """The factor of each query, NaN where the measure says nothing of it."""
        ...


def expected_values(kernel: Callable[..., float], measure: TrainableMeasure | Any, ranking: Ranking) -> Floats:
    """The exact expected value of every query for a measure made of relevance, discounts and scales."""
    relevance = measure.relevance(ranking.grades)
    discounts = measure.discounts(ranking.longest)
    scales = measure.scales(relevance, ranking.offsets, discounts)
    values = np.empty(ranking.queries, SCORE)

    def work(first: int, last: int) -> None:
        _kernels.expected_each(
            kernel, relevance, ranking.tied, ranking.returned, ranking.offsets, first, last, discounts, scales, values
        )

    over_queries(work, ranking.offsets)
    return values


def scales_by_ideal(relevance: Floats, offsets: Indices, discounts: Floats, levels: Floats) -> Floats:
    """One over the best Σ relevance × discount of each query; ``levels``: the values relevance usually takes, rising."""
    scales = np.empty(len(offsets) - 1, SCORE)
    likely = levels[levels <= relevance.max(initial=0.0)][::-1].copy()
    over_queries(lambda a, b: _kernels.ideal_scales(relevance, offsets, a, b, discounts, likely, scales), offsets)
    return scales


def scales_by_total(relevance: Floats, offsets: Indices, most: int | None = None) -> Floats:
    """One over the relevant documents of each query, counted up to ``most``."""
    scales = np.empty(len(offsets) - 1, SCORE)
    limit = np.iinfo(np.int64).max if most is None else most
    over_queries(lambda a, b: _kernels.total_scales(relevance, offsets, a, b, limit, scales), offsets)
    return scales


def swap_changes(measure: TrainableMeasure, grades: Floats) -> Floats:
    """What swapping each pair of ranks would add to the measure, for one query's grades in rank order, shape (n, n)."""
    ranked = np.asarray(grades, SCORE)
    n = len(ranked)
    relevance = measure.relevance(ranked)
    discounts = np.zeros(n, SCORE)
    seen = measure.discounts(n)
    discounts[: len(seen)] = seen
    scale = float(measure.scales(relevance, np.asarray([0, n], np.int64), seen)[0])
    changes = np.empty((n, n), SCORE)
    prepare, change = measure.swap
    _swaps.all_changes(prepare, change, relevance, discounts, 0.0 if np.isnan(scale) else scale, changes)
    return changes


def check_cutoff(name: str, cutoff: int | None) -> None:
    """Refuse a cutoff that is not a whole number of ranks."""
    whole: object = cutoff  # users may pass anything
    if cutoff is not None and (not isinstance(whole, int) or isinstance(whole, bool) or whole < 1):
        raise MeasureError(f"{name}@{cutoff}: the cutoff must be a whole number from 1 on, or left out for the whole ranking.")


def relevant(grades: Reals, lowest: float) -> Floats:
    """1 where the grade is at least ``lowest``, else 0."""
    return (grades >= lowest).astype(SCORE)


def ranks_up_to(cutoff: int | None, ranks: int) -> int:
    """How many of ``ranks`` ranks a measure with this cutoff looks at."""
    return ranks if cutoff is None else min(cutoff, ranks)
