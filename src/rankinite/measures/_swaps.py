"""How a measure changes when two ranks are swapped, in O(1) a pair after O(n) preparation.

Every trainable measure brings two kernels (the notation is that of ``_kernels``; no ties here):

    prepare(relevance, discounts, state)        fills the query's workspace ``state``, shape (2, n + 1)
    change(relevance, discounts, state, i, j)   measure after minus before swapping ranks i < j, without the scale

``discounts`` has shape (n,), zero from the cutoff on. The pair loop takes both as arguments, so a new measure never
touches the loop.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankinite.kernel import FLOAT, INT, NOTHING, Floats, array_type, function_type, kernel

_FLOATS, _STATE = array_type(FLOAT), array_type(FLOAT, dimensions=2)
PREPARE = NOTHING(_FLOATS, _FLOATS, _STATE)
CHANGE = FLOAT(_FLOATS, _FLOATS, _STATE, INT, INT)
ALL_CHANGES = NOTHING(function_type(PREPARE), function_type(CHANGE), _FLOATS, _FLOATS, FLOAT, _STATE)
"""Signatures of the measures' kernels, and of the one that takes them."""


@kernel
def prepare_nothing(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """DCG needs no preparation."""


@kernel
def change_linear(relevance: Floats, discounts: Floats, state: Floats, i: int, j: int) -> float:
    """DCG: only the two documents' own terms change."""
    return (relevance[j] - relevance[i]) * (discounts[i] - discounts[j])


@kernel
def prepare_cascade(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """state[0][k] = π_k, the product of the first k T's; state[1][k] = A_k, the ERR of the first k documents."""
    state[0, 0], state[1, 0] = 1.0, 0.0
    for k in range(len(relevance)):
        state[1, k + 1] = state[1, k] + state[0, k] * relevance[k] * discounts[k]
        state[0, k + 1] = state[0, k] * (1.0 - relevance[k])


@kernel
def change_cascade(relevance: Floats, discounts: Floats, state: Floats, i: int, j: int) -> float:
    """ERR, papers 002 §3 and 004 §3: the term at i, those between, and the term at j; all others cancel."""
    above, below = relevance[i], relevance[j]
    passed_above, passed_below = 1.0 - above, 1.0 - below
    at_i = state[0, i] * (below - above) * discounts[i]
    between = (passed_below - passed_above) * (state[1, j] - state[1, i + 1]) / passed_above
    at_j = state[0, j] * discounts[j] * (passed_below * above / passed_above - below)
    return at_i + between + at_j


@kernel
def prepare_precisions(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """state[0][k] = relevant documents among the first k; state[1][k] = the sum of their discounts."""
    state[0, 0], state[1, 0] = 0.0, 0.0
    for k in range(len(relevance)):
        state[0, k + 1] = state[0, k] + relevance[k]
        state[1, k + 1] = state[1, k] + relevance[k] * discounts[k]


@kernel
def change_precisions(relevance: Floats, discounts: Floats, state: Floats, i: int, j: int) -> float:
    """AP: a relevant document moves between i and j; each relevant one in between gains or loses one above it."""
    if relevance[i] == relevance[j]:
        return 0.0
    between = state[1, j] - state[1, i + 1]
    if relevance[i] > relevance[j]:
        return state[0, j + 1] * discounts[j] - state[0, i + 1] * discounts[i] - between
    return (state[0, i + 1] + 1.0) * discounts[i] + between - state[0, j + 1] * discounts[j]


@kernel
def prepare_first_two(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """state[0][0] and state[0][1] = the ranks of the first and the second relevant document (n: there is none)."""
    n = len(relevance)
    state[0, 0], state[0, 1] = n, n
    for k in range(n - 1, -1, -1):
        if relevance[k] > 0.0:
            state[0, 1], state[0, 0] = state[0, 0], k


@kernel
def change_first(relevance: Floats, discounts: Floats, state: Floats, i: int, j: int) -> float:
    """RR: only a move of the first relevant document, or of one to a place above it, counts."""
    if relevance[i] == relevance[j]:
        return 0.0
    first = int(state[0, 0])
    if relevance[j] > 0.0:
        return discounts[i] - discounts[first] if i < first else 0.0
    if i != first:
        return 0.0
    return discounts[min(int(state[0, 1]), j)] - discounts[first]


@kernel
def all_changes(
    prepare: Callable[..., None],
    change: Callable[..., float],
    relevance: Floats,
    discounts: Floats,
    scale: float,
    out_changes: Floats,
) -> None:
    """The change for every pair of ranks; ``out_changes`` has shape (n, n) and comes out symmetric."""
    n = len(relevance)
    state = np.empty((2, n + 1), np.float64)
    prepare(relevance, discounts, state)
    for i in range(n):
        out_changes[i, i] = 0.0
        for j in range(i + 1, n):
            out_changes[i, j] = out_changes[j, i] = scale * change(relevance, discounts, state, i, j)
