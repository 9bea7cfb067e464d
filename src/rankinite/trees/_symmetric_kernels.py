"""Growing a symmetric tree: all nodes of a level are split by the same feature at the same threshold.

The cut of a level is the one with the largest sum of gains over its nodes. A node that the cut would leave with too light
a side gains nothing from it, and a child with fewer rows or less curvature than a leaf needs takes its parent's value.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.barriers import wait
from rankinite.engine.kernel import Floats, Indices, lean_kernel
from rankinite.trees._category_kernels import add_category_gains, lay_set, order_codes, scan_category
from rankinite.trees._grow_kernels import features_of, fill, own_words, take_away
from rankinite.trees._node_kernels import (
    keep_order,
    keep_set,
    least_curvature,
    least_weight,
    level_smooth,
    raw_l2,
    raw_smooth,
    smaller_first,
    split_node,
)
from rankinite.trees._partition_kernels import mark_left, move_rows
from rankinite.trees._scan_kernels import (
    MISSING_LEFT,
    any_of,
    best_feature,
    copy_flags,
    cut_gain,
    draw_features,
    lay_cut,
    mix,
    net_gain,
)
from rankinite.trees._state import BINS, MISSING, ONE, ROOT, Coded, Growth, Nodes, Workspace

BY_NODE = 2 * MISSING_LEFT
"""Times 1, 2, …, added to the cut of a category: its place is in the order of the level's first, second, … node."""


@lean_kernel
def _add_gains(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, f: int, gains: Floats) -> None:
    """Add to ``gains``, shape (2, BINS), what each cut of a feature gains at a node; row 1: missing values left."""
    least, l2, total = least_weight(growth, work), raw_l2(growth, work), nodes.total[node]
    sums = work.histograms[nodes.slot[node], f * BINS : (f + 1) * BINS]
    missing = sums[MISSING] if coded.has_missing[f] else 0
    left, before, before_missing = 0, 0.0, 0.0
    for k in range(coded.bins[f]):
        left += sums[k]
        if sums[k] != 0 or k == 0:
            before = max(0.0, net_gain(cut_gain(left, total, least, l2, coded.monotone[f]), total, l2))
            if missing != 0:
                terms = cut_gain(left + missing, total, least, l2, coded.monotone[f])
                before_missing = max(0.0, net_gain(terms, total, l2))
            else:
                before_missing = before
        gains[0, k] += before
        gains[1, k] += before_missing


@lean_kernel
def sum_level(nodes: Nodes, work: Workspace, first: int, last: int, f: int, out_sums: Indices) -> int:
    """The histogram of a feature over the nodes first … last−1, shape (BINS,); returns the sum of their cells."""
    total = 0
    out_sums[:] = 0
    for node in range(first, last):
        total += nodes.total[node]
        sums = work.histograms[nodes.slot[node], f * BINS : (f + 1) * BINS]
        for k in range(BINS):
            out_sums[k] += sums[k] if nodes.rows[node] > 0 else 0
    return total


@lean_kernel
def _telling_node(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, f: int, worker: int
) -> int:
    """The node of a level that a cut of a category, by the order of its own codes, gains most at; −1: none."""
    found, best = -1, 0.0
    least, l2 = least_weight(growth, work), raw_l2(growth, work)
    for node in range(first, last):
        if nodes.rows[node] == 0:
            continue
        sums, total = work.histograms[nodes.slot[node], f * BINS : (f + 1) * BINS], nodes.total[node]
        terms, _ = scan_category(
            sums, coded.bins[f], coded.has_missing[f], total, least, l2, raw_smooth(growth, nodes, node), -1,
            work.places[worker], work.left[worker], work.terms[worker],
        )  # fmt: skip
        gain = net_gain(terms, total, l2)
        if gain > best:
            found, best = node, gain
    return found


@lean_kernel
def level_order(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, f: int, which: int, worker: int
) -> int:
    """Put the codes of a category in order for a whole level, by all its nodes (``which`` 0) or by one; returns how many."""
    sums, order, keys = work.sums[worker][:BINS], work.places[worker], work.terms[worker]
    total = sum_level(nodes, work, first, last, f, sums)
    if which == 0:
        return order_codes(sums, coded.bins[f], total, level_smooth(growth, nodes, first, last), keys, order)
    node = first + which - 1
    own = work.histograms[nodes.slot[node], f * BINS : (f + 1) * BINS]
    return order_codes(own, coded.bins[f], nodes.total[node], raw_smooth(growth, nodes, node), keys, order)


@lean_kernel
def _scan_category_level(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, level: int, f: int, worker: int
) -> None:
    """The best set of a category for the nodes of a level together, by two orders of its codes: that of all nodes, which sees
    what the category does everywhere, and that of the node it tells most at, which sees what it does besides.
    """
    least, l2, gains, best = least_weight(growth, work), raw_l2(growth, work), work.level_gains[worker], 0.0
    telling = _telling_node(coded, growth, nodes, work, first, last, f, worker) if last - first > 1 else -1
    for turn in range(1 if telling < 0 else 2):
        which = turn * (telling - first + 1)
        count = level_order(coded, growth, nodes, work, first, last, f, which, worker)
        gains[:] = 0.0
        for node in range(first, last):
            if nodes.rows[node] > 0:
                sums = work.histograms[nodes.slot[node], f * BINS : (f + 1) * BINS]
                smooth = raw_smooth(growth, nodes, node)
                add_category_gains(sums, nodes.total[node], least, l2, smooth, work.places[worker], count, gains)
        only = -1
        if growth.random_thresholds and count > 0:
            only = int(mix(growth.seed, np.uint64(level * len(coded.bins) + f)) % np.uint64(count))
        for place in range(count):
            if only >= 0 and place != only:
                continue
            for direction in range(2 if work.sums[worker, MISSING] != 0 else 1):
                if gains[direction, place] > best:
                    best = gains[direction, place]
                    work.gains[level, f] = best
                    work.codes[level, f] = place + direction * MISSING_LEFT + which * BY_NODE


