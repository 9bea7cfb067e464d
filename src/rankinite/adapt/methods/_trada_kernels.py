"""Tuning a tree to target rows, on plain arrays.

``nodes`` are those of a whole forest, laid out as for scoring (``rankinite/trees/_walk_kernels.py``): nodes × 4, the feature
asked, whether a missing value goes left, the left and the right child; a leaf is its own child, and parents come before their
children. ``numbers``, nodes × 2, begins with the thresholds. The tree is that of the nodes root … end−1. ``source`` and values
have one entry per node of the forest. ``columns``, features × rows, holds the features that the trees ask for. What rows bring
along is ``whole``, (3, rows): how much a row counts, its push and its curvature, as whole multiples of ``units``, (3,). Sums of
whole numbers are exact: neither the order of the rows nor the number of threads can change them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Features, Flags, Floats, Indices, kernel
from rankinite.trees._walk_kernels import IN_STEP, Nodes, child_of, find_leaves

Integers = npt.NDArray[np.int32]

COUNT, PUSH, CURVATURE = 0, 1, 2
"""What the rows of ``whole`` and of ``sums`` are."""


@kernel
def make_whole(values: Floats, unit: float, out_whole: Indices) -> None:
    """The values of all rows as multiples of the unit, a power of two."""
    scale = 1.0 / unit
    for row in range(len(values)):
        out_whole[row] = np.int64(np.rint(values[row] * scale))


@kernel
def send_down(
    columns: Features,
    nodes: Nodes,
    numbers: Floats,
    whole: Indices,
    root: int,
    first: int,
    last: int,
    out_sums: Indices,
    out_leaf: Nodes,
) -> None:
    """Find the leaf that each of the rows first … last−1 ends in, and add to it what the row brings.

    ``out_sums``: (nodes of the tree, 3); ``out_leaf``: one per row.
    """
    top, at = np.uint32(root), np.zeros(IN_STEP, np.uint32)
    find_leaves(columns.T, nodes, numbers, top, first, last, at, out_leaf[first:last])
    for row in range(first, last):
        leaf = out_leaf[row] - top
        out_sums[leaf, COUNT] += whole[COUNT, row]
        out_sums[leaf, PUSH] += whole[PUSH, row]
        out_sums[leaf, CURVATURE] += whole[CURVATURE, row]


@kernel
def share_of(source: float, target: float, beta: float) -> float:
    """1 − p: how much the target counts at a node that this much of the source and of the target reaches (equation 3)."""
    if beta == 0.0 or target <= 0.0:
        return 0.0
    return target / (source / beta + target)


@kernel
def tune_values(
    nodes: Nodes,
    before: Floats,
    source: Floats,
    units: Floats,
    root: int,
    counter: int,
    beta: float,
    rate: float,
    constant: float,
    layers: bool,
    out_sums: Indices,
    out_values: Floats,
) -> None:
    """What every node adds to the score if a row ends there: equation 4, or equation 2 without ``layers``.

    ``out_sums``, (nodes of the tree, 3), holds those of leaves and is completed. ``source`` counts a node's source rows one by
    one or by curvature; ``counter`` says which of the sums does so for the target. ``constant`` is what all values of the tree
    have in common beside what it responds to. Nodes that no target row reaches, or only rows without curvature, add nothing.
    """
    count = len(out_sums)
    for at in range(count - 1, -1, -1):
        left, right = int(nodes[root + at, 2]) - root, int(nodes[root + at, 3]) - root
        if left != at:
            for k in range(3):
                out_sums[at, k] = out_sums[left, k] + out_sums[right, k]
    response, added, parent = np.zeros(count), np.zeros(count), np.full(count, -1)
    for at in range(count):
        node, up = root + at, parent[at]
        left, right = int(nodes[node, 2]) - root, int(nodes[node, 3]) - root
        if left != at:
            parent[left], parent[right] = at, at
        follows = layers and up >= 0
        if follows:
            added[at] = added[up]
        if out_sums[at, CURVATURE] > 0:
            share = share_of(source[node], out_sums[at, counter] * units[counter], beta)
            response[at] = rate * (out_sums[at, PUSH] * units[PUSH]) / (out_sums[at, CURVATURE] * units[CURVATURE])
            if follows:
                added[at] += share * ((response[at] - response[up]) - (before[node] - before[root + up]))
            else:
                added[at] = share * (response[at] - (before[node] - constant))
        out_values[node] = before[node] + added[at] if added[at] != 0.0 else before[node]


@kernel
def _best_cut(
    values: Features, rows: Integers, count: int, whole: Indices, units: Floats, best: float, total: float, weight: float
) -> float:
    """The threshold with the highest Σ push² / Σ curvature of both sides, NaN where none is above ``best``.

    ``rows``: ``count`` rows by rising value; a cut is halfway between two different ones. For curvature 1 this is least
    squares.
    """
    cut, left, curvature = np.nan, 0, 0
    for k in range(count - 1):
        left += whole[PUSH, rows[k]]
        curvature += whole[CURVATURE, rows[k]]
        a, b = values[rows[k]], values[rows[k + 1]]
        if a < b:
            push, part = left * units[PUSH], curvature * units[CURVATURE]
            if part > 0.0 and weight - part > 0.0:
                gain = push * push / part + (total - push) * (total - push) / (weight - part)
                if gain > best:
                    best, cut = gain, 0.5 * (np.float64(a) + np.float64(b))
    return cut


@kernel
def own_cut(
    values: Features, order: Integers, known: int, place: Nodes, node: int, whole: Indices, units: Floats, out_rows: Integers
) -> float:
    """The best threshold of a node's target rows alone, NaN where no cut gains anything. Rows that count 0 are not there.

    ``values``: a column; ``order``: all rows by rising value, the ``known`` first not missing; ``place``: the node where each
    row is. ``out_rows`` is room for one number per row.
    """
    count, push, curvature = 0, 0, 0
    for k in range(known):
        row = order[k]
        out_rows[count] = row
        count += (place[row] == node) & (whole[COUNT, row] > 0)
    for k in range(count):
        push += whole[PUSH, out_rows[k]]
        curvature += whole[CURVATURE, out_rows[k]]
    if curvature == 0:
        return np.nan
    total, weight = push * units[PUSH], curvature * units[CURVATURE]
    best = total * total / weight * (1.0 + 1e-12)  # what rounding alone gains is no gain
    return _best_cut(values, out_rows, count, whole, units, best, total, weight)


@kernel
def move_thresholds(
    columns: Features,
    order: Integers,
    known: Indices,
    nodes: Nodes,
    source: Floats,
    whole: Indices,
    units: Floats,
    root: int,
    end: int,
    counter: int,
    beta: float,
    out_numbers: Floats,
    out_place: Nodes,
    out_rows: Integers,
) -> None:
    """Move each threshold towards the target's own best cut, from the root down (algorithm 2).

    ``order``: (features, rows), see :func:`own_cut`; ``known``: one per feature. ``out_numbers`` holds the source's thresholds
    to begin with. ``out_place`` and ``out_rows`` are room for one number per row.
    """
    out_place[:] = root
    for node in range(root, end):
        slot = nodes[node, 0]
        if nodes[node, 2] == node:
            continue
        target = 0
        for row in range(len(out_place)):
            target += whole[counter, row] if out_place[row] == node else 0
        share = share_of(source[node], target * units[counter], beta)
        if share > 0.0 and np.isfinite(out_numbers[node, 0]):
            cut = own_cut(columns[slot], order[slot], int(known[slot]), out_place, node, whole, units, out_rows)
            if np.isfinite(cut):
                out_numbers[node, 0] += share * (cut - out_numbers[node, 0])
        for row in range(len(out_place)):
            if out_place[row] == node:
                out_place[row] = child_of(columns.T, nodes, out_numbers, row, np.uint32(node))


@kernel
def mark_kept(nodes: Nodes, roots: Indices, reached: Flags, out_kept: Flags) -> None:
    """Which nodes stay when the branches below those that no target row reaches are cut off; one entry per node."""
    out_kept[:] = False
    for root in roots:
        out_kept[root] = True
    for node in range(len(nodes)):  # parents come first
        if out_kept[node] and reached[node] and nodes[node, 2] != node:
            out_kept[nodes[node, 2]], out_kept[nodes[node, 3]] = True, True
