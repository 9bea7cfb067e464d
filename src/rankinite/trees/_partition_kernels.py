"""Rows: their quantised cells, which of them a tree sees, and their way to the children of a node."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankinite.engine.barriers import prefetch, wait
from rankinite.engine.kernel import Bytes, Floats, Indices, lean_kernel
from rankinite.trees._combine_kernels import combine_counts, combine_largest
from rankinite.trees._histogram_kernels import AHEAD
from rankinite.trees._scan_kernels import MASK, is_drawn, largest_of, sum_of
from rankinite.trees._state import DONE, LOST, LOW, NOT_FINITE, WIDTH, WORDS, Coded, Growth, Keys, Nodes, Workspace

_EXACT_BITS = 60  # sums of pushes and curvatures are first taken with this many bits, to choose the final scale
_UNSIGNED, _INFINITE, _INFINITE_BITS = (1 << 63) - 1, np.inf, 0x7FF << 52
_TILE = 64  # rows whose codes are at hand while they are copied to columns
_FAR = np.uint64(AHEAD)
_ALONE = 256  # fewer rows are not worth dividing among workers


@lean_kernel
def share_of(start: int, end: int, worker: int, workers: int) -> tuple[int, int]:
    """The part of a range that is one worker's; small ranges are the first worker's alone."""
    if end - start < _ALONE:
        return (start, end) if worker == 0 else (end, end)
    length = end - start
    return start + length * worker // workers, start + length * (worker + 1) // workers


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
