"""Nodes of a tree in the making: their histograms, their best cuts, their values and their children.

A cell holds two of push, curvature and count. What a leaf must have of the third is checked when a node is about to be split;
where the cut fails, that feature is counted code by code and scanned again with the limits in force (docs/adr/0011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.engine.kernel import Bytes, Flags, lean_kernel
from rankinite.trees._row_kernels import BLOCK, add_rows, draw_rows, subtract
from rankinite.trees._split_kernels import (
    best_feature,
    lay_cut,
    lay_set,
    limited_category,
    net_gain,
    order_codes,
    random_cut,
    scan,
    scan_at,
    scan_category,
    scan_limited,
)
from rankinite.trees._state import (
    BINS,
    LOW,
    MASK,
    MISSING,
    MISSING_LEFT,
    ROOT,
    SET,
    WIDTH,
    WORDS,
    Coded,
    Growth,
    Nodes,
    Workspace,
    copy_flags,
    mix,
    sum_of,
)

# ---- limits in quantised units ---------------------------------------------------------------------------------------


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


# ---- the histogram of a node -----------------------------------------------------------------------------------------


@lean_kernel
def draw_features(used: Flags, share: float, word: np.uint64, out_allowed: Flags) -> None:
    """Draw a share of the features in use, at least one; all arrays have shape (features,)."""
    available = 0
    for f in range(len(used)):
        available += int(used[f])
    wanted = max(1, int(np.ceil(share * available)))
    for f in range(len(used)):
        out_allowed[f] = False
        if used[f]:
            # Selection sampling (Knuth's algorithm S): each feature in turn, with the chance that keeps the count right.
            chance = float(mix(word, np.uint64(f)) >> np.uint64(11)) * 2.0**-53
            if chance * available < wanted:
                out_allowed[f] = True
                wanted -= 1
            available -= 1


@lean_kernel
def prepare(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, may_split: bool) -> None:
    """Features, and where asked rows, that the split of a node is looked for with."""
    if not may_split:
        work.allowed[node] = False
    elif growth.feature_share < 1.0:
        draw_features(coded.used, growth.feature_share, mix(growth.seed, np.uint64(2 * node + 1)), work.allowed[node])
    else:
        copy_flags(coded.used, work.allowed[node])
    if growth.row_share < 1.0:
        draw_rows(nodes, node, coded.keys, growth.row_share, mix(growth.seed, np.uint64(2 * node)), work)


@lean_kernel
def words_of_worker(coded: Coded, block: int, worker: int, workers: int) -> tuple[int, int]:
    """The words of a block that are a worker's own: an even share of all words, always the same, so that they stay in its
    cache.
    """
    words = (len(coded.bins) + 7) // 8
    first = max(words * worker // workers - block * WORDS, 0)
    last = min(words * (worker + 1) // workers - block * WORDS, WORDS)
    return first, max(first, last)


@lean_kernel
def features_of(coded: Coded, block: int, first: int, last: int) -> tuple[int, int]:
    """The features of the words first … last−1 of a block."""
    features, base = len(coded.bins), block * WIDTH
    return min(base + 8 * first, features), min(base + 8 * last, features)


@lean_kernel
def any_of(flags: Flags, first: int, last: int) -> bool:
    """Whether one of the flags first … last−1 is set."""
    for k in range(first, last):
        if flags[k]:
            return True
    return False


@lean_kernel
def fill(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, block: int, first: int, last: int) -> None:
    """The words first … last−1 of a block of a node's histogram, from its rows or from those drawn."""
    sums = work.histograms[nodes.slot[node], block * BLOCK : (block + 1) * BLOCK]
    start, features = nodes.start[node], min(len(coded.bins) - block * WIDTH, WIDTH)
    if growth.row_share < 1.0:
        end = nodes.drawn_end[node]
        add_rows(coded.words[block], work.drawn_order, work.drawn_cells, start, end, first, last, features, sums)
    else:
        side, end = nodes.half[node], nodes.end[node]
        add_rows(coded.words[block], work.order[side], work.cells[side], start, end, first, last, features, sums)


@lean_kernel
def take_away(nodes: Nodes, work: Workspace, whole: int, part: int, block: int, first: int, last: int) -> None:
    """Turn words of the parent's histogram, which the sibling has taken over, into the sibling's own."""
    low, high = block * BLOCK + 8 * BINS * first, block * BLOCK + 8 * BINS * last
    subtract(work.histograms[nodes.slot[whole], low:high], work.histograms[nodes.slot[part], low:high])


# ---- the best cut of a node ------------------------------------------------------------------------------------------


