"""One tree from start to end, and what it adds to the scores."""

from __future__ import annotations

import numpy as np

from rankinite.engine.barriers import CLAIMED, claim, wait
from rankinite.engine.kernel import Flags, Floats, lean_kernel
from rankinite.trees._grow_kernels import grow_best_first
from rankinite.trees._node_kernels import start_root
from rankinite.trees._partition_kernels import code_at, quantise
from rankinite.trees._scan_kernels import is_drawn, sum_of
from rankinite.trees._state import DONE, MISSING, SET, Coded, Growth, Keys, Nodes, Workspace
from rankinite.trees._symmetric_kernels import grow_symmetric


@lean_kernel
def draw_tree_rows(keys: Keys, share: float, word: np.uint64, out_drawn: Flags) -> None:
    """Draw the rows a tree is grown from; both arrays have shape (rows,). Equal keys, equal fate."""
    for r in range(len(keys)):
        out_drawn[r] = is_drawn(keys[r], word, share)


@lean_kernel
def plant(push: Floats, curvature: Floats, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int) -> int:
    """Set the root over the rows order[0, :n], whose n pushes and curvatures are given; ``DONE``, or why that failed."""
    status = quantise(push, curvature, growth, work, worker, workers)
    if status != DONE:
        return status
    if worker == 0:
        total, total_curvature = sum_of(work.counts[2], workers), sum_of(work.counts[3], workers)
        start_root(total, len(push), total_curvature, growth, nodes, work)
    wait(work.sync, workers)
    return DONE


# Two kernels, so that whoever grows one kind of tree waits for the compilation of that kind only.


@lean_kernel
def grow_best_first_tree(
    push: Floats, curvature: Floats, coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int
) -> int:
    """Grow a tree leaf by leaf; its number of nodes, or why there is none."""
    status = plant(push, curvature, growth, nodes, work, worker, workers)
    if status != DONE:
        return status
    return grow_best_first(coded, growth, nodes, work, worker, workers)


@lean_kernel
def grow_symmetric_tree(
    push: Floats, curvature: Floats, coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int
) -> int:
    """Grow a tree level by level; its number of nodes, or why there is none."""
    status = plant(push, curvature, growth, nodes, work, worker, workers)
    if status != DONE:
        return status
    return grow_symmetric(coded, growth, nodes, work, worker, workers)


@lean_kernel
def add_to_leaves(nodes: Nodes, size: int, values: Floats, work: Workspace, worker: int, workers: int, out: Floats) -> None:
    """Add each leaf's value to the scores of its rows; ``values`` has shape (size,), ``out`` (rows,)."""
    if worker == 0:
        work.sync[CLAIMED] = 0
    wait(work.sync, workers)
    while True:
        node = claim(work.sync)
        if node >= size:
            return
        if nodes.feature[node] >= 0:
            continue
        order = work.order[nodes.half[node]]
        for k in range(nodes.start[node], nodes.end[node]):
            out[order[k]] += values[node]


@lean_kernel
def add_by_codes(words: Keys, nodes: Nodes, values: Floats, skip: Flags, first: int, last: int, out: Floats) -> None:
    """Add a tree's values to the scores of the rows first … last−1, found by their codes.

    ``skip``, shape (rows,) or empty, marks rows to leave alone; ``values`` has one entry per node, ``out`` one per row.
    """
    flat, rows = words.reshape(-1), words.shape[1]
    for r in range(first, last):
        if len(skip) > 0 and skip[r]:
            continue
        node = 0
        while nodes.feature[node] >= 0:
            code = code_at(flat, rows, nodes.feature[node], r)
            if nodes.code[node] == SET:
                left = (nodes.members[node, code >> 6] >> np.uint64(code & 63)) & np.uint64(1) != 0
            else:
                left = nodes.missing_left[node] if code == MISSING else code <= nodes.code[node]
            node = nodes.left[node] if left else nodes.right[node]
        out[r] += values[node]
