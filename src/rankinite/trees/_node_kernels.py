"""Nodes of a tree in the making: what they hold, their values, and their children."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Bytes, lean_kernel
from rankinite.trees._scan_kernels import MASK, MISSING_LEFT, sum_of
from rankinite.trees._state import LOW, ROOT, SET, Coded, Growth, Nodes, Workspace


@lean_kernel
def least_weight(growth: Growth, work: Workspace) -> int:
    """What a side of a cut must have in the low bits of its cell, for limits the cells can check."""
    if growth.row_share < 1.0:
        return 1
    if growth.newton:
        return max(1, least_curvature(growth, work))
    return max(1, growth.min_rows) if len(work.weights) == 0 else 1


@lean_kernel
def least_curvature(growth: Growth, work: Workspace) -> int:
    """The minimum curvature in quantised units."""
    return int(min(np.ceil(growth.min_curvature / work.scales[1]), 2.0**62))


@lean_kernel
def raw_l2(growth: Growth, work: Workspace) -> float:
    """L2 in quantised units; least squares on the pushes has none."""
    return growth.l2 / work.scales[1] if growth.newton else 0.0


@lean_kernel
def raw_smooth(growth: Growth, nodes: Nodes, node: int) -> float:
    """The smoothing of categories in the units of a node's low bits, of which a row of the node has the mean."""
    return growth.smooth * (nodes.total[node] & MASK) / max(1, nodes.rows[node])


@lean_kernel
def level_smooth(growth: Growth, nodes: Nodes, first: int, last: int) -> float:
    """The same for the nodes first … last−1 together."""
    weight, rows = 0, 0
    for node in range(first, last):
        weight += nodes.total[node] & MASK
        rows += nodes.rows[node]
    return growth.smooth * weight / max(1, rows)


@lean_kernel
def keep_set(coded: Coded, nodes: Nodes, node: int, feature: int, table: Bytes) -> None:
    """Note the codes that go left at a node that asks for a category."""
    if not coded.category[feature]:
        return
    nodes.code[node], nodes.missing_left[node] = SET, False
    for word in range(nodes.members.shape[1]):
        bits = np.uint64(0)
        for bit in range(64):
            bits |= np.uint64(table[64 * word + bit]) << np.uint64(bit)
        nodes.members[node, word] = bits


@lean_kernel
def set_value(nodes: Nodes, node: int, growth: Growth, work: Workspace) -> None:
    """The Newton step Σλ / (Σw + L2), within the node's bounds; 0 where there is no curvature."""
    curvature = nodes.curvature[node] * work.scales[1]
    step = nodes.push[node] * work.scales[0] / (curvature + growth.l2) if curvature > 0.0 else 0.0
    nodes.value[node] = min(max(step, nodes.low[node]), nodes.high[node])


@lean_kernel
def start_root(total: int, rows: int, curvature: int, growth: Growth, nodes: Nodes, work: Workspace) -> None:
    """The root holds all rows of the first half of ``order``."""
    nodes.start[0], nodes.end[0], nodes.half[0], nodes.slot[0], nodes.depth[0] = 0, rows, 0, 0, 0
    nodes.rows[0] = growth.rows
    nodes.push[0], nodes.total[0], nodes.weight[0], nodes.curvature[0] = total >> LOW, total, total & MASK, curvature
    nodes.feature[0], nodes.best[0], nodes.gain[0] = -1, -1, 0.0
    nodes.low[0], nodes.high[0] = -np.inf, np.inf
    set_value(nodes, ROOT, growth, work)


@lean_kernel
def _start_child(nodes: Nodes, node: int, parent: int, total: int, curvature: int) -> None:
    nodes.push[node], nodes.total[node], nodes.weight[node] = total >> LOW, total, total & MASK
    nodes.curvature[node] = curvature
    nodes.depth[node] = nodes.depth[parent] + 1
    nodes.feature[node], nodes.best[node], nodes.gain[node] = -1, -1, 0.0
    nodes.low[node], nodes.high[node] = nodes.low[parent], nodes.high[parent]


@lean_kernel
def split_node(
    node: int, feature: int, code: int, growth: Growth, nodes: Nodes, work: Workspace, size: int, workers: int
) -> None:
    """Make the children of a node, numbers ``size`` and ``size + 1``, from what :func:`mark_left` counted."""
    rows, curvature, total = (
        sum_of(work.counts[0], workers),
        sum_of(work.counts[1], workers),
        sum_of(work.counts[2], workers),
    )
    place_children(nodes, node, size, rows)
    make_children(node, feature, code, growth, nodes, work, size, rows, curvature, total)


@lean_kernel
def place_children(nodes: Nodes, node: int, size: int, left_rows: int) -> None:
    """Where the rows of a node's children are, of which the left one has so many on this member."""
    start, end, a, b = nodes.start[node], nodes.end[node], size, size + 1
    nodes.start[a], nodes.end[a] = start, start + left_rows
    nodes.start[b], nodes.end[b] = start + left_rows, end
    nodes.half[a] = nodes.half[b] = 1 - nodes.half[node]


@lean_kernel
def make_children(
    node: int, feature: int, code: int, growth: Growth, nodes: Nodes, work: Workspace, size: int,
    left_rows: int, left_curvature: int, left_total: int,
) -> None:  # fmt: skip
    """Make the children of a node, numbers ``size`` and ``size + 1``, of which the left one has these sums in all."""
    whole = (nodes.push[node] << LOW) + nodes.weight[node]
    a, b = size, size + 1
    nodes.feature[node], nodes.code[node] = feature, code % MISSING_LEFT
    nodes.missing_left[node] = code >= MISSING_LEFT
    nodes.left[node], nodes.right[node] = a, b
    _start_child(nodes, a, node, left_total, left_curvature)
    _start_child(nodes, b, node, whole - left_total, nodes.curvature[node] - left_curvature)
    nodes.rows[a], nodes.rows[b] = left_rows, nodes.rows[node] - left_rows
    set_value(nodes, a, growth, work)
    set_value(nodes, b, growth, work)


@lean_kernel
def keep_order(nodes: Nodes, parent: int, monotone: int) -> None:
    """Bound the children of a node so that their order is the one asked for: 1 rising, −1 falling, 0 any."""
    if monotone == 0:
        return
    lower, upper = nodes.left[parent], nodes.right[parent]
    if monotone < 0:
        lower, upper = upper, lower
    # Neither side may ever cross the middle between the two values, so no later split can break the order.
    middle = 0.5 * (nodes.value[lower] + nodes.value[upper])
    if nodes.value[lower] > nodes.value[upper]:
        middle = nodes.value[parent]
        nodes.value[lower], nodes.value[upper] = middle, middle
    nodes.high[lower], nodes.low[upper] = middle, middle


@lean_kernel
def smaller_first(nodes: Nodes, a: int) -> tuple[int, int]:
    """Two siblings, a and a + 1, the one with fewer rows first."""
    b = a + 1
    return (a, b) if nodes.rows[a] <= nodes.rows[b] else (b, a)
