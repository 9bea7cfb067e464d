"""Growing one tree, leaf by leaf, the leaf with the largest gain first. All workers run :func:`grow_best_first` together.

A split takes five steps with a barrier after each: the first worker chooses a node; all mark which of its rows go left; all
move them; the first prepares the children; all fill and scan the children's histograms, each worker for its own features.
Only the smaller child's histogram is filled from rows, the other's is the difference from the parent's.

A cell holds two of push, curvature and count. What a leaf must have of the third is checked when a node is about to be split;
where the cut fails, that feature is counted code by code and scanned again with the limits in force (docs/adr/0011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.engine.barriers import wait
from rankinite.engine.kernel import lean_kernel
from rankinite.trees._category_kernels import lay_set, limited_category, order_codes, scan_category
from rankinite.trees._histogram_kernels import BLOCK, add_rows, subtract
from rankinite.trees._node_kernels import (
    keep_order,
    keep_set,
    least_curvature,
    least_weight,
    raw_l2,
    raw_smooth,
    smaller_first,
    split_node,
)
from rankinite.trees._partition_kernels import count_by_code, draw_rows, mark_left, move_rows
from rankinite.trees._scan_kernels import (
    MASK,
    MISSING_LEFT,
    any_of,
    best_feature,
    copy_flags,
    draw_features,
    lay_cut,
    mix,
    net_gain,
    random_cut,
    scan,
    scan_at,
    scan_limited,
    sum_of,
)
from rankinite.trees._state import BINS, MISSING, NONE, ONE, ROOT, WIDTH, WORDS, Coded, Growth, Nodes, Workspace

NODE, GOES_ON = 0, 1
"""Places in the plan: the node to split (−1: none), and whether its children may be split in turn."""


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
def own_words(coded: Coded, block: int, worker: int, workers: int) -> tuple[int, int]:
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
def _fill_and_scan(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, small: int, large: int, worker: int, workers: int
) -> None:
    """Histograms and cuts of the two children of a node (``large`` < 0: of the root alone), a block at a time."""
    for block in range(coded.words.shape[0]):
        first, last = own_words(coded, block, worker, workers)
        low, high = features_of(coded, block, first, last)
        if not any_of(coded.used, low, high):
            continue
        fill(coded, growth, nodes, work, small, block, first, last)
        scan_node(coded, growth, nodes, work, small, low, high, worker)
        if large >= 0:
            if growth.row_share < 1.0:
                fill(coded, growth, nodes, work, large, block, first, last)
            else:
                take_away(nodes, work, large, small, block, first, last)
            scan_node(coded, growth, nodes, work, large, low, high, worker)


@lean_kernel
def settle(nodes: Nodes, work: Workspace, coded: Coded, node: int) -> None:
    """Note a node's best feature and gain."""
    best = best_feature(work.gains[node], coded.used)
    nodes.best[node] = best
    nodes.gain[node] = work.gains[node, best] if best >= 0 else 0.0


@lean_kernel
def _check_again(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int) -> None:
    """Count the codes of a node's best feature, whose cut leaves a side too small, and look for another cut of it."""
    count_by_code(coded, int(nodes.best[node]), nodes, node, work, work.limits)
    cut_within_limits(coded, growth, nodes, work, node)


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
def _keeps_limits(growth: Growth, nodes: Nodes, work: Workspace, node: int, workers: int) -> bool:
    """Whether both sides of the cut just marked are large enough for a leaf."""
    rows, curvature = sum_of(work.counts[0], workers), sum_of(work.counts[1], workers)
    return sides_keep_limits(growth, nodes, work, node, rows, curvature)


@lean_kernel
def sides_keep_limits(growth: Growth, nodes: Nodes, work: Workspace, node: int, rows: int, curvature: int) -> bool:
    """Whether both sides of a cut are large enough for a leaf, the left one having these rows and this curvature."""
    least = least_curvature(growth, work)
    fits_rows = min(rows, nodes.rows[node] - rows) >= growth.min_rows
    return fits_rows and min(curvature, nodes.curvature[node] - curvature) >= least


@lean_kernel
def choose(nodes: Nodes, size: int) -> int:
    """The leaf with the largest gain, the first of equals, or −1."""
    chosen = -1
    for node in range(size):
        if nodes.feature[node] < 0 and nodes.best[node] >= 0 and (chosen < 0 or nodes.gain[node] > nodes.gain[chosen]):
            chosen = node
    return chosen


@lean_kernel
def _open_children(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, size: int, slots: int) -> bool:
    """Give the new children histograms and features; returns whether either may be split."""
    a = size
    small, large = smaller_first(nodes, a)
    nodes.slot[large], nodes.slot[small] = nodes.slot[node], slots
    deep = growth.depth > 0 and nodes.depth[a] >= growth.depth
    fits_small = not deep and nodes.rows[small] >= 2 * growth.min_rows
    fits_large = not deep and nodes.rows[large] >= 2 * growth.min_rows
    if not fits_large:
        return False
    prepare(coded, growth, nodes, work, small, fits_small)
    prepare(coded, growth, nodes, work, large, fits_large)
    return True


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
def grow_best_first(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int) -> int:
    """Grow a tree from a root that is set; returns its number of nodes, the same to all workers."""
    sync, size, slots = work.sync, ONE, ONE
    if worker == 0:
        prepare(coded, growth, nodes, work, ROOT, worker == 0)  # a plain True would be a literal too
    wait(sync, workers)
    _fill_and_scan(coded, growth, nodes, work, ROOT, NONE, worker, workers)
    wait(sync, workers)
    if worker == 0:
        settle(nodes, work, coded, ROOT)
    while size < 2 * growth.leaves - 1:
        if worker == 0:
            work.plan[NODE] = choose(nodes, size)
        wait(sync, workers)
        node = int(work.plan[NODE])
        if node < 0:
            break
        feature, half = int(nodes.best[node]), int(nodes.half[node])
        code = missing_side(coded, nodes, work, node, feature, int(work.codes[node, feature]))
        start, end = nodes.start[node], nodes.end[node]
        lay_table(coded, growth, nodes, work, node, feature, code, worker)
        mark_left(coded, feature, growth.newton, half, start, end, work, worker, workers)
        wait(sync, workers)
        if not work.exact[node, feature] and not _keeps_limits(growth, nodes, work, node, workers):
            wait(sync, workers)  # nobody may still be reading what changes now
            if worker == 0:
                _check_again(coded, growth, nodes, work, node)
            continue
        move_rows(half, start, end, work, worker, workers)
        if worker == 0:
            split_node(node, feature, code, growth, nodes, work, size, workers)
            keep_set(coded, nodes, node, feature, work.tables[worker])
            keep_order(nodes, node, coded.monotone[feature])
        size += 2
        wait(sync, workers)
        if size >= 2 * growth.leaves - 1:
            break
        if worker == 0:
            work.plan[GOES_ON] = _open_children(coded, growth, nodes, work, node, size - 2, slots)
        wait(sync, workers)
        slots += 1
        if work.plan[GOES_ON]:
            a, b = size - 2, size - 1
            small = a if nodes.slot[a] == slots - 1 else b
            _fill_and_scan(coded, growth, nodes, work, small, a + b - small, worker, workers)
            wait(sync, workers)
            if worker == 0:
                settle(nodes, work, coded, a)
                settle(nodes, work, coded, b)
    return size
