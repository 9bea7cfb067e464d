"""Compiled walks of rows down trees, by three layouts, and the columns that trees with categories ask for.

*As they are.* ``nodes``: nodes × 4, uint32: the feature asked, whether a missing value goes left (0 or 1), the left and the
right child as numbers of nodes. A leaf is its own child on both sides, so that walking on from it changes nothing and rows can
walk in step without asking which have arrived. ``numbers``: nodes × 2: threshold and value.

*Packed.* ``words``: four uint32 per node: the first two are its threshold, as a float64, which ``thresholds`` shows at twice
the node's number; then the slot that is compared with it, and the left child; the right child is the next node. A leaf is its
own left child and compares 0 with +∞, so that walking on from it changes nothing. ``values``: one per node. ``roots``: the
first node of each tree. A *lane* is a walk of one row down one tree. About LANES of them walk at a time: many rows down one
tree, one row down many trees, or anything in between. Numbers of nodes and lanes are uint64 throughout: mixed with signed ones
they would become floats.

*Symmetric.* A tree is a list of levels, each with a slot and a threshold; the answers, 0 for left and 1 for right, are the bits
of the leaf's number, the root's the highest. ``level_slots``, ``level_thresholds``: one per level, an even number for every
tree; ``levels``: trees + 1 numbers of levels. ``values``: one per leaf; ``leaves``: trees + 1 numbers of leaves. Values are
compared in the precision of the matrix, for which thresholds are given, so that twice as many float32 fit a register.

``columns`` and ``right`` are those of :class:`rankinite.trees.walk.Slots`. Behind the slots of a row comes the 0 of leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine._math_kernels import LARGEST, exponential
from rankinite.engine.kernel import Floats, Indices, Reals, kernel

Nodes = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint32]
Places = npt.NDArray[np.uint64]
Levels = tuple[Words, Reals, Indices, Floats, Indices]
"""Slots and thresholds of levels, numbers of levels, values, numbers of leaves."""

IN_STEP = 8
"""Walks that take a step together: each waits for its own memory, so their waits overlap."""
BLOCK = 64
"""Rows that go through all trees before the next rows do: some hundred features of them fit the cache beside the trees. Down
symmetric trees, their slots are laid out column by column, so that a level compares eight or more of them at once."""
STEPS = 2
"""Levels walked before looking whether all have arrived."""
LANES, MOST_ROWS = 384, 128
"""Walks, and rows, at a time."""
NEXT_STEPS = 2
"""Steps before looking again which walks have not arrived."""
ROOM = 1 << 15
"""Slots of rows that are copied at a time: they share the cache with the trees."""
ALONE = 8
"""Fewer rows than this are faster one by one."""
TOGETHER = 4
"""Trees whose leaves are looked up before their values are added."""


# ---- as they are -----------------------------------------------------------------------------------------------------


@kernel
def add_trees(
    matrix: Reals,
    nodes: Nodes,
    numbers: Floats,
    offsets: Indices,
    first_tree: int,
    last_tree: int,
    first_row: int,
    last_row: int,
    out_scores: Floats,
) -> None:
    """Add the trees' values to the scores of the rows given, one tree after the other.

    ``matrix``: rows × features; ``offsets``: trees + 1 node numbers; ``out_scores``: outputs × rows, where tree t adds to
    output t modulo outputs.
    """
    outputs = out_scores.shape[0]
    at, leaf = np.zeros(IN_STEP, np.uint32), np.zeros(BLOCK, np.uint32)
    for start in range(first_row, last_row, BLOCK):
        end = min(start + BLOCK, last_row)
        for tree in range(first_tree, last_tree):
            output = tree % outputs
            find_leaves(matrix, nodes, numbers, np.uint32(offsets[tree]), start, end, at, leaf)
            for row in range(start, end):
                out_scores[output, row] += numbers[leaf[row - start], 1]


@kernel
def find_leaves(
    matrix: Reals, nodes: Nodes, numbers: Floats, root: np.uint32, first: int, last: int, out_at: Nodes, out_leaf: Nodes
) -> None:
    """The leaf of one tree that each of the rows first … last−1 ends in; ``out_at`` is room for IN_STEP numbers."""
    if nodes[root, 2] == root:  # a leaf alone: there may be no feature to look at
        for row in range(first, last):
            out_leaf[row - first] = root
        return
    in_step = first + (last - first) // IN_STEP * IN_STEP
    for row in range(first, in_step, IN_STEP):
        for i in range(IN_STEP):
            out_at[i] = root
        walking = True
        while walking:
            for _ in range(STEPS):
                for i in range(IN_STEP):
                    out_at[i] = child_of(matrix, nodes, numbers, row + i, out_at[i])
            walking = False
            for i in range(IN_STEP):
                walking |= nodes[out_at[i], 2] != out_at[i]
        for i in range(IN_STEP):
            out_leaf[row + i - first] = out_at[i]
    for row in range(in_step, last):
        node = root
        while nodes[node, 2] != node:
            node = child_of(matrix, nodes, numbers, row, node)
        out_leaf[row - first] = node


@kernel
def child_of(matrix: Reals, nodes: Nodes, numbers: Floats, row: int, node: np.uint32) -> np.uint32:
    """Where a row goes from a node. Without branches: a wrong guess of the processor would cost more than the step."""
    x = np.float64(matrix[row, nodes[node, 0]])
    goes_left = (x <= numbers[node, 0]) | ((nodes[node, 1] != 0) & (x != x))  # noqa: PLR0124 - NaN alone differs from itself
    return nodes[node, 2] if goes_left else nodes[node, 3]


# ---- packed ----------------------------------------------------------------------------------------------------------


@kernel
def add_packed(
    matrix: Reals,
    columns: Indices,
    right: int,
    words: Words,
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
def next_node(room: Floats, place: np.uint64, words: Words, thresholds: Floats, node: np.uint64) -> np.uint64:
    """Where a row whose slots begin at ``place`` goes from a node. Without branches: wrong guesses would cost more."""
    x = room[place + words[np.uint64(4) * node + np.uint64(2)]]
    one_on = np.uint64(0) if x <= thresholds[np.uint64(2) * node] else np.uint64(1)
    return np.uint64(words[np.uint64(4) * node + np.uint64(3)]) + one_on


@kernel
def walk_lanes(
    room: Floats,
    places: Places | None,
    words: Words,
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
def is_leaf(words: Words, node: np.uint64) -> bool:
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


# ---- symmetric -------------------------------------------------------------------------------------------------------


@kernel
def add_symmetric(
    matrix: Reals,
    columns: Indices,
    right: int,
    level_slots: Words,
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
    room: Reals, trees: Levels, ends: tuple[int, int, int], first_row: int, last_row: int, out_leaf: Words, out_scores: Floats
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
    room: Reals, level_slots: Words, level_thresholds: Reals, first: int, last: int, out_leaf: Words
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


# ---- categories, and classes of grades -------------------------------------------------------------------------------


@kernel
def fill_indicators(
    matrix: Reals, columns: Indices, feature: Indices, starts: Indices, words: npt.NDArray[np.uint32], out_wide: Reals
) -> None:
    """The features of every row, then for every set 0 where its feature's category is in it, 1 where it is not, NaN if missing.

    ``out_wide``: rows × (features + sets); ``columns``: where each feature is in the matrix. The category of a number is its
    whole part; what lies beyond a set's words is not in it.
    """
    features = len(columns)
    for row in range(len(matrix)):
        for f in range(features):
            out_wide[row, f] = matrix[row, columns[f]]
        for k in range(len(feature)):
            x = matrix[row, columns[feature[k]]]
            if x != x:  # noqa: PLR0124 - NaN alone differs from itself
                out_wide[row, features + k] = x
                continue
            out_wide[row, features + k] = 1
            size = 32 * (starts[k + 1] - starts[k])
            if -1 < x < size:
                code = int(x)
                bit = (words[starts[k] + (code >> 5)] >> np.uint32(code & 31)) & np.uint32(1)
                if bit:
                    out_wide[row, features + k] = 0


@kernel
def expected_grades(outputs: Floats, grades: Floats, out_scores: Floats) -> None:
    """The mean grade of every row under the probabilities that its outputs stand for (softmax).

    ``outputs``: grades × rows; ``grades``: one per output; ``out_scores``: one per row.
    """
    for row in range(outputs.shape[1]):
        largest = outputs[0, row]
        for k in range(1, len(grades)):
            largest = max(largest, outputs[k, row])
        total = 0.0
        weighted = 0.0
        for k in range(len(grades)):
            share = exponential(max(outputs[k, row] - largest, -LARGEST))
            total += share
            weighted += share * grades[k]
        out_scores[row] = weighted / total
