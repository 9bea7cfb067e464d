"""Compiled walks of rows down many trees, whose nodes are packed.

``words``: four uint32 per node: the first two are its threshold, as a float64, which ``thresholds`` shows at twice the node's
number; then the slot that is compared with it, and the left child; the right child is the next node. A leaf is its own left
child and compares 0 with +∞, so that walking on from it changes nothing. ``values``: one per node. ``roots``: the first node
of each tree.

``columns`` and ``right`` are those of :class:`rankinite.trees.slots.Slots`. Behind the slots of a row comes the 0 of leaves.

A *lane* is a walk of one row down one tree. About LANES of them walk at a time: many rows down one tree, one row down many
trees, or anything in between. Eight take a step together: each waits for its own memory, so their waits overlap.

Numbers of nodes and lanes are uint64 throughout: mixed with signed ones they would become floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Floats, Indices, Reals, kernel

Whole = npt.NDArray[np.uint32]
Places = npt.NDArray[np.uint64]

LANES, MOST_ROWS = 384, 128
"""Walks, and rows, at a time."""
IN_STEP = 8
"""Walks that take a step together."""
NEXT_STEPS = 2
"""Steps before looking again which walks have not arrived."""
ROOM = 1 << 15
"""Slots of rows that are copied at a time: they share the cache with the trees."""


@kernel
def add_packed(
    matrix: Reals,
    columns: Indices,
    right: int,
    words: Whole,
    thresholds: Floats,
    values: Floats,
    roots: Indices,
    steps: int,
    origin: int,
    first_tree: int,
    last_tree: int,
    first_row: int,
    last_row: int,
    out_scores: Floats,
) -> None:
    """Add the values of the trees first_tree … last_tree−1 to the scores of the rows given, one tree after the other.

    ``matrix``: rows × features; ``steps``: how many to take before looking which walks have not arrived; ``out_scores``:
    outputs × rows, where tree t adds to output (origin + t) modulo outputs.
    """
    width = len(columns) + 1
    block = max(1, min(last_row - first_row, MOST_ROWS, ROOM // width))
    room = np.zeros(block * width)
    places = np.zeros(LANES + IN_STEP, np.uint64)
    at, lanes = np.zeros_like(places), np.zeros_like(places)
    for start in range(first_row, last_row, block):
        rows = min(block, last_row - start)
        for i in range(rows):
            copy_row(matrix, columns, right, start + i, i * width, room)
        together = LANES // rows
        for k in range(together):
            for i in range(rows):
                places[k * rows + i] = np.uint64(i * width)
        for tree in range(first_tree, last_tree, together):
            trees = min(together, last_tree - tree)
            for k in range(trees):
                for i in range(rows):
                    at[k * rows + i] = np.uint64(roots[tree + k])
            if rows > 1:
                walk_lanes(room, places, words, thresholds, steps, rows * trees, at, lanes)
            else:
                walk_lanes(room, None, words, thresholds, steps, trees, at, lanes)
            add_values(values, at, origin + tree, trees, start, rows, out_scores)


@kernel
def copy_row(matrix: Reals, columns: Indices, right: int, row: int, to: int, out_room: Floats) -> None:
    """Copy the values of a row's slots, and a 0 behind them, to ``out_room`` from ``to`` on."""
    for slot in range(right):
        out_room[to + slot] = np.float64(matrix[row, columns[slot]])
    for slot in range(right, len(columns)):
        x = np.float64(matrix[row, columns[slot]])
        out_room[to + slot] = -np.inf if x != x else x  # noqa: PLR0124 - NaN alone differs from itself
    out_room[to + len(columns)] = 0.0


@kernel
def next_node(room: Floats, place: np.uint64, words: Whole, thresholds: Floats, node: np.uint64) -> np.uint64:
    """Where a row whose slots begin at ``place`` goes from a node. Without branches: wrong guesses would cost more."""
    x = room[place + words[np.uint64(4) * node + np.uint64(2)]]
    one_on = np.uint64(0) if x <= thresholds[np.uint64(2) * node] else np.uint64(1)
    return np.uint64(words[np.uint64(4) * node + np.uint64(3)]) + one_on


@kernel
def walk_lanes(
    room: Floats,
    places: Places | None,
    words: Whole,
    thresholds: Floats,
    steps: int,
    count: int,
    out_at: Places,
    out_lanes: Places,
) -> None:
    """Walk ``count`` lanes from their roots to their leaves.

    ``places``: where the slots of each lane's row begin. ``out_at``: its root, which becomes its leaf. Both have IN_STEP more
    entries, so that lanes always walk in full groups. Only those that have not arrived walk on: waiting for the deepest of
    each group would take half as many steps again. ``out_lanes``, of the same size, is room for their numbers.
    """
    for i in range(count, count + IN_STEP):
        out_at[i] = out_at[0]
    for start in range(0, count, IN_STEP):
        for _ in range(steps):
            for i in range(start, start + IN_STEP):
                out_at[i] = next_node(room, place_of(places, i), words, thresholds, out_at[i])
    walking = 0
    for i in range(count):
        out_lanes[walking] = np.uint64(i)
        walking += 0 if is_leaf(words, out_at[i]) else 1
    while walking > 0:
        for i in range(walking, walking + IN_STEP):
            out_lanes[i] = np.uint64(count)  # fills the last group up; nobody asks where it goes
        for start in range(0, walking, IN_STEP):
            for _ in range(NEXT_STEPS):
                for i in range(start, start + IN_STEP):
                    lane = np.uint64(out_lanes[i])
                    out_at[lane] = next_node(room, place_of(places, lane), words, thresholds, out_at[lane])
        before, walking = walking, 0
        for i in range(before):
            lane = np.uint64(out_lanes[i])
            out_lanes[walking] = lane
            walking += 0 if is_leaf(words, out_at[lane]) else 1


@kernel
def place_of(places: Places | None, lane: Any) -> np.uint64:
    """Where the slots of a lane's row begin."""
    if places is None:  # which the compiler knows, so that one row alone need not look it up at every step
        return np.uint64(0)
    return np.uint64(places[lane])


@kernel
def is_leaf(words: Whole, node: np.uint64) -> bool:
    """Whether a node is a leaf."""
    return words[np.uint64(4) * node + np.uint64(3)] == node


@kernel
def add_values(
    values: Floats,
    at: Places,
    first_tree: int,
    trees: int,
    first_row: int,
    rows: int,
    out_scores: Floats,
) -> None:
    """Add the values of the leaves reached, tree after tree; ``at``: trees × rows; ``first_tree`` is counted in the forest."""
    outputs = len(out_scores)
    for output in range(outputs):
        first = (output - first_tree) % outputs  # the first of these trees that adds to this output
        if first < trees:
            for i in range(rows):
                total = out_scores[output, first_row + i]
                for k in range(first, trees, outputs):
                    total += values[at[k * rows + i]]
                out_scores[output, first_row + i] = total