@lean_kernel
def lay_level_table(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, feature: int, code: int, worker: int
) -> None:
    """Fill the worker's table: which codes of a feature go left under the cut of a level."""
    if not coded.category[feature]:
        lay_cut(code, work.tables[worker])
        return
    count = level_order(coded, growth, nodes, work, first, last, feature, code // BY_NODE, worker)
    cut, sums = code % BY_NODE, work.sums[worker][:BINS]
    lay_set(sums, coded.bins[feature], count, cut, work.places[worker], work.tables[worker])


@lean_kernel
def scan_level(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, level: int, f: int, worker: int
) -> None:
    """The best cut of a feature for the nodes first … last−1 together, noted at row ``level`` of the workspace's gains."""
    work.gains[level, f] = -np.inf
    if not work.allowed[level, f]:
        return
    if coded.category[f]:
        _scan_category_level(coded, growth, nodes, work, first, last, level, f, worker)
        return
    gains = work.level_gains[worker]
    gains[:] = 0.0
    for node in range(first, last):
        if nodes.rows[node] > 0:
            _add_gains(coded, growth, nodes, work, node, f, gains)
    only, best = -1, 0.0
    if growth.random_thresholds and coded.bins[f] > 1:
        only = int(mix(growth.seed, np.uint64(level * len(coded.bins) + f)) % np.uint64(coded.bins[f] - 1))
    for k in range(coded.bins[f]):
        if only >= 0 and k != only:
            continue
        for direction in range(2 if coded.has_missing[f] else 1):
            if gains[direction, k] > best:
                best = gains[direction, k]
                work.gains[level, f], work.codes[level, f] = best, k + direction * MISSING_LEFT


@lean_kernel
def _fill_level(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, level: int, worker: int, workers: int
) -> None:
    """Histograms of the nodes first … last−1 (siblings adjacent; or the root) and the best cuts of their level."""
    for block in range(coded.words.shape[0]):
        first_word, last_word = own_words(coded, block, worker, workers)
        low, high = features_of(coded, block, first_word, last_word)
        if not any_of(coded.used, low, high):
            continue
        if level == 0:
            fill(coded, growth, nodes, work, first, block, first_word, last_word)
        else:
            for a in range(first, last, 2):
                small, large = smaller_first(nodes, a)
                fill(coded, growth, nodes, work, small, block, first_word, last_word)
                take_away(nodes, work, large, small, block, first_word, last_word)
        for f in range(low, high):
            scan_level(coded, growth, nodes, work, first, last, level, f, worker)


@lean_kernel
def lend_value(growth: Growth, nodes: Nodes, work: Workspace, node: int, parent: int) -> None:
    """A child with too few rows or too little curvature for a leaf takes its parent's value."""
    least = max(1, least_curvature(growth, work))
    if nodes.rows[node] < growth.min_rows or nodes.curvature[node] < least:
        nodes.value[node] = nodes.value[parent]


@lean_kernel
def grow_symmetric(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int) -> int:
    """Grow a tree of ``growth.depth`` levels from a root that is set; returns its number of nodes to all workers."""
    sync, first, last, slots = work.sync, ROOT, ONE, ONE
    for level in range(growth.depth):
        if worker == 0:
            if growth.feature_share < 1.0:
                draw_features(coded.used, growth.feature_share, mix(growth.seed, np.uint64(level)), work.allowed[level])
            else:
                copy_flags(coded.used, work.allowed[level])
        wait(sync, workers)
        _fill_level(coded, growth, nodes, work, first, last, level, worker, workers)
        wait(sync, workers)
        feature = best_feature(work.gains[level], coded.used)  # every worker finds the same
        if feature < 0:
            break
        code, size = int(work.codes[level, feature]), last
        lay_level_table(coded, growth, nodes, work, first, last, feature, code, worker)
        for node in range(first, last):
            half, start, end = nodes.half[node], nodes.start[node], nodes.end[node]
            mark_left(coded, feature, growth.newton, half, start, end, work, worker, workers)
            wait(sync, workers)
            move_rows(half, start, end, work, worker, workers)
            if worker == 0:
                split_node(node, feature, code, growth, nodes, work, size, workers)
                keep_set(coded, nodes, node, feature, work.tables[worker])
                nodes.gain[node] = work.gains[level, feature] / (last - first)
                lend_value(growth, nodes, work, size, node)
                lend_value(growth, nodes, work, size + 1, node)
                keep_order(nodes, node, coded.monotone[feature])
                small, large = smaller_first(nodes, size)
                nodes.slot[large], nodes.slot[small] = nodes.slot[node], slots
            size += 2
            slots += 1
            wait(sync, workers)
        first, last = last, size
    return last
