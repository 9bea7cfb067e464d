"""Growing a symmetric tree: all nodes of a level are split by the same feature at the same threshold.

The cut of a level is the one with the largest sum of gains over its nodes. A node that the cut would leave with too light
a side gains nothing from it, and a child with fewer rows or less curvature than a leaf needs takes its parent's value.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.barriers import wait
from rankinite.engine.kernel import Floats, lean_kernel
from rankinite.trees._grow_kernels import features_of, fill, own_words, take_away
from rankinite.trees._node_kernels import keep_order, least_curvature, least_weight, raw_l2, smaller_first, split_node
from rankinite.trees._partition_kernels import mark_left, move_rows
from rankinite.trees._scan_kernels import MISSING_LEFT, any_of, best_feature, copy_flags, cut_gain, draw_features, mix, net_gain
from rankinite.trees._state import BINS, MISSING, ONE, ROOT, Coded, Growth, Nodes, Workspace


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
def scan_level(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, level: int, f: int, gains: Floats
) -> None:
    """The best cut of a feature for the nodes first … last−1 together, noted at row ``level`` of the workspace's gains."""
    work.gains[level, f] = -np.inf
    if not work.allowed[level, f]:
        return
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
    gains = work.level_gains[worker]
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
            scan_level(coded, growth, nodes, work, first, last, level, f, gains)


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
        for node in range(first, last):
            half, start, end = nodes.half[node], nodes.start[node], nodes.end[node]
            mark_left(
                coded, feature, code % MISSING_LEFT, code >= MISSING_LEFT, growth.newton, half, start, end,
                work, worker, workers,
            )  # fmt: skip
            wait(sync, workers)
            move_rows(half, start, end, work, worker, workers)
            if worker == 0:
                split_node(node, feature, code, growth, nodes, work, size, workers)
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
