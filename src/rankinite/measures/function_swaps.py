"""Functions as measures: the values of many orders, and swap changes: swap two ranks, and evaluate again.

The pair loop calls the two kernels of a :class:`rankinite.measures.base.Swap` by their addresses. Here they are compiled around
the function of a user: one that Numba compiles is called directly, any other by Python, a rank at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rankinite.engine.kernel import Floats, address
from rankinite.engine.user_functions import compiled_around, is_compiled, objmode
from rankinite.errors import MeasureError, cut
from rankinite.measures import _swap_kernels
from rankinite.measures.base import Swap

Function = Callable[[Floats], float]
"""The grades of one query in rank order, as float64, to what that order is worth; NaN where that is undefined."""


@cache
def function_swap(function: Function, name: str) -> Swap:
    """The kernels for a function; ``name``: the measure's, for errors."""
    prepare, changes = _evaluating(function)
    if not is_compiled(function):
        return _called_by_python(prepare, changes)
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


def values_of(function: Function, orders: Floats) -> list[float] | Floats:
    """What each of many orders is worth, one per row."""
    if not is_compiled(function):
        return [function(order) for order in orders]
    values = np.empty(len(orders))
    _of_all(function)(orders, values)
    return values


@cache
def _of_all(function: Function) -> Callable[[Floats, Floats], None]:
    """A loop that is compiled around a compiled function: a call from Python takes longer than most of them."""

    def of_all(orders: Floats, out: Floats) -> None:
        for k in range(len(orders)):
            out[k] = function(orders[k])

    return compiled_around(of_all)


def _evaluating(function: Function) -> tuple[Callable[..., None], Callable[..., None]]:
    """Prepare and changes as Python: the same text is compiled, and called by Python.

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


def _called_by_python(prepare_here: Callable[..., None], changes_here: Callable[..., None]) -> Swap:
    """Kernels that leave the work to Python; what the function raises passes through the pair loop as it is."""

    def prepare(relevance: Floats, discounts: Floats, state: Floats) -> None:
        with objmode():
            prepare_here(relevance, discounts, state)

    def changes(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
        with objmode():
            changes_here(relevance, discounts, state, i, out)

    kernels: tuple[Any, Any] = compiled_around(prepare), compiled_around(changes)
    return Swap(*kernels)
