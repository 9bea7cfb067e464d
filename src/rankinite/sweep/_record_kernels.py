"""From what each query's value does to what their sum does, on plain arrays.

A *record* says that at some α a query's value becomes another, or stays the same where more than two documents meet: then
the value at that α itself may be another. Values are counted in whole units, so that millions of
changes add up exactly and their order does not matter; and an α is sorted by its *key*, an integer that rises with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.engine._array_kernels import copy_into
from rankinite.engine.kernel import Floats, Indices, kernel
from rankinite.sweep._sweep_kernels import room_at

DIGIT = 11
"""Bits that one pass of sorting looks at."""
PASSES = 6
"""Passes for 64 bits; the last one sees fewer, among them the sign."""
_LOWEST: Any = np.int64(-(2**63))


@kernel
def key_of(bits: int) -> int:
    """The key of a number, given its bits as an integer; also the bits of a key."""
    return bits if bits >= 0 else _LOWEST - bits


@kernel
def count_in_units(
    alphas: Indices, values: Floats, counts: Indices, units: float, out_keys: Indices, out_steps: Indices
) -> None:
    """Write the n records of some queries as keys and steps, in ``units`` to one.

    ``alphas`` are the bits of α, ``counts`` the records of each query. The first one of a query is its value from the start on,
    and becomes a step like the others.
    """
    record = 0
    for count in counts:
        before = 0
        for _ in range(count):
            value = np.int64(np.rint(values[record] * units))
            out_keys[record], out_steps[record] = key_of(alphas[record]), value - before
            before = value
            record += 1


@kernel
def sort_by_key(keys: Indices, steps: Indices, spare_keys: Indices, spare_steps: Indices) -> None:
    """Sort n records by rising key, in place; all have shape (n,)."""
    n = len(keys)
    places = np.zeros((PASSES, 1 << DIGIT), np.int64)
    mask = (1 << DIGIT) - 1
    for i in range(n):
        key = keys[i] ^ _LOWEST  # the sign counts the other way round
        for k in range(PASSES):
            places[k, (key >> (k * DIGIT)) & mask] += 1
    moved = False
    for k in range(PASSES):
        if places[k].max() == n:  # all alike
            continue
        total = 0
        for digit in range(1 << DIGIT):
            number = places[k, digit]
            places[k, digit] = total
            total += number
        pass_by_digit(keys, steps, k * DIGIT, places[k], spare_keys, spare_steps)
        keys, steps, spare_keys, spare_steps = spare_keys, spare_steps, keys, steps
        moved = not moved
    if moved:
        copy_into(keys, spare_keys)
        copy_into(steps, spare_steps)


@kernel
def pass_by_digit(keys: Indices, steps: Indices, shift: int, places: Indices, out_keys: Indices, out_steps: Indices) -> None:
    """Move every record to the next place of its digit."""
    mask = (1 << DIGIT) - 1
    for i in range(len(keys)):
        digit = ((keys[i] ^ _LOWEST) >> shift) & mask
        place = places[digit]
        out_keys[place], out_steps[place] = keys[i], steps[i]
        places[digit] = place + 1


@kernel
def merge(
    keys: Indices, steps: Indices, other_keys: Indices, other_steps: Indices, out_keys: Indices, out_steps: Indices
) -> None:
    """Merge two sorted rows of n and m records into one of n + m."""
    i, j = 0, 0
    while i < len(keys) and j < len(other_keys):
        first_run = keys[i] <= other_keys[j]
        out_keys[i + j] = keys[i] if first_run else other_keys[j]
        out_steps[i + j] = steps[i] if first_run else other_steps[j]
        i, j = i + first_run, j + (not first_run)
    copy_into(other_keys[j:], out_keys[i + j :])
    copy_into(other_steps[j:], out_steps[i + j :])
    copy_into(keys[i:], out_keys[i + len(other_keys) :])
    copy_into(steps[i:], out_steps[i + len(other_keys) :])


@kernel
def add_up(keys: Indices, steps: Indices, low: float, high: float, out_edges: Floats, out_totals: Indices) -> int:
    """Sum the steps of n sorted records up to each α; returns the number of intervals. ``out_edges`` has shape (n + 2,).

    Every record makes an edge, but those that are too close to another: they belong to it.
    """
    alphas = out_edges.view(np.int64)
    out_edges[0], out_totals[0] = low, 0
    count, total = 1, 0
    for i in range(len(keys)):
        alphas[count] = key_of(keys[i])
        alpha = out_edges[count]
        if alpha > low and high - alpha <= room_at(alpha):
            break
        total += steps[i]
        if alpha - out_edges[count - 1] > room_at(alpha):
            count += 1
        out_totals[count - 1] = total
    out_edges[count] = high
    return count
