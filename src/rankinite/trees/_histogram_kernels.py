"""Sums of cells by code, one block of sixteen features at a time. This is where training spends its time."""

from __future__ import annotations

import numpy as np

from rankinite.barriers import prefetch
from rankinite.kernel import Indices, kernel
from rankinite.trees._state import BINS, WIDTH, Keys, Short

AHEAD = 24
"""Rows between the one being added and the one asked for, as a node's rows are scattered in memory. ``order`` is that much
longer than there are rows."""
_BYTE, _NEXT, _ONE, _FAR = (np.uint64(n) for n in (255, BINS, 1, AHEAD))  # unsigned places are not checked for being negative


@kernel
def _add_two(word: np.uint64, first: int, cell: int, sums: Indices) -> None:
    """Add a cell to the sums of the features ``first`` and ``first + 1`` of a word, at their codes."""
    shift, place = np.uint64(8 * first), np.uint64(BINS * first)
    sums[((word >> shift) & _BYTE) + place] += cell
    sums[((word >> (shift + np.uint64(8))) & _BYTE) + place + _NEXT] += cell


@kernel
def _add_eight(word: np.uint64, cell: int, sums: Indices) -> None:
    """Add a cell to the sums of all eight features of a word; ``sums`` has shape (8 · BINS,)."""
    _add_two(word, 0, cell, sums)
    _add_two(word, 2, cell, sums)
    _add_two(word, 4, cell, sums)
    _add_two(word, 6, cell, sums)


@kernel
def _add_half(flat: Keys, order: Short, cells: Indices, start: int, end: int, half: int, features: int, sums: Indices) -> None:
    """The histograms of eight features, or of fewer where the last word of the codes is padded."""
    if features > 6:
        for k in range(np.uint64(start), np.uint64(end)):
            prefetch(flat, 2 * order[k + _FAR])
            _add_eight(flat[np.uint64(2 * order[k] + half)], cells[k], sums)
    elif features > 4:
        for k in range(start, end):
            word = flat[np.uint64(2 * order[k] + half)]
            _add_two(word, 0, cells[k], sums)
            _add_two(word, 2, cells[k], sums)
            _add_two(word, 4, cells[k], sums)
    elif features > 2:
        for k in range(start, end):
            word = flat[np.uint64(2 * order[k] + half)]
            _add_two(word, 0, cells[k], sums)
            _add_two(word, 2, cells[k], sums)
    else:
        for k in range(start, end):
            _add_two(flat[np.uint64(2 * order[k] + half)], 0, cells[k], sums)


@kernel
def add_rows(
    words: Keys, order: Short, cells: Indices, start: int, end: int, half: int, features: int, out_sums: Indices
) -> None:
    """The histograms of a block from the rows order[start:end].

    ``words`` has shape (rows, 2), ``out_sums`` (WIDTH · BINS,). ``half`` 0 or 1: only those eight features; 2: all sixteen.
    """
    flat = words.reshape(-1)
    low, high = out_sums[: 8 * BINS], out_sums[8 * BINS :]
    if half == 2:
        out_sums[:] = 0
        for k in range(np.uint64(start), np.uint64(end)):
            prefetch(flat, 2 * order[k + _FAR])
            place, cell = np.uint64(2 * order[k]), cells[k]
            _add_eight(flat[place], cell, low)
            _add_eight(flat[place + _ONE], cell, high)
        return
    sums = low if half == 0 else high
    sums[:] = 0
    _add_half(flat, order, cells, start, end, half, features, sums)


@kernel
def subtract(whole: Indices, part: Indices) -> None:
    """Leave in ``whole`` what is not in ``part``: a parent becomes the sibling of its child."""
    for k in range(len(whole)):
        whole[k] -= part[k]


BLOCK = WIDTH * BINS
"""Cells of a block."""
