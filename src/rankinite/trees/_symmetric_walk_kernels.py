"""Compiled walks of rows down symmetric trees, in which all nodes of a level ask the same.

A tree is a list of levels, each with a slot and a threshold; the answers, 0 for left and 1 for right, are the bits of the
leaf's number, the root's the highest. ``level_slots``, ``level_thresholds``: one per level, an even number for every tree;
``levels``: trees + 1 numbers of levels. ``values``: one per leaf; ``leaves``: trees + 1 numbers of leaves.

``columns`` and ``right`` are those of :class:`rankinite.trees.slots.Slots`; behind the slots comes one that is 0. Values are
compared in the precision of the matrix, for which thresholds are given, so that twice as many float32 fit a register.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Floats, Indices, Reals, kernel

Whole = npt.NDArray[np.uint32]
Levels = tuple[Whole, Reals, Indices, Floats, Indices]
"""Slots and thresholds of levels, numbers of levels, values, numbers of leaves."""

BLOCK = 64
"""Rows whose slots are laid out column by column, so that a level compares eight or more of them at once."""
ALONE = 8
"""Fewer rows than this are faster one by one."""
TOGETHER = 4
"""Trees whose leaves are looked up before their values are added."""


@kernel
def add_symmetric(
    matrix: Reals,
    columns: Indices,
    right: int,
    level_slots: Whole,
    level_thresholds: Reals,
    levels: Indices,
    values: Floats,
    leaves: Indices,
    origin: int,
    first_tree: int,
    last_tree: int,
    first_row: int,
    last_row: int,
    out_scores: Floats,
) -> None:
    """Add the values of the trees first_tree … last_tree−1 to the scores of the rows given, one tree after the other.

    ``matrix``: rows × features; ``out_scores``: outputs × rows, where tree t adds to output (origin + t) modulo outputs.
    """
    trees = (level_slots, level_thresholds, levels, values, leaves)
    ends = (origin, first_tree, last_tree)
    alone = last_row - (last_row - first_row) % BLOCK if (last_row - first_row) % BLOCK < ALONE else last_row
    if alone > first_row:
        room = np.zeros((len(columns) + 1, BLOCK), level_thresholds.dtype)
        leaf = np.zeros((TOGETHER, BLOCK), np.uint32)
        for start in range(first_row, alone, BLOCK):
            end = min(start + BLOCK, alone)
            copy_columns(matrix, columns, right, start, end, room)
            add_block(room, trees, ends, start, end, leaf, out_scores)
    if alone < last_row:
        values_of_row = np.zeros(len(columns) + 1, level_thresholds.dtype)
        for row in range(alone, last_row):
            copy_slots(matrix, columns, right, row, values_of_row)
            add_row(values_of_row, trees, ends, row, out_scores)


@kernel
def copy_columns(matrix: Reals, columns: Indices, right: int, first: int, last: int, out_room: Reals) -> None:
    """Copy the slots of the rows first … last−1, one slot after the other; ``out_room``: slots + 1 × BLOCK."""
    for slot in range(len(columns)):
        column = columns[slot]
        if slot < right:
            for row in range(first, last):
                out_room[slot, row - first] = matrix[row, column]
        else:
            for row in range(first, last):
                x = matrix[row, column]
                out_room[slot, row - first] = -np.inf if x != x else x  # noqa: PLR0124 - NaN alone differs from itself


@kernel
def copy_slots(matrix: Reals, columns: Indices, right: int, row: int, out_row: Reals) -> None:
    """Copy the slots of one row; ``out_row``: slots + 1."""
    for slot in range(len(columns)):
        x = matrix[row, columns[slot]]
        out_row[slot] = -np.inf if (slot >= right) & (x != x) else x  # noqa: PLR0124 - NaN alone differs from itself


@kernel
def add_block(
    room: Reals, trees: Levels, ends: tuple[int, int, int], first_row: int, last_row: int, out_leaf: Whole, out_scores: Floats
) -> None:
    """Add the trees' values to the scores of the rows in the room; ``out_leaf`` is room for TOGETHER × BLOCK numbers."""
    level_slots, level_thresholds, levels, values, leaves = trees
    origin, first_tree, last_tree = ends
    for tree in range(first_tree, last_tree, TOGETHER):
        count = min(TOGETHER, last_tree - tree)
        for k in range(count):
            find_symmetric_leaves(room, level_slots, level_thresholds, levels[tree + k], levels[tree + k + 1], out_leaf[k])
        if count == TOGETHER and len(out_scores) == 1:
            a, b = np.uint64(leaves[tree]), np.uint64(leaves[tree + 1])
            c, d = np.uint64(leaves[tree + 2]), np.uint64(leaves[tree + 3])
            for i in range(last_row - first_row):
                total = out_scores[0, first_row + i]
                total += values[a + out_leaf[0, i]]
                total += values[b + out_leaf[1, i]]
                total += values[c + out_leaf[2, i]]
                total += values[d + out_leaf[3, i]]
                out_scores[0, first_row + i] = total
        else:
            for k in range(count):
                output = (origin + tree + k) % len(out_scores)
                for i in range(last_row - first_row):
                    out_scores[output, first_row + i] += values[np.uint64(leaves[tree + k]) + out_leaf[k, i]]


@kernel
def find_symmetric_leaves(
    room: Reals, level_slots: Whole, level_thresholds: Reals, first: int, last: int, out_leaf: Whole
) -> None:
    """The leaf of one tree, whose levels are first … last−1, that each of the BLOCK rows in the room ends in."""
    for i in range(BLOCK):
        out_leaf[i] = np.uint32(0)
    for level in range(first, last, 2):  # two at once: half the trips of the leaves' numbers to memory and back
        upper, lower = room[level_slots[level]], room[level_slots[level + 1]]
        above, below = level_thresholds[level], level_thresholds[level + 1]
        for i in range(BLOCK):
            bits = np.uint32(2) * turn(upper[i], above) + turn(lower[i], below)
            out_leaf[i] = np.uint32(4) * out_leaf[i] + bits


@kernel
def turn(x: Any, threshold: Any) -> np.uint32:
    """0 for left, 1 for right."""
    return np.uint32(0) if x <= threshold else np.uint32(1)


@kernel
def add_row(row_values: Reals, trees: Levels, ends: tuple[int, int, int], row: int, out_scores: Floats) -> None:
    """Add the trees' values to the scores of one row, whose slots are given."""
    level_slots, level_thresholds, levels, values, leaves = trees
    origin, first_tree, last_tree = ends
    output = (origin + first_tree) % len(out_scores)
    total = out_scores[output, row]  # in a register: with one output, the sum never goes through memory
    for tree in range(first_tree, last_tree):
        leaf = np.uint32(0)
        for level in range(levels[tree], levels[tree + 1], 2):
            here, below = np.uint64(level), np.uint64(level + 1)
            bits = np.uint32(2) * turn(row_values[level_slots[here]], level_thresholds[here])
            leaf = np.uint32(4) * leaf + bits + turn(row_values[level_slots[below]], level_thresholds[below])
        total += values[np.uint64(leaves[tree]) + leaf]
        if len(out_scores) > 1:
            out_scores[output, row] = total
            output = output + 1 if output + 1 < len(out_scores) else 0
            total = out_scores[output, row]
    if len(out_scores) == 1:
        out_scores[0, row] = total
