"""A measure from a function, of Python or compiled by Numba, for trying an idea before writing a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Indices, Reals
from rankinite.engine.user_functions import is_compiled
from rankinite.errors import MeasureError, quoted
from rankinite.measures.base import Swap
from rankinite.measures.cutoff import check_cutoff, ranks_up_to
from rankinite.measures.function_swaps import function_swap, values_of
from rankinite.measures.ranking import Ranking
from rankinite.measures.tied_orders import orders_of


@dataclass(frozen=True, slots=True)
class FunctionMeasure:
    """Any function of one query's grades in rank order.

    >>> top_grade = FunctionMeasure("top-grade", lambda grades: grades[0])

    Where documents tie, the value is the mean over all orders that look different if there are at most ``orders`` of them, else
    over that many random ones (seeded: the same every time). A query for which no document is returned counts 0.

    Learners train for it as for any measure: each round they try what swapping two documents changes. A Python function is
    called once for every pair tried, which takes long; one that is compiled by ``numba.njit`` runs without Python.
    """

    name: str
    """What it is called in tables and in the rankers trained for it."""
    function: Callable[[Floats], float]
    """From the grades of one query in rank order, all of them, to what that order is worth; NaN where that is undefined."""
    higher_is_better: bool = True
    """False for errors."""
    orders: int = 1000
    """Orders of tied documents that are tried, at most."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """The least and the greatest value there can be; confidence intervals end there."""
    cutoff: int | None = None
    """How many ranks count: swapping two documents below changes nothing, so that neither training nor ties need try it; all if
    none."""

    pooled = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise MeasureError(
                f"{quoted(self.function)} is not a function",
                place=self.name,
                value=self.function,
                remedy="Give one of a query's grades in rank order, as in `lambda grades: float(grades[0])`",
            )
        check_cutoff(self.name, self.cutoff)

    def __str__(self) -> str:
        return self.name

    @property
    def is_compiled(self) -> bool:
        """Whether Numba compiles the function."""
        return is_compiled(self.function)

    @property
    def swap(self) -> Swap:
        """Swapping two ranks and evaluating again."""
        return function_swap(self.function, self.name)

    def relevance(self, grades: Reals) -> Floats:
        """The grades themselves, which are what the function is given."""
        return np.asarray(grades, SCORE)

    def discounts(self, ranks: int) -> Floats:
        """1 for each rank that counts."""
        return np.ones(ranks_up_to(self.cutoff, ranks), SCORE)

    def scales(self, relevance: Floats, offsets: Indices) -> Floats:
        """1 for each query; NaN where the function is undefined for the best order."""
        best = [np.sort(relevance[a:b])[::-1].copy() for a, b in pairwise(offsets.tolist())]
        return np.asarray([math.nan if math.isnan(self.value(grades)) else 1.0 for grades in best], SCORE)

    def value(self, grades: Floats) -> float:
        """What one order of a query's grades is worth; refuses what is no number."""
        value: object = self.function(grades)
        try:
            return float(value)  # pyright: ignore[reportArgumentType] - users' functions may return anything
        except (TypeError, ValueError):
            raise MeasureError(
                f"its function returns {quoted(value)}",
                place=self.name,
                value=value,
                rule="It must return one number for the grades of a query",
                remedy="Return a float, NaN where the measure is undefined",
            ) from None

    def calls(self, grades: Reals, offsets: Indices, depth: int | None = None) -> int:
        """How often a round of training calls the function, at most: for each pair of different grades, one of them within
        the first ``depth`` ranks and the cutoff.
        """
        total = 0
        for a, b in pairwise(offsets.tolist()):
            n, counts = b - a, np.unique(grades[a:b], return_counts=True)[1]
            seen = min(ranks_up_to(self.cutoff, n), ranks_up_to(depth, n))
            differing = (n * n - int((counts * counts).sum())) // 2
            total += 1 + min(differing, seen * (n - 1) - seen * (seen - 1) // 2)
        return total

    def per_query(self, ranking: Ranking) -> Floats:
        """The mean of the function over the orders of every query."""
        values = np.empty(ranking.queries, SCORE)
        for query, a in enumerate(ranking.offsets[:-1]):
            returned = a + ranking.returned[query]
            if returned == a:
                values[query] = 0.0
                continue
            orders = orders_of(ranking.grades[a:returned].astype(SCORE), ranking.tied[a:returned], self.orders, self.cutoff)
            values[query] = np.mean(values_of(self.function, orders))
        return values
