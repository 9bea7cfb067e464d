"""Orthogonal matching pursuit: a few columns whose weighted sum comes near a target.

Each step takes the column that explains most of what is left, and then weighs all columns taken anew by least squares.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankinite.distillation import _pursuit_kernels as _kernels
from rankinite.engine.kernel import INDEX, SCORE, Floats, Indices, frozen
from rankinite.engine.parallel import run, thread_count

TINY = 1e-9
"""A column of whose square less than this share is new adds nothing but rounding."""


class Pursuit(NamedTuple):
    """What was chosen."""

    columns: Indices
    """The columns, in the order they were taken."""
    weights: Floats
    """The weight of each."""
    explained: Floats
    """The share of the target's square that the first 1, 2, … columns explain."""


def pursue(columns: Floats, target: Floats, most: int) -> Pursuit:
    """Choose at most ``most`` rows of ``columns`` (columns × rows of data); fewer where nothing is left to explain."""
    count = len(columns)
    squares, fit = np.empty(count), np.empty(count)
    _over(count, lambda first, last: _squares(columns, first, last, squares))
    target = np.ascontiguousarray(target, SCORE)
    whole = float(_kernels.product(target, target))
    most = min(most, count)
    factor, right, weights = np.zeros((most, most)), np.zeros(most), np.zeros(most)
    chosen, rest, explained = np.zeros(most, INDEX), target.copy(), np.zeros(most)
    free = squares > 0.0
    size = 0
    while size < most and free.any() and whole > 0.0:
        _over(count, lambda first, last: _kernels.products(columns, rest, first, last, fit))
        gains = np.where(free, fit * fit / np.where(free, squares, 1.0), -1.0)
        best = int(np.argmax(gains))
        free[best] = False
        row = np.asarray([_kernels.product(columns[one], columns[best]) for one in chosen[:size].tolist()], SCORE)
        pivot = _kernels.grow_factor(factor, size, row, squares[best])
        if pivot <= TINY * squares[best]:
            continue
        factor[size, size] = np.sqrt(pivot)
        right[size], chosen[size] = _kernels.product(columns[best], target), best
        size += 1
        _kernels.solve_factor(factor, size, right, weights)
        _kernels.subtract(target, columns, chosen, weights, size, rest)
        explained[size - 1] = 1.0 - _kernels.product(rest, rest) / whole
        if gains[best] <= TINY * whole:
            break
    return Pursuit(chosen[:size], weights[:size].copy(), explained[:size])


def centre_within_queries(columns: Floats, offsets: Indices) -> None:
    """Take from every column its mean within each query, which no ranking sees."""
    _over(len(columns), lambda first, last: _kernels.centre(columns, frozen(offsets), first, last))


def _squares(columns: Floats, first: int, last: int, out: Floats) -> None:
    for column in range(first, last):
        out[column] = _kernels.product(columns[column], columns[column])


def _over(count: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(first, last)`` on the threads in force, for pieces of the columns."""
    pieces = min(4 * thread_count(), count)
    cuts = [count * piece // pieces for piece in range(pieces + 1)]
    run(lambda piece: work(*piece), list(pairwise(cuts)))