@lean_kernel
def scan_node(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, first: int, last: int, worker: int
) -> None:
    """Find the best cut of each of the features first … last−1 at a node."""
    least, l2, total = least_weight(growth, work), raw_l2(growth, work), nodes.total[node]
    sums = work.histograms[nodes.slot[node]]
    left, room = work.left[worker], work.terms[worker]
    for f in range(first, last):
        work.gains[node, f], work.exact[node, f] = -np.inf, False
        if not work.allowed[node, f]:
            continue
        histogram, bins, has_missing, monotone = (
            sums[f * BINS : (f + 1) * BINS],
            coded.bins[f],
            coded.has_missing[f],
            coded.monotone[f],
        )
        if coded.category[f]:
            at: Any = -1
            if growth.random_thresholds:
                at = np.int64(mix(growth.seed, np.uint64(node * len(coded.bins) + f)) >> np.uint64(1))
            smooth, order = raw_smooth(growth, nodes, node), work.places[worker]
            terms, code = scan_category(histogram, bins, has_missing, total, least, l2, smooth, at, order, left, room)
        elif growth.random_thresholds:
            at = random_cut(histogram, bins, mix(growth.seed, np.uint64(node * len(coded.bins) + f)))
            if at < 0:
                continue
            terms, code = scan_at(histogram, has_missing, total, least, l2, monotone, at)
        else:
            terms, code = scan(histogram, bins, has_missing, total, least, l2, monotone, left, room)
        work.gains[node, f], work.codes[node, f] = net_gain(terms, total, l2), code


@lean_kernel
def settle(nodes: Nodes, work: Workspace, coded: Coded, node: int) -> None:
    """Note a node's best feature and gain."""
    best = best_feature(work.gains[node], coded.used)
    nodes.best[node] = best
    nodes.gain[node] = work.gains[node, best] if best >= 0 else 0.0


@lean_kernel
def sides_keep_limits(growth: Growth, nodes: Nodes, work: Workspace, node: int, rows: int, curvature: int) -> bool:
    """Whether both sides of a cut are large enough for a leaf, the left one having these rows and this curvature."""
    least = least_curvature(growth, work)
    fits_rows = min(rows, nodes.rows[node] - rows) >= growth.min_rows
    return fits_rows and min(curvature, nodes.curvature[node] - curvature) >= least


@lean_kernel
def cut_within_limits(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int) -> None:
    """Replace the cut of a node's best feature by its best one that leaves both sides large enough; ``limits`` are counted."""
    f = int(nodes.best[node])
    limits, total = work.limits, nodes.total[node]
    sums = work.histograms[nodes.slot[node], f * BINS : (f + 1) * BINS]
    only = work.codes[node, f] % MISSING_LEFT if growth.random_thresholds else -1
    least, l2 = least_weight(growth, work), raw_l2(growth, work)
    rows, curvature, min_curvature = nodes.rows[node], nodes.curvature[node], least_curvature(growth, work)
    if coded.category[f]:
        terms, code = limited_category(
            sums, coded.bins[f], total, least, l2, raw_smooth(growth, nodes, node), only, work.places[0], work.terms[0],
            limits, rows, curvature, growth.min_rows, min_curvature,
        )  # fmt: skip
    else:
        terms, code = scan_limited(
            sums, coded.bins[f], total, least, l2, coded.monotone[f], only,
            limits, rows, curvature, growth.min_rows, min_curvature,
        )  # fmt: skip
    work.gains[node, f], work.codes[node, f], work.exact[node, f] = net_gain(terms, total, l2), code, True
    settle(nodes, work, coded, node)


@lean_kernel
def missing_side(coded: Coded, nodes: Nodes, work: Workspace, node: int, feature: int, code: int) -> int:
    """The code of a cut, where the histogram has no missing values with these sent to the heavier side.

    To be asked before rows are marked: rows that weigh nothing, or were not drawn, are not in the histogram, but may miss the
    value nonetheless and must go where the tree will send them. Where limits have been checked, the code is final.
    """
    sums = work.histograms[nodes.slot[node], feature * BINS : (feature + 1) * BINS]
    if coded.category[feature] or work.exact[node, feature] or sums[MISSING] != 0:
        return code
    left = sum_of(sums, code + 1) & MASK
    return code + MISSING_LEFT if 2 * left >= nodes.total[node] & MASK else code


@lean_kernel
def lay_table(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, feature: int, code: int, worker: int
) -> None:
    """Fill the worker's table: which codes of a feature go left under this cut of a node."""
    if coded.category[feature]:
        sums, order = work.histograms[nodes.slot[node], feature * BINS : (feature + 1) * BINS], work.places[worker]
        smooth, bins = raw_smooth(growth, nodes, node), coded.bins[feature]
        count = order_codes(sums, bins, nodes.total[node], smooth, work.terms[worker], order)
        lay_set(sums, bins, count, code, order, work.tables[worker])
    else:
        lay_cut(code, work.tables[worker])


# ---- values and children ---------------------------------------------------------------------------------------------


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
