"""Sums of cells by code, sixteen features at a time. This is where training spends its time."""

from __future__ import annotations

import numpy as np

from rankinite.engine.barriers import prefetch
from rankinite.engine.kernel import Indices, lean_kernel
from rankinite.trees._state import BINS, WIDTH, WORDS, Keys, Short

AHEAD = 24
"""Rows between the one being added and the one asked for, as a node's rows are scattered in memory. ``order`` is that much
longer than there are rows."""
_ROWS = 2048  # rows whose codes and whose histograms fit the second cache together
_SPARSE_ROWS = 256  # the same where rows are scattered: the processor fetches their neighbours too
_BYTE, _NEXT, _ONE, _FAR = (np.uint64(n) for n in (255, BINS, 1, AHEAD))  # unsigned places are not checked for being negative


@lean_kernel
def _add_two(word: np.uint64, first: int, cell: int, sums: Indices) -> None:
    """Add a cell to the sums of the features ``first`` and ``first + 1`` of a word, at their codes."""
    shift, place = np.uint64(8 * first), np.uint64(BINS * first)
    sums[((word >> shift) & _BYTE) + place] += cell
    sums[((word >> (shift + np.uint64(8))) & _BYTE) + place + _NEXT] += cell


@lean_kernel
def _add_eight(word: np.uint64, cell: int, sums: Indices) -> None:
    """Add a cell to the sums of all eight features of a word; ``sums`` has shape (8 · BINS,)."""
    _add_two(word, 0, cell, sums)
    _add_two(word, 2, cell, sums)
    _add_two(word, 4, cell, sums)
    _add_two(word, 6, cell, sums)


@lean_kernel
def _add_word(flat: Keys, order: Short, cells: Indices, start: int, end: int, word: int, features: int, sums: Indices) -> None:
    """The histograms of the eight features of a word, or of fewer where the last word is padded; ``sums``: (8 · BINS,)."""
    if features > 6:
        for k in range(np.uint64(start), np.uint64(end)):
            prefetch(flat, WORDS * order[k + _FAR])
            _add_eight(flat[np.uint64(WORDS * order[k] + word)], cells[k], sums)
    elif features > 4:
        for k in range(np.uint64(start), np.uint64(end)):
            codes = flat[np.uint64(WORDS * order[k] + word)]
            _add_two(codes, 0, cells[k], sums)
            _add_two(codes, 2, cells[k], sums)
            _add_two(codes, 4, cells[k], sums)
    elif features > 2:
        for k in range(np.uint64(start), np.uint64(end)):
            codes = flat[np.uint64(WORDS * order[k] + word)]
            _add_two(codes, 0, cells[k], sums)
            _add_two(codes, 2, cells[k], sums)
    else:
        for k in range(np.uint64(start), np.uint64(end)):
            _add_two(flat[np.uint64(WORDS * order[k] + word)], 0, cells[k], sums)


@lean_kernel
def _add_two_words(flat: Keys, order: Short, cells: Indices, start: int, end: int, word: int, sums: Indices) -> None:
    """The histograms of sixteen features, which just fit the nearest cache; ``sums``: (16 · BINS,)."""
    low, high, place = sums[: 8 * BINS], sums[8 * BINS :], np.uint64(word)
    for k in range(np.uint64(start), np.uint64(end)):
        prefetch(flat, WORDS * order[k + _FAR])
        codes, cell = np.uint64(WORDS * order[k]) + place, cells[k]
        _add_eight(flat[codes], cell, low)
        _add_eight(flat[codes + _ONE], cell, high)


@lean_kernel
def add_rows(
    words: Keys, order: Short, cells: Indices, start: int, end: int, first: int, last: int, features: int, out_sums: Indices
) -> None:
    """The histograms of the words first … last−1 of a block from the rows order[start:end].

    ``words`` has shape (rows, WORDS), ``out_sums`` (WIDTH · BINS,); ``features`` is how many the block has. Some rows at a
    time, so that their codes come from memory once and are at hand for the words after the first.
    """
    flat = words.reshape(-1)
    out_sums[8 * BINS * first : 8 * BINS * last] = 0
    scattered = end > start and order[end - 1] - order[start] > 3 * (end - start)
    step = _SPARSE_ROWS if scattered else _ROWS
    for low in range(start, end, step):
        high = min(low + step, end)
        for word in range(first, last, 2):
            sums = out_sums[8 * BINS * word :]
            if features - 8 * word >= 16 and word + 1 < last:
                _add_two_words(flat, order, cells, low, high, word, sums)
            else:
                _add_word(flat, order, cells, low, high, word, features - 8 * word, sums)
                if word + 1 < last:
                    rest = features - 8 * (word + 1)
                    _add_word(flat, order, cells, low, high, word + 1, rest, sums[8 * BINS :])


@lean_kernel
def subtract(whole: Indices, part: Indices) -> None:
    """Leave in ``whole`` what is not in ``part``: a parent becomes the sibling of its child."""
    for k in range(len(whole)):
        whole[k] -= part[k]


BLOCK = WIDTH * BINS
"""Cells of a block."""
