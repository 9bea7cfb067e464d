"""Tuning a tree to target rows, on plain arrays.

``nodes`` are those of a whole forest, laid out as for scoring (``rankinite/trees/_walk_kernels.py``): nodes × 4, the feature
asked, whether a missing value goes left, the left and the right child; a leaf is its own child, and parents come before their
children. The tree is that of the nodes root … end−1. ``threshold``, ``source`` and values have one entry a node of the forest.
``columns``, features × rows, holds what the trees ask for. What rows bring along is ``whole``, (3, rows): how much a row
counts, its push and its curvature, as whole multiples of ``units``, (3,). Sums of whole numbers are exact: neither the order of
the rows nor the number of threads can change them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Features, Flags, Floats, Indices, kernel
from rankinite.trees._walk_kernels import Nodes

Integers = npt.NDArray[np.int32]

COUNT, PUSH, CURVATURE = 0, 1, 2
"""What the rows of ``whole`` and of ``sums`` are."""
IN_STEP = 8
"""Rows that walk down together: each waits for its own memory, so their waits overlap."""
STEPS = 2
"""Levels walked before looking whether all have arrived."""


@kernel
def make_whole(values: Floats, unit: float, out_whole: Indices) -> None:
    """The values of all rows as multiples of the unit, a power of two."""
    scale = 1.0 / unit
    for row in range(len(values)):
        out_whole[row] = np.int64(np.rint(values[row] * scale))


@kernel
def _child(columns: Features, nodes: Nodes, threshold: Floats, row: int, node: np.uint32) -> np.uint32:
    """Where a row goes from a node. Without branches: a wrong guess of the processor would cost more than the step."""
    x = np.float64(columns[nodes[node, 0], row])
    goes_left = (x <= threshold[node]) | ((nodes[node, 1] != 0) & (x != x))  # noqa: PLR0124 - NaN alone differs from itself
    return nodes[node, 2] if goes_left else nodes[node, 3]


@kernel
def send_down(
    columns: Features,
    nodes: Nodes,
    threshold: Floats,
    whole: Indices,
    root: int,
    first: int,
    last: int,
    out_sums: Indices,
    out_leaf: Nodes,
) -> None:
    """Add what the rows first … last−1 bring to the leaf each ends in, and say which that is.

    ``out_sums``: (nodes of the tree, 3); ``out_leaf``: one a row.
    """
    top = np.uint32(root)
    at = np.zeros(IN_STEP, np.uint32)
    together = first if nodes[top, 2] == top else first + (last - first) // IN_STEP * IN_STEP
    for row in range(first, together, IN_STEP):
        for i in range(IN_STEP):
            at[i] = top
        walking = True
        while walking:
            for _ in range(STEPS):
                for i in range(IN_STEP):
                    at[i] = _child(columns, nodes, threshold, row + i, at[i])
            walking = False
            for i in range(IN_STEP):
                walking |= nodes[at[i], 2] != at[i]
        for i in range(IN_STEP):
            out_leaf[row + i] = at[i]
    for row in range(together, last):
        node = top
        while nodes[node, 2] != node:
            node = _child(columns, nodes, threshold, row, node)
        out_leaf[row] = node
    for row in range(first, last):
        leaf = out_leaf[row] - top
        out_sums[leaf, COUNT] += whole[COUNT, row]
        out_sums[leaf, PUSH] += whole[PUSH, row]
        out_sums[leaf, CURVATURE] += whole[CURVATURE, row]


@kernel
def share_of(source: float, target: float, beta: float) -> float:
    """1 − p: how much the target counts where so much of the source and of the target comes by (equation 3)."""
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
    have in common beside what it responds to. Nodes that no target row reaches, or only such as push nothing, add nothing.
    """
    count = len(out_sums)
    for own in range(count - 1, -1, -1):
        left, right = int(nodes[root + own, 2]) - root, int(nodes[root + own, 3]) - root
        if left != own:
            for k in range(3):
                out_sums[own, k] = out_sums[left, k] + out_sums[right, k]
    response, added, parent = np.zeros(count), np.zeros(count), np.full(count, -1)
    for own in range(count):
        node, up = root + own, parent[own]
        left, right = int(nodes[node, 2]) - root, int(nodes[node, 3]) - root
        if left != own:
            parent[left], parent[right] = own, own
        follows = layers and up >= 0
        if follows:
            added[own] = added[up]
        if out_sums[own, CURVATURE] > 0:
            share = share_of(source[node], out_sums[own, counter] * units[counter], beta)
            response[own] = rate * (out_sums[own, PUSH] * units[PUSH]) / (out_sums[own, CURVATURE] * units[CURVATURE])
            if follows:
                added[own] += share * ((response[own] - response[up]) - (before[node] - before[root + up]))
            else:
                added[own] = share * (response[own] - (before[node] - constant))
        out_values[node] = before[node] + added[own] if added[own] != 0.0 else before[node]


@kernel
def _best_cut(
    values: Features, rows: Integers, count: int, whole: Indices, units: Floats, best: float, total: float, weight: float
) -> float:
    """The threshold with the highest Σ push² / Σ curvature of both sides, NaN where none is above ``best``.

    ``rows``: ``count`` rows by rising value; a cut is halfway between two different ones. For curvature 1 this is least
    squares.
    """
    cut, left, own = np.nan, 0, 0
    for k in range(count - 1):
        left += whole[PUSH, rows[k]]
        own += whole[CURVATURE, rows[k]]
        a, b = values[rows[k]], values[rows[k + 1]]
        if a < b:
            push, part = left * units[PUSH], own * units[CURVATURE]
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
    row is. ``out_rows`` is room for one number a row.
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
    out_threshold: Floats,
    out_place: Nodes,
    out_rows: Integers,
) -> None:
    """Move each threshold towards the target's own best cut, from the root down (algorithm 2).

    ``order``: (features, rows), see :func:`own_cut`; ``known``: one a feature. ``out_threshold`` holds the source's to begin
    with. ``out_place`` and ``out_rows`` are room for one number a row.
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
        if share > 0.0 and np.isfinite(out_threshold[node]):
            cut = own_cut(columns[slot], order[slot], int(known[slot]), out_place, node, whole, units, out_rows)
            if np.isfinite(cut):
                out_threshold[node] += share * (cut - out_threshold[node])
        for row in range(len(out_place)):
            if out_place[row] == node:
                out_place[row] = _child(columns, nodes, out_threshold, row, np.uint32(node))


@kernel
def mark_kept(nodes: Nodes, roots: Indices, reached: Flags, out_kept: Flags) -> None:
    """Which nodes stay when the branches below those that no target row reaches are cut off; one entry a node."""
    out_kept[:] = False
    for root in roots:
        out_kept[root] = True
    for node in range(len(nodes)):  # parents come first
        if out_kept[node] and reached[node] and nodes[node, 2] != node:
            out_kept[nodes[node, 2]], out_kept[nodes[node, 3]] = True, True
