"""Copying and sorting arrays inside kernels.

Numba compiles ``out[:] = values`` and ``values.sort()`` too, but takes seconds for the checks of shapes and the quicksort that
come with them: longer than for most kernels of ours.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from rankinite.engine.kernel import Floats, kernel


@kernel
def copy_into(values: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
    """Copy the values; ``out`` has room for them."""
    for k in range(len(values)):
        out[k] = values[k]


@kernel
def sort_falling(values: Floats) -> None:
    """Sort from high to low, in place: the smallest value of a heap goes to its end, again and again."""
    n = len(values)
    for top in range(n // 2 - 1, -1, -1):
        _sift_down(values, top, n)
    for end in range(n - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        _sift_down(values, 0, end)


@kernel
def _sift_down(values: Floats, top: int, end: int) -> None:
    """Let the value at ``top`` sink in the heap of the first ``end`` values, where no child is below its parent."""
    value = values[top]
    while 2 * top + 1 < end:
        child = 2 * top + 1
        if child + 1 < end and values[child + 1] < values[child]:
            child += 1
        if values[child] >= value:
            break
        values[top] = values[child]
        top = child
    values[top] = value
