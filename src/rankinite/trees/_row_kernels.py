"""Loops over rows: their quantised cells, histograms of their codes, which of them are drawn, and their way to the children.

Adding cells to histograms, sixteen features at a time, is where training spends its time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankinite.engine.barriers import prefetch, wait
from rankinite.engine.kernel import Bytes, Flags, Floats, Indices, kernel, lean_kernel
from rankinite.engine.reducer import MAX, SUM, combine
from rankinite.trees._state import (
    BINS,
    DONE,
    FAILED,
    LOST,
    LOW,
    MASK,
    NOT_FINITE,
    WIDTH,
    WORDS,
    Coded,
    Growth,
    Keys,
    Nodes,
    Short,
    Workspace,
    is_drawn,
    largest_of,
    sum_of,
)

AHEAD = 24
"""Rows between the one being added and the one asked for, as a node's rows are scattered in memory. ``order`` is that much
longer than there are rows."""
BLOCK = WIDTH * BINS
"""Cells of a block."""
_ROWS = 2048  # rows whose codes and whose histograms fit the second cache together
_SPARSE_ROWS = 256  # the same where rows are scattered: the processor fetches their neighbours too
_BYTE, _NEXT, _ONE, _FAR = (np.uint64(n) for n in (255, BINS, 1, AHEAD))  # unsigned places are not checked for being negative
_EXACT_BITS = 60  # sums of pushes and curvatures are first taken with this many bits, to choose the final scale
_UNSIGNED, _INFINITE, _INFINITE_BITS = (1 << 63) - 1, np.inf, 0x7FF << 52
_TILE = 64  # rows whose codes are at hand while they are copied to columns
_ALONE = 256  # fewer rows are not worth dividing among workers


@lean_kernel
def share_of(start: int, end: int, worker: int, workers: int) -> tuple[int, int]:
    """The part of a range that is one worker's; small ranges are the first worker's alone."""
    if end - start < _ALONE:
        return (start, end) if worker == 0 else (end, end)
    length = end - start
    return start + length * worker // workers, start + length * (worker + 1) // workers


# ---- pushes and curvatures as whole numbers --------------------------------------------------------------------------


@lean_kernel
def _scale_for(largest: float, rows: int, bits: int) -> float:
    """The largest power of two by which numbers up to ``largest`` can be multiplied so that ``rows`` of them, rounded, sum
    to less than 2^bits; 1 where all are 0.
    """
    if largest == 0.0:
        return 1.0
    # Numbers near the smallest float would ask for a scale beyond the largest one; they are nothing to learn from.
    exponent = math.frexp((2.0**bits - rows) / (largest * rows))[1] - 1
    return math.ldexp(1.0, min(exponent, 1000))


@lean_kernel
def _largest(values: Floats) -> float:
    """The largest absolute value; inf where one is not a finite number. Compares bits, which SIMD can and floats' NaN rules
    cannot: without its sign, a float's bits rise with its value, and NaN is above all.
    """
    bits, best, place = values.view(np.int64), 0, 0
    for k in range(len(bits)):
        best = max(best, bits[k] & _UNSIGNED)
    while place < len(bits) and bits[place] & _UNSIGNED != best:
        place += 1
    if place == len(bits):
        return 0.0
    return _INFINITE if best >= _INFINITE_BITS else abs(values[place])


@lean_kernel
def quantise(push: Floats, curvature: Floats, growth: Growth, work: Workspace, worker: int, workers: int) -> int:
    """Fill the cells of the rows order[0, :n] from their n pushes and curvatures; ``DONE``, or why it could not be done.

    The scales are powers of two that follow from exact integer sums, so they depend on no order, and on all members' rows.
    Leaves the sums of cells and of curvatures in counts[2] and counts[3].
    """
    rows = growth.rows
    first, last = share_of(0, len(push), worker, workers)
    own_push, own_curvature, partial, counts = push[first:last], curvature[first:last], work.partial, work.counts
    lowest = 0.0
    for k in range(len(own_curvature)):
        lowest = min(lowest, own_curvature[k])
    partial[0, worker] = _largest(own_push) if lowest >= 0.0 else _INFINITE
    partial[1, worker] = _largest(own_curvature)
    wait(work.sync, workers)
    if not combine_largest(growth, work, worker, workers):
        return LOST
    largest_push, largest_curvature = largest_of(partial[0], workers), largest_of(partial[1], workers)
    if max(largest_push, largest_curvature) == _INFINITE:
        return NOT_FINITE
    fine_push = _scale_for(largest_push, rows, _EXACT_BITS)
    fine_curvature = _scale_for(largest_curvature, rows, _EXACT_BITS)
    sum_push, sum_curvature = 0, 0
    for k in range(len(own_push)):
        sum_push += np.int64(abs(own_push[k]) * fine_push)
        sum_curvature += np.int64(own_curvature[k] * fine_curvature)
    counts[0, worker], counts[1, worker] = sum_push, sum_curvature
    wait(work.sync, workers)
    if not combine_counts(growth, work, 0, worker, workers):
        return LOST
    push_scale = _scale_for(sum_of(counts[0], workers) / fine_push / rows, rows, 63 - LOW)
    curvature_scale = _scale_for(sum_of(counts[1], workers) / fine_curvature / rows, rows, LOW)
    total, total_curvature, order, cells = 0, 0, work.order[0, first:last], work.cells[0, first:last]
    weighted = len(work.weights) > 0
    for k in range(len(own_push)):
        g, h = np.int64(np.floor(own_push[k] * push_scale + 0.5)), np.int64(own_curvature[k] * curvature_scale + 0.5)
        row = np.uint64(order[k])
        work.curvature[row] = h
        count = np.int64(work.weights[row]) if weighted else 1
        cells[k] = (g << LOW) + (h if growth.newton else count)
        total += cells[k]
        total_curvature += h
    counts[2, worker], counts[3, worker] = total, total_curvature
    if worker == 0:
        work.scales[0], work.scales[1] = 1.0 / push_scale, 1.0 / curvature_scale
    wait(work.sync, workers)
    return DONE if combine_counts(growth, work, 2, worker, workers) else LOST


@kernel
def combine_largest(growth: Growth, work: Workspace, worker: int, workers: int) -> bool:
    """Make the partial maxima those of all members; False where one did not answer. Floats from 0 on rise with their bits."""
    if growth.reducer == 0:
        return True
    if worker == 0:
        largest = np.empty(2)
        for k in range(2):
            largest[k] = largest_of(work.partial[k], workers)
        work.plan[FAILED] = not combine(growth.reducer, MAX, largest.view(np.int64))
        work.partial[0, 0], work.partial[1, 0] = largest[0], largest[1]
        for other in range(1, workers):
            work.partial[0, other], work.partial[1, other] = 0.0, 0.0
    wait(work.sync, workers)
    return work.plan[FAILED] == 0


@kernel
def combine_counts(growth: Growth, work: Workspace, first: int, worker: int, workers: int) -> bool:
    """Make two of the workers' sums, ``first`` and the one after it, those of all members; False where one did not answer."""
    if growth.reducer == 0:
        return True
    if worker == 0:
        sums = np.empty(2, np.int64)
        sums[0], sums[1] = sum_of(work.counts[first], workers), sum_of(work.counts[first + 1], workers)
        work.plan[FAILED] = not combine(growth.reducer, SUM, sums)
        for k in range(2):
            work.counts[first + k] = 0
            work.counts[first + k, 0] = sums[k]
    wait(work.sync, workers)
    return work.plan[FAILED] == 0


