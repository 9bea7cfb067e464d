"""The growth of one tree: leaf by leaf, the leaf with the largest gain first, or level by level; and adding it to the scores.

All workers run a tree's kernel together (docs/adr/0012). Best first, a split takes five steps with a barrier after each: the
first worker chooses a node; all mark which of its rows go left; all move them; the first prepares the children; all fill and
scan the children's histograms, each worker for its own features. Only the smaller child's histogram is filled from rows, the
other's is the difference from the parent's.

In a symmetric tree all nodes of a level are split by the same feature at the same threshold. The cut of a level is the one with
the largest sum of gains over its nodes. A node that the cut would leave with too light a side gains nothing from it, and a
child with fewer rows or less curvature than a leaf needs takes its parent's value.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.barriers import CLAIMED, claim, wait
from rankinite.engine.kernel import Flags, Floats, Indices, lean_kernel
from rankinite.trees._node_kernels import (
    any_of,
    cut_within_limits,
    draw_features,
    features_of,
    fill,
    keep_order,
    keep_set,
    lay_table,
    least_curvature,
    least_weight,
    missing_side,
    prepare,
    raw_l2,
    raw_smooth,
    scan_node,
    settle,
    sides_keep_limits,
    smaller_first,
    split_node,
    start_root,
    take_away,
    words_of_worker,
)
from rankinite.trees._row_kernels import code_at, count_by_code, mark_left, move_rows, quantise
from rankinite.trees._split_kernels import (
    add_category_gains,
    best_feature,
    cut_gain,
    lay_cut,
    lay_set,
    net_gain,
    order_codes,
    scan_category,
)
from rankinite.trees._state import (
    BINS,
    DONE,
    GOES_ON,
    MASK,
    MISSING,
    MISSING_LEFT,
    NODE,
    NONE,
    ONE,
    ROOT,
    SET,
    Coded,
    Growth,
    Keys,
    Nodes,
    Workspace,
    copy_flags,
    mix,
    sum_of,
)

BY_NODE = 2 * MISSING_LEFT
"""Times 1, 2, …, added to the cut of a category: its place is in the order of the level's first, second, … node."""


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


# ---- leaf by leaf ----------------------------------------------------------------------------------------------------


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


@lean_kernel
def choose(nodes: Nodes, size: int) -> int:
    """The leaf with the largest gain, the first of equals, or −1."""
    chosen = -1
    for node in range(size):
        if nodes.feature[node] < 0 and nodes.best[node] >= 0 and (chosen < 0 or nodes.gain[node] > nodes.gain[chosen]):
            chosen = node
    return chosen


@lean_kernel
def _fill_and_scan(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, small: int, large: int, worker: int, workers: int
) -> None:
    """Histograms and cuts of the two children of a node (``large`` < 0: of the root alone), a block at a time."""
    for block in range(coded.words.shape[0]):
        first, last = words_of_worker(coded, block, worker, workers)
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
def _keeps_limits(growth: Growth, nodes: Nodes, work: Workspace, node: int, workers: int) -> bool:
    """Whether both sides of the cut just marked are large enough for a leaf."""
    rows, curvature = sum_of(work.counts[0], workers), sum_of(work.counts[1], workers)
    return sides_keep_limits(growth, nodes, work, node, rows, curvature)


@lean_kernel
def _check_again(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int) -> None:
    """Count the codes of a node's best feature, whose cut leaves a side too small, and look for another cut of it."""
    count_by_code(coded, int(nodes.best[node]), nodes, node, work, work.limits)
    cut_within_limits(coded, growth, nodes, work, node)


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


# ---- level by level --------------------------------------------------------------------------------------------------


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


@lean_kernel
def _fill_level(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, level: int, worker: int, workers: int
) -> None:
    """Histograms of the nodes first … last−1 (siblings adjacent; or the root) and the best cuts of their level."""
    for block in range(coded.words.shape[0]):
        first_word, last_word = words_of_worker(coded, block, worker, workers)
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
def level_smooth(growth: Growth, nodes: Nodes, first: int, last: int) -> float:
    """The same for the nodes first … last−1 together."""
    weight, rows = 0, 0
    for node in range(first, last):
        weight += nodes.total[node] & MASK
        rows += nodes.rows[node]
    return growth.smooth * weight / max(1, rows)


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
def lend_value(growth: Growth, nodes: Nodes, work: Workspace, node: int, parent: int) -> None:
    """A child with too few rows or too little curvature for a leaf takes its parent's value."""
    least = max(1, least_curvature(growth, work))
    if nodes.rows[node] < growth.min_rows or nodes.curvature[node] < least:
        nodes.value[node] = nodes.value[parent]


# ---- what a tree adds to the scores ----------------------------------------------------------------------------------


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
