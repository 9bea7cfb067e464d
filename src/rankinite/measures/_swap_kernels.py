"""How a measure changes when two ranks are swapped, in O(1) per pair after O(n) preparation.

Every trainable measure brings two kernels (the notation is that of ``_kernels``; no ties here):

    prepare(relevance, discounts, state)           fills the query's workspace ``state``, shape (2, n + 1)
    changes(relevance, discounts, state, i, out)   out[j] = measure after minus before swapping ranks i and j, for all
                                                   j > i, without the scale; ``out`` has shape (n,)

``discounts`` has shape (n,), zero from the cutoff on. The pair loop is given the addresses of both, so a new measure never
touches the loop. A function found by its address cannot be inlined: hence one call for a whole row of pairs. The
built-in ones spell out a single pair in a ``change_*`` kernel, which is.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import ADDRESS, FLOAT, INT, NOTHING, Floats, array_type, function_at, kernel

_FLOATS, _STATE = array_type(FLOAT), array_type(FLOAT, dimensions=2)
PREPARE = NOTHING(_FLOATS, _FLOATS, _STATE)
CHANGES = NOTHING(_FLOATS, _FLOATS, _STATE, INT, _FLOATS)
ALL_CHANGES = NOTHING(ADDRESS, ADDRESS, _FLOATS, _FLOATS, FLOAT, _STATE)
"""Signatures of the measures' kernels, and of the one that takes them."""
prepare_at, changes_at = function_at(PREPARE), function_at(CHANGES)


@kernel
def prepare_nothing(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """DCG needs no preparation."""


@kernel
def change_linear(above: float, below: float, upper_discount: float, lower_discount: float) -> float:
    """DCG: only the two documents' own terms change."""
    return (below - above) * (upper_discount - lower_discount)


@kernel
def changes_linear(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
    """DCG: rank i against every rank below it."""
    lower, lower_discounts, changes = relevance[i + 1 :], discounts[i + 1 :], out[i + 1 :]
    above, discount = relevance[i], discounts[i]
    for k in range(len(lower)):
        changes[k] = change_linear(above, lower[k], discount, lower_discounts[k])


@kernel
def prepare_cascade(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """state[0][k] = π_k, the product of the first k T's; state[1][k] = A_k, the ERR of the first k documents."""
    state[0, 0], state[1, 0] = 1.0, 0.0
    for k in range(len(relevance)):
        state[1, k + 1] = state[1, k] + state[0, k] * relevance[k] * discounts[k]
        state[0, k + 1] = state[0, k] * (1.0 - relevance[k])


@kernel
def change_cascade(above: float, below: float, at_upper: float, between: float, at_lower: float) -> float:
    """ERR, papers 002 §3 and 004 §3: the term at i, those between, and the term at j; all others cancel.

    ``at_upper`` and ``at_lower`` are π times the discount there, ``between`` the ERR of the documents strictly between.
    """
    passed = 1.0 - above
    raised = (below - above) / passed  # how much less often the ones between are reached, as a share
    return at_upper * (below - above) - between * raised - at_lower * raised


@kernel
def changes_cascade(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
    """ERR: rank i against every rank below it."""
    lower, lower_discounts, changes = relevance[i + 1 :], discounts[i + 1 :], out[i + 1 :]
    reached, err = state[0, i + 1 :], state[1, i + 1 :]
    above, at_upper, err_above = relevance[i], state[0, i] * discounts[i], state[1, i + 1]
    for k in range(len(lower)):
        changes[k] = change_cascade(above, lower[k], at_upper, err[k] - err_above, reached[k] * lower_discounts[k])


@kernel
def prepare_precisions(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """state[0][k] = relevant documents among the first k; state[1][k] = the sum of their discounts."""
    state[0, 0], state[1, 0] = 0.0, 0.0
    for k in range(len(relevance)):
        state[0, k + 1] = state[0, k] + relevance[k]
        state[1, k + 1] = state[1, k] + relevance[k] * discounts[k]


@kernel
def change_precisions(above: float, below: float, at_upper: float, discount: float, between: float, at_lower: float) -> float:
    """AP: a relevant document moves between i and j; each relevant one in between gains or loses one above it.

    ``at_upper`` and ``at_lower`` are the relevant documents up to there times the discount, ``discount`` that of i, ``between``
    the sum of discounts of the relevant documents strictly between.
    """
    fall = at_lower - at_upper - between  # where i is the relevant one
    rise = at_upper + discount + between - at_lower
    return 0.0 if above == below else (fall if above > below else rise)


@kernel
def changes_precisions(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
    """AP: rank i against every rank below it."""
    lower, lower_discounts, changes = relevance[i + 1 :], discounts[i + 1 :], out[i + 1 :]
    relevant, sums = state[0, i + 2 :], state[1, i + 1 :]
    above, discount, at_upper, sum_above = relevance[i], discounts[i], state[0, i + 1] * discounts[i], state[1, i + 1]
    for k in range(len(lower)):
        at_lower = relevant[k] * lower_discounts[k]
        changes[k] = change_precisions(above, lower[k], at_upper, discount, sums[k] - sum_above, at_lower)


@kernel
def prepare_first_two(relevance: Floats, discounts: Floats, state: Floats) -> None:
    """state[0][0] and state[0][1] = the ranks of the first and the second relevant document (n: there is none)."""
    n = len(relevance)
    state[0, 0], state[0, 1] = n, n
    for k in range(n - 1, -1, -1):
        if relevance[k] > 0.0:
            state[0, 1], state[0, 0] = state[0, 0], k


@kernel
def change_first(above: float, below: float, rise: float, fall: float) -> float:
    """RR: ``rise`` when a relevant document comes up to i, ``fall`` when the one at i goes down."""
    return 0.0 if above == below else (rise if below > above else fall)


@kernel
def changes_first(relevance: Floats, discounts: Floats, state: Floats, i: int, out: Floats) -> None:
    """RR: rank i against every rank below it; only a move of the first relevant document, or to a place above it, counts."""
    n, first, second = len(relevance), int(state[0, 0]), int(state[0, 1])
    lower, lower_discounts, changes = relevance[i + 1 :], discounts[i + 1 :], out[i + 1 :]
    if i > first or first == n:
        changes[:] = 0.0
        return
    before, above = discounts[first], relevance[i]
    rise, caught = discounts[i] - before, discounts[min(second, n - 1)] - before
    for k in range(len(lower)):
        # The first one falls to where it is put, or the second takes its place.
        fall = lower_discounts[k] - before if i + 1 + k < second else caught
        changes[k] = change_first(above, lower[k], rise, fall)


@kernel
def all_changes(
    prepare_address: int,
    changes_address: int,
    relevance: Floats,
    discounts: Floats,
    scale: float,
    out_changes: Floats,
) -> None:
    """The change for every pair of ranks; ``out_changes`` has shape (n, n) and comes out symmetric."""
    prepare, changes = prepare_at(prepare_address), changes_at(changes_address)
    n = len(relevance)
    state = np.empty((2, n + 1), np.float64)
    prepare(relevance, discounts, state)
    for i in range(n):
        out_changes[i, i] = 0.0
        changes(relevance, discounts, state, i, out_changes[i])
        for j in range(i + 1, n):
            out_changes[i, j] *= scale
            out_changes[j, i] = out_changes[i, j]
