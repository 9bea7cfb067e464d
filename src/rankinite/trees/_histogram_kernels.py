"""Sums of cells by code, one block of sixteen features at a time. This is where training spends its time."""

from __future__ import annotations

import numpy as np

from rankinite.barriers import prefetch
from rankinite.kernel import Indices, kernel
from rankinite.trees._state import BINS, WIDTH, Keys, Short

_AHEAD = 24  # rows between the one being added and the one asked for; nodes' rows are scattered in memory
_BYTE = np.uint64(255)
# Unsigned places spare the check for negative ones.
_B, _C, _D, _E, _F, _G, _H = (np.uint64(BINS * k) for k in range(1, 8))
_S1, _S2, _S3, _S4, _S5, _S6, _S7 = (np.uint64(8 * k) for k in range(1, 8))


@kernel
def _add_eight(word: np.uint64, cell: int, sums: Indices) -> None:
    """Add a cell to the sums of eight features, shape (8 · BINS,), at the codes in ``word``."""
    sums[word & _BYTE] += cell
    sums[((word >> _S1) & _BYTE) + _B] += cell
    sums[((word >> _S2) & _BYTE) + _C] += cell
    sums[((word >> _S3) & _BYTE) + _D] += cell
    sums[((word >> _S4) & _BYTE) + _E] += cell
    sums[((word >> _S5) & _BYTE) + _F] += cell
    sums[((word >> _S6) & _BYTE) + _G] += cell
    sums[(word >> _S7) + _H] += cell


@kernel
def add_rows(words: Keys, order: Short, cells: Indices, start: int, end: int, half: int, out_sums: Indices) -> None:
    """The histograms of a block from the rows order[start:end].

    ``words`` has shape (rows, 2), ``out_sums`` (WIDTH · BINS,). ``half`` 0 or 1: only those eight features; 2: all sixteen.
    """
    flat = words.reshape(-1)
    low, high = out_sums[: 8 * BINS], out_sums[8 * BINS :]
    safe = max(start, end - _AHEAD)
    if half == 2:
        out_sums[:] = 0
        for k in range(start, safe):
            prefetch(flat, 2 * order[k + _AHEAD])
            place = np.uint64(2 * order[k])
            _add_eight(flat[place], cells[k], low)
            _add_eight(flat[place + np.uint64(1)], cells[k], high)
        for k in range(safe, end):
            place = np.uint64(2 * order[k])
            _add_eight(flat[place], cells[k], low)
            _add_eight(flat[place + np.uint64(1)], cells[k], high)
        return
    sums = low if half == 0 else high
    sums[:] = 0
    for k in range(start, safe):
        prefetch(flat, 2 * order[k + _AHEAD])
        _add_eight(flat[np.uint64(2 * order[k] + half)], cells[k], sums)
    for k in range(safe, end):
        _add_eight(flat[np.uint64(2 * order[k] + half)], cells[k], sums)


@kernel
def subtract(whole: Indices, part: Indices) -> None:
    """Leave in ``whole`` what is not in ``part``: a parent becomes the sibling of its child."""
    for k in range(len(whole)):
        whole[k] -= part[k]


BLOCK = WIDTH * BINS
"""Cells of a block."""
