"""A measure from a function, of Python or compiled by Numba, for trying an idea before writing a kernel.

Its value under ties is the mean over the orders that tied documents may have. To train for it, the two kernels of a
:class:`rankinite.measures.base.Swap` are compiled around the function: they swap two ranks, and evaluate again. A function that
Numba compiles is called directly, any other by Python, a rank at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from math import comb
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import SCORE, Flags, Floats, Indices, Reals, address
from rankinite.engine.user_functions import compiled_around, is_compiled, objmode
from rankinite.errors import MeasureError, cut, quoted
from rankinite.measures import _swap_kernels
from rankinite.measures.base import Swap, check_cutoff, ranks_up_to
from rankinite.measures.ranking import Ranking
from rankinite.pickles import StablePickle

Function: TypeAlias = Callable[[Floats], float]
"""The grades of one query in rank order, as float64, to what that order is worth; NaN where that is undefined."""


@dataclass(frozen=True, slots=True)
class FunctionMeasure(StablePickle):
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
        return _swap_of(self.function, self.name)

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
            orders = _orders_of(ranking.grades[a:returned].astype(SCORE), ranking.tied[a:returned], self.orders, self.cutoff)
            values[query] = np.mean(_values_of(self.function, orders))
        return values


# ---- swaps ------------------------------------------------------------------------------------------------------------


@cache
def _swap_of(function: Function, name: str) -> Swap:
    prepare, changes = _swap_functions(function)
    if not is_compiled(function):
        return _calling_python(prepare, changes)
    swap = Swap(compiled_around(prepare), compiled_around(changes))
    try:
        address(swap.prepare, _swap_kernels.PREPARE)
        address(swap.changes, _swap_kernels.CHANGES)
    except Exception as problem:
        raise MeasureError(
            f"its compiled function cannot be called with the grades of a query ({cut(problem)})",
            place=name,
            value=name,
            rule="It takes one array of float64 and returns one number",
            remedy="Call it with `np.asarray([2.0, 0.0, 1.0])`, or give it without numba.njit",
        ) from problem
    return swap


def _values_of(function: Function, orders: Floats) -> list[float] | Floats:
    if not is_compiled(function):
        return [function(order) for order in orders]
    values = np.empty(len(orders))
    _values_loop(function)(orders, values)
    return values


@cache
def _values_loop(function: Function) -> Callable[[Floats, Floats], None]:
    """A loop that is compiled around a compiled function: a call from Python takes longer than most of them."""

    def fill_values(orders: Floats, out: Floats) -> None:
        for k in range(len(orders)):
            out[k] = function(orders[k])

    return compiled_around(fill_values)


def _swap_functions(function: Function) -> tuple[Callable[..., None], Callable[..., None]]:
    """``prepare`` and ``changes`` as Python functions, which are compiled, or called by Python as they are.

    state[0] holds the grades that the function is given, which it may use up; state[1][0] what the ranking is worth.
    """

    def prepare(relevance: Floats, discounts: Floats, state: Floats) -> None:
        n = len(relevance)
        state[0, :n] = relevance
        state[1, 0] = function(state[0, :n])

    def changes(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
        n, before = len(relevance), state[1, 0]
        out[i + 1 : n] = 0.0
        if discounts[i] == 0.0 or np.isnan(before):  # below the cutoff, or undefined on this query
            return
        for j in range(i + 1, n):
            if relevance[j] != relevance[i]:
                state[0, :n] = relevance
                state[0, i], state[0, j] = relevance[j], relevance[i]
                out[j] = function(state[0, :n]) - before

    return prepare, changes


def _calling_python(prepare_in_python: Callable[..., None], changes_in_python: Callable[..., None]) -> Swap:
    """Kernels that leave the work to Python; what the function raises passes through the pair loop as it is."""

    def prepare(relevance: Floats, discounts: Floats, state: Floats) -> None:
        with objmode():
            prepare_in_python(relevance, discounts, state)

    def changes(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
        with objmode():
            changes_in_python(relevance, discounts, state, i, out)

    kernels: tuple[Any, Any] = compiled_around(prepare), compiled_around(changes)
    return Swap(*kernels)


# ---- orders of tied documents -----------------------------------------------------------------------------------------


def _orders_of(grades: Floats, tied: Flags, most: int, cutoff: int | None = None) -> Floats:
    """The grades of a query in the orders it may have, one per row, each as likely as any other.

    ``tied``: where a document may come before the one above it. These are all orders that differ, if they are at most ``most``;
    else so many random ones (seeded: the same every time). Neither depends on the order in which tied documents are given.
    Documents that tie below the ``cutoff`` stay as they are.
    """
    starts = np.flatnonzero(~tied).tolist()
    blocks = [
        (start, end)
        for start, end in zip(starts, [*starts[1:], len(grades)], strict=True)
        if (cutoff is None or start < cutoff) and (grades[start:end] != grades[start]).any()
    ]
    number = 1
    for start, end in blocks:
        number = min(number * _number_of_orders(grades[start:end], most), most + 1)
    orders = grades[None].copy() if number <= most else np.repeat(grades[None], most, axis=0)
    rng = np.random.default_rng(0)
    for start, end in blocks:
        block = np.sort(grades[start:end])
        if number > most:
            orders[:, start:end] = rng.permuted(np.repeat(block[None], most, axis=0), axis=1)
        else:
            block_orders = np.asarray(list(_different_orders(*np.unique(block, return_counts=True))), SCORE)
            before = len(orders)
            orders = np.repeat(orders, len(block_orders), axis=0)
            orders[:, start:end] = np.tile(block_orders, (before, 1))
    return orders


def _number_of_orders(block: Floats, most: int) -> int:
    """In how many ways the grades of a block can be ordered that look different; ``most`` + 1 where there are more."""
    number, free = 1, len(block)
    for count in np.unique(block, return_counts=True)[1].tolist():
        if min(count, free - count) > 0 and free > most:
            return most + 1
        number, free = number * comb(free, count), free - count
        if number > most:
            return most + 1
    return number


def _different_orders(values: Floats, counts: npt.NDArray[np.intp]) -> Iterator[Floats]:
    """All orders that look different; ``counts`` says how often each value occurs."""
    size = int(counts.sum())
    if len(values) == 1:
        yield np.full(size, values[0])
        return
    for places in combinations(range(size), int(counts[0])):
        order = np.empty(size, SCORE)
        chosen = np.zeros(size, np.bool_)
        chosen[list(places)] = True
        for rest in _different_orders(values[1:], counts[1:]):
            order[chosen], order[~chosen] = values[0], rest
            yield order.copy()