# ---- histograms ------------------------------------------------------------------------------------------------------


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


# ---- codes of one feature --------------------------------------------------------------------------------------------


@lean_kernel
def code_at(flat: Keys, rows: int, feature: int, row: int) -> int:
    """The code of a feature in a row; ``flat`` are all words of the codes."""
    block, place = feature // WIDTH, feature % WIDTH
    word = flat[np.uint64(WORDS * (block * rows + row) + place // 8)]
    return int((word >> np.uint64(8 * (place % 8))) & np.uint64(255))


@lean_kernel
def copy_columns(blocks: Bytes, first: int, last: int, out_columns: Bytes) -> None:
    """The codes of the rows first … last−1, ``blocks`` of shape (blocks, rows, WIDTH), as columns, shape (features, rows)."""
    for top in range(first, last, _TILE):
        end = min(top + _TILE, last)
        for f in range(len(out_columns)):
            block, place, column = blocks[f // WIDTH], f % WIDTH, out_columns[f]
            for r in range(top, end):
                column[r] = block[r, place]


@lean_kernel
def codes_from(coded: Coded, feature: int) -> int:
    """Where the codes of a feature begin in ``singles``: that of row r is at ``r << coded.shift`` from there.

    One kind of array, wherever the codes are: a strided view would be a second type, and compile every kernel twice.
    """
    rows, place = coded.words.shape[1], feature % WIDTH
    return (feature - place) * rows + place if coded.shift else feature * rows


@lean_kernel
def count_by_code(coded: Coded, feature: int, nodes: Nodes, node: int, work: Workspace, out_limits: Indices) -> None:
    """The rows and the curvature of a node by their codes of a feature; ``out_limits`` has shape (2, BINS)."""
    out_limits[:] = 0
    codes, shift = coded.singles[codes_from(coded, feature) :], np.uint64(coded.shift)
    order = work.order[nodes.half[node]]
    for k in range(nodes.start[node], nodes.end[node]):
        r = order[k]
        code = codes[np.uint64(r) << shift]
        out_limits[0, code] += 1
        out_limits[1, code] += work.curvature[r]


# ---- rows to the children --------------------------------------------------------------------------------------------


@lean_kernel
def mark_left(
    coded: Coded, feature: int, newton: bool, half: int, start: int, end: int, work: Workspace, worker: int, workers: int
) -> None:  # fmt: skip
    """Say which rows of order[half, start:end] go left by their codes of a feature and the worker's table; sums them up in
    ``counts``: rows, curvature, cells.
    """
    first, last = share_of(start, end, worker, workers)
    codes, shift = coded.singles[codes_from(coded, feature) :], np.uint64(coded.shift)
    order, cells, table = work.order[half], work.cells[half], work.tables[worker]
    count, curvature, total = 0, 0, 0
    for k in range(np.uint64(first), np.uint64(last)):
        r = order[k]
        if shift:  # every code is in a cache line of its own
            prefetch(codes, int(order[k + _FAR]) << coded.shift)
        left = int(table[codes[np.uint64(r) << shift]])
        work.goes_left[k] = left
        count += left
        total += left * cells[k]
        if not newton:
            curvature += left * work.curvature[r]
    work.counts[0, worker], work.counts[2, worker] = count, total
    work.counts[1, worker] = total & MASK if newton else curvature


@lean_kernel
def move_rows(half: int, start: int, end: int, work: Workspace, worker: int, workers: int) -> None:
    """Put the rows of order[half, start:end] into the other half, those that go left first, each side in its old order."""
    first, last = share_of(start, end, worker, workers)
    order, cells = work.order[half], work.cells[half]
    to_order, to_cells = work.order[1 - half], work.cells[1 - half]
    left = start + sum_of(work.counts[0], worker)
    right = start + sum_of(work.counts[0], workers) + (first - start) - (left - start)
    for k in range(np.uint64(first), np.uint64(last)):  # unsigned places are not checked for being negative
        goes_left = int(work.goes_left[k])
        place = np.uint64(left if goes_left else right)
        to_order[place] = order[k]
        to_cells[place] = cells[k]
        left += goes_left
        right += 1 - goes_left


# ---- rows drawn ------------------------------------------------------------------------------------------------------


@lean_kernel
def draw_tree_rows(keys: Keys, share: float, word: np.uint64, out_drawn: Flags) -> None:
    """Draw the rows a tree is grown from; both arrays have shape (rows,). Equal keys, equal fate."""
    for r in range(len(keys)):
        out_drawn[r] = is_drawn(keys[r], word, share)


@lean_kernel
def draw_rows(nodes: Nodes, node: int, keys: Keys, share: float, word: np.uint64, work: Workspace) -> None:
    """Draw a share of a node's rows into the drawn arrays, from the node's start on; sets the node's total."""
    order, cells = work.order[nodes.half[node]], work.cells[nodes.half[node]]
    place, total = nodes.start[node], 0
    for k in range(nodes.start[node], nodes.end[node]):
        key: Any = keys[order[k]]
        if is_drawn(key, word, share):
            work.drawn_order[place], work.drawn_cells[place] = order[k], cells[k]
            total += cells[k]
            place += 1
    nodes.drawn_end[node], nodes.total[node] = place, total
