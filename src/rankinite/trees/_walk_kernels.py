"""Compiled walks of rows down trees.

``nodes``: nodes × 4, uint32: the feature asked, whether a missing value goes left (0 or 1), the left and the right child as
numbers of nodes. A leaf is its own child on both sides, so that walking on from it changes nothing and rows can walk in
step without asking which have arrived. ``numbers``: nodes × 2: threshold and value.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankinite.engine._math_kernels import LARGEST, exponential
from rankinite.engine.kernel import Floats, Indices, Reals, kernel

Nodes = npt.NDArray[np.uint32]

IN_STEP = 8
"""Rows that walk down together: each waits for its own memory, so their waits overlap."""
BLOCK = 64
"""Rows that go through all trees before the next rows do: some hundred features of them fit the cache beside the trees."""
STEPS = 2
"""Levels walked before looking whether all have arrived."""


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
