"""The growth of one tree by several members, each of which has some of the rows. All members decide the same.

Best first, a split takes one message: every member parts its own rows and fills the histogram of one child, then counts and
histogram are summed over all members together. Only then is it known whether both sides have the rows and the curvature of a
leaf; where they have not, nothing has been lost, as the node's rows and histogram are still where they were; a cut that looks
as if it might fail is asked for by a message of its counts alone, which is small. Which child is filled follows from the
parent's histogram, which all members know. Where rows are drawn at nodes, both children are filled, and sent at once.

A level of a symmetric tree takes one message too: the histogram of the lighter child of every node of the level before, and the
counts of the cuts that made the level.

These loops stand beside those of one member (``_growth_kernels``), who waits neither for a message before a cut is known to be
good nor for their compilation (ADR 18).
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.barriers import wait
from rankinite.engine.kernel import Floats, Indices, lean_kernel
from rankinite.engine.reducer import SUM, combine
from rankinite.trees._growth_kernels import choose, lay_level_table, lend_value, plant, scan_level
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
    make_children,
    missing_side,
    place_children,
    prepare,
    scan_node,
    settle,
    sides_keep_limits,
    take_away,
    words_of_worker,
)
from rankinite.trees._row_kernels import count_by_code, mark_left, move_rows
from rankinite.trees._split_kernels import best_feature
from rankinite.trees._state import (
    BINS,
    DONE,
    FAILED,
    LOST,
    MASK,
    NODE,
    ONE,
    ROOT,
    SMALL,
    Coded,
    Growth,
    Nodes,
    Workspace,
    copy_flags,
    mix,
    sum_of,
)

HALF, DOUBTFUL = 0.5, 4.0
"""A side with fewer than so many times the rows a leaf needs, by its share of the weight, may turn out to have too few."""
HEAD = 8
"""Numbers at the head of a message: rows, curvature and cells that go left, and the cells drawn at either child."""


# ---- messages --------------------------------------------------------------------------------------------------------


@lean_kernel
def cells_of(coded: Coded) -> int:
    """The numbers of a histogram, without those of padding."""
    return len(coded.bins) * BINS


@lean_kernel
def copy_cells(source: Indices, out: Indices) -> None:
    for k in range(len(out)):
        out[k] = source[k]


@lean_kernel
def send(growth: Growth, work: Workspace, length: int) -> bool:
    """Sum the message over all members; notes, and says, whether all answered."""
    work.plan[FAILED] = not combine(growth.reducer, SUM, work.message[:length])
    return work.plan[FAILED] == 0


@lean_kernel
def fill_words(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, worker: int, workers: int) -> None:
    """A worker's words of a node's histogram."""
    for block in range(coded.words.shape[0]):
        first, last = words_of_worker(coded, block, worker, workers)
        low, high = features_of(coded, block, first, last)
        if any_of(coded.used, low, high):
            fill(coded, growth, nodes, work, node, block, first, last)


@lean_kernel
def left_share(nodes: Nodes, work: Workspace, node: int, feature: int, worker: int) -> float:
    """The share of a node's weight that goes left by the worker's table and the histogram, which all members know."""
    sums, left = work.histograms[nodes.slot[node], feature * BINS : (feature + 1) * BINS], 0
    for code in range(BINS):
        left += sums[code] if work.tables[worker, code] else 0
    return (left & MASK) / max(1, nodes.total[node] & MASK)


# ---- leaf by leaf ----------------------------------------------------------------------------------------------------


@lean_kernel
def grow_best_first_tree(
    push: Floats, curvature: Floats, coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int
) -> int:
    """Grow a tree leaf by leaf; its number of nodes, or why there is none."""
    status = plant(push, curvature, growth, nodes, work, worker, workers)
    if status != DONE:
        return status
    return grow_best_first_together(coded, growth, nodes, work, worker, workers)


@lean_kernel
def grow_best_first_together(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int) -> int:
    """Grow a tree from a root that is set; its number of nodes, the same to all workers of all members, or ``LOST``."""
    sync, size, slots = work.sync, ONE, ONE
    if worker == 0:
        prepare(coded, growth, nodes, work, ROOT, worker == 0)  # a plain True would be a literal too
    wait(sync, workers)
    fill_words(coded, growth, nodes, work, ROOT, worker, workers)
    wait(sync, workers)
    if worker == 0:
        _send_root(coded, growth, nodes, work)
    wait(sync, workers)
    if work.plan[FAILED]:
        return LOST
    _scan_words(coded, growth, nodes, work, ROOT, -ONE, worker, workers)
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
        if _may_fail(growth, nodes, work, node, feature, left_share(nodes, work, node, feature, worker)):
            if worker == 0:
                _send_split(coded, growth, nodes, work, node, node, workers < 0, workers)  # the counts alone
            wait(sync, workers)
            if work.plan[FAILED]:
                return LOST
            if not sides_keep_limits(growth, nodes, work, node, work.message[0], work.message[1]):
                if not _check_again(coded, growth, nodes, work, node, worker, workers):
                    return LOST
                continue
        move_rows(half, start, end, work, worker, workers)
        # The last children are never split, nor are those at the greatest depth: they need no histograms.
        opens = size + 2 < 2 * growth.leaves - 1 and not (growth.depth > 0 and nodes.depth[node] + 1 >= growth.depth)
        wait(sync, workers)
        if worker == 0:
            _place(coded, growth, nodes, work, node, feature, size, slots, worker, workers)
        wait(sync, workers)
        small = int(work.plan[SMALL])
        large = int(2 * size + 1 - small)
        if opens:
            fill_words(coded, growth, nodes, work, small, worker, workers)
            if growth.row_share < 1.0:
                fill_words(coded, growth, nodes, work, large, worker, workers)
        wait(sync, workers)
        if worker == 0:
            _send_split(coded, growth, nodes, work, small, large, opens, workers)
        wait(sync, workers)
        if work.plan[FAILED]:
            return LOST
        rows, curvature = work.message[0], work.message[1]
        if not work.exact[node, feature] and not sides_keep_limits(growth, nodes, work, node, rows, curvature):
            if not _check_again(coded, growth, nodes, work, node, worker, workers):
                return LOST
            continue
        wait(sync, workers)  # nor the counts
        if worker == 0:
            make_children(node, feature, code, growth, nodes, work, size, rows, curvature, work.message[2])
            keep_set(coded, nodes, node, feature, work.tables[worker])
            keep_order(nodes, node, coded.monotone[feature])
            if opens:
                _open(coded, growth, nodes, work, node, small, large, work.message[3], work.message[4])
        size += 2
        slots += 1
        wait(sync, workers)
        if opens and max(nodes.rows[small], nodes.rows[large]) >= 2 * growth.min_rows:
            part = -ONE if growth.row_share < 1.0 else ONE * small
            _scan_words(coded, growth, nodes, work, small, -ONE, worker, workers)
            _scan_words(coded, growth, nodes, work, large, part, worker, workers)
            wait(sync, workers)
            if worker == 0:
                settle(nodes, work, coded, size - 2)
                settle(nodes, work, coded, size - 1)
    return size


@lean_kernel
def _send_root(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace) -> None:
    """The histogram of the root, and the cells drawn for it."""
    cells, message = cells_of(coded), work.message
    message[0] = nodes.total[ROOT]
    copy_cells(work.histograms[nodes.slot[ROOT]], message[HEAD : HEAD + cells])
    if send(growth, work, HEAD + cells):
        if growth.row_share < 1.0:
            nodes.total[ROOT] = message[0]
        copy_cells(message[HEAD:], work.histograms[nodes.slot[ROOT], :cells])


@lean_kernel
def _scan_words(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, part: int, worker: int, workers: int
) -> None:
    """The best cuts of a worker's features at a node; first, ``part`` (if not negative) is taken away from its histogram."""
    for block in range(coded.words.shape[0]):
        first, last = words_of_worker(coded, block, worker, workers)
        low, high = features_of(coded, block, first, last)
        if not any_of(coded.used, low, high):
            continue
        if part >= 0:
            take_away(nodes, work, node, part, block, first, last)
        scan_node(coded, growth, nodes, work, node, low, high, worker)


@lean_kernel
def _may_fail(growth: Growth, nodes: Nodes, work: Workspace, node: int, feature: int, share: float) -> bool:
    """Whether a cut that leaves this share of the weight left might leave too few rows, or too little curvature, on a side."""
    if work.exact[node, feature]:
        return False
    least = min(share, 1.0 - share)
    few = growth.min_rows > 1 and least * nodes.rows[node] < DOUBTFUL * growth.min_rows  # no side is without any
    return few or least * nodes.curvature[node] < DOUBTFUL * least_curvature(growth, work)


@lean_kernel
def _place(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, feature: int, size: int, slots: int, worker: int,
    workers: int,
) -> None:  # fmt: skip
    """Say where the children's own rows are, which of them is filled, and into which histograms.

    The parent's histogram stays as it is until the cut is known to be good; a child that is filled besides takes the spare one.
    """
    place_children(nodes, node, size, sum_of(work.counts[0], workers))
    small = size if left_share(nodes, work, node, feature, worker) <= HALF else size + 1
    large = 2 * size + 1 - small
    work.plan[SMALL] = small
    nodes.slot[small], nodes.slot[large] = slots, len(work.histograms) - 1
    if growth.row_share < 1.0:
        prepare(coded, growth, nodes, work, small, small >= 0)  # a plain True would be a literal
        prepare(coded, growth, nodes, work, large, small >= 0)


@lean_kernel
def _send_split(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, small: int, large: int, opens: bool, workers: int
) -> None:
    """Counts of the left side and, where the children may be split, the histograms filled: one message."""
    cells, message, length = cells_of(coded), work.message, HEAD
    for k in range(3):
        message[k] = sum_of(work.counts[k], workers)
    if opens:
        message[3], message[4] = nodes.total[small], nodes.total[large]
        copy_cells(work.histograms[nodes.slot[small]], message[HEAD : HEAD + cells])
        length += cells
        if growth.row_share < 1.0:
            copy_cells(work.histograms[nodes.slot[large]], message[length : length + cells])
            length += cells
    if not send(growth, work, length) or not opens:
        return
    copy_cells(message[HEAD:], work.histograms[nodes.slot[small], :cells])
    if growth.row_share < 1.0:
        copy_cells(message[HEAD + cells :], work.histograms[nodes.slot[large], :cells])


@lean_kernel
def _check_again(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, worker: int, workers: int) -> bool:
    """Replace the cut of a node's best feature, which leaves a side too small, by its best one that does not.

    Called by all workers; False where a member did not answer.
    """
    wait(work.sync, workers)  # nobody may still be reading what changes now
    if worker == 0:
        count_by_code(coded, int(nodes.best[node]), nodes, node, work, work.limits)
        work.plan[FAILED] = not combine(growth.reducer, SUM, work.limits.reshape(-1))
        if work.plan[FAILED] == 0:
            cut_within_limits(coded, growth, nodes, work, node)
    wait(work.sync, workers)
    return work.plan[FAILED] == 0


@lean_kernel
def _open(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, small: int, large: int, drawn_small: int,
    drawn_large: int,
) -> None:  # fmt: skip
    """Give the children of a split that was made their histograms, features and drawn sums."""
    if growth.row_share < 1.0:
        spare, own = nodes.slot[large], nodes.slot[node]
        copy_cells(work.histograms[spare], work.histograms[own])
    nodes.slot[large] = nodes.slot[node]
    for child in (small, large):
        prepare(coded, growth, nodes, work, child, nodes.rows[child] >= 2 * growth.min_rows)
    if growth.row_share < 1.0:
        nodes.total[small], nodes.total[large] = drawn_small, drawn_large


# ---- level by level --------------------------------------------------------------------------------------------------


@lean_kernel
def grow_symmetric_tree(
    push: Floats, curvature: Floats, coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int
) -> int:
    """Grow a tree level by level; its number of nodes, or why there is none."""
    status = plant(push, curvature, growth, nodes, work, worker, workers)
    if status != DONE:
        return status
    return grow_symmetric_together(coded, growth, nodes, work, worker, workers)


@lean_kernel
def grow_symmetric_together(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, worker: int, workers: int) -> int:
    """Grow a tree of ``growth.depth`` levels from a root that is set; its number of nodes, or ``LOST``."""
    sync, first, last, slots, feature, code = work.sync, ROOT, ONE, ONE, ROOT, ROOT
    for level in range(growth.depth + 1):
        opens = level < growth.depth
        if worker == 0 and opens:
            if growth.feature_share < 1.0:
                draw_features(coded.used, growth.feature_share, mix(growth.seed, np.uint64(level)), work.allowed[level])
            else:
                copy_flags(coded.used, work.allowed[level])
        wait(sync, workers)
        if opens:
            _fill_level(coded, growth, nodes, work, first, last, worker, workers)
        wait(sync, workers)
        if worker == 0:
            _send_level(coded, growth, nodes, work, first, last, opens)
            if level > 0 and work.plan[FAILED] == 0:
                before = first - (last - first) // 2
                _make_level(coded, growth, nodes, work, level - 1, before, first, feature, code)
        wait(sync, workers)
        if work.plan[FAILED]:
            return LOST
        if not opens:
            break
        _scan_level_words(coded, growth, nodes, work, first, last, level, worker, workers)
        wait(sync, workers)
        feature = ONE * best_feature(work.gains[level], coded.used)  # every worker finds the same
        if feature < 0:
            break
        code, size = ONE * work.codes[level, feature], last
        lay_level_table(coded, growth, nodes, work, first, last, feature, code, worker)
        for node in range(first, last):
            _part_node(coded, growth, nodes, work, node, feature, size, slots, 3 * (node - first), worker, workers)
            size += 2
            slots += 1
        first, last = last, size
    return last


@lean_kernel
def _fill_level(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, worker: int, workers: int
) -> None:
    """The histograms of the lighter children among the nodes first … last−1, which come in pairs; or of the root."""
    if first == 0:
        fill_words(coded, growth, nodes, work, ROOT, worker, workers)
        return
    for a in range(first, last, 2):
        fill_words(coded, growth, nodes, work, _lighter(nodes, work, a), worker, workers)


@lean_kernel
def _lighter(nodes: Nodes, work: Workspace, a: int) -> int:
    """Of two siblings, a and a + 1, the one that does not have its parent's histogram."""
    return a if nodes.slot[a] > nodes.slot[a + 1] else a + 1


@lean_kernel
def _send_level(coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, opens: bool) -> None:
    """The histograms of a level and, behind them, the counts of the cuts that made it: one message."""
    cells, message, place = cells_of(coded), work.message, 0
    if first > 0:
        place = 3 * ((last - first) // 2)  # the counts were put at the head when the rows were parted
    length = place
    if opens:
        for a in range(first, last, 2):
            node = ROOT if first == 0 else _lighter(nodes, work, a)
            copy_cells(work.histograms[nodes.slot[node]], message[length : length + cells])
            length += cells
    if not send(growth, work, length) or not opens:
        return
    for a in range(first, last, 2):
        node = ROOT if first == 0 else _lighter(nodes, work, a)
        copy_cells(message[place:], work.histograms[nodes.slot[node], :cells])
        place += cells


@lean_kernel
def _make_level(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, level: int, first: int, last: int, feature: int, code: int
) -> None:
    """Make the children of the nodes first … last−1, numbered from ``last`` on, from the sums over all members."""
    for node in range(first, last):
        size, head = last + 2 * (node - first), 3 * (node - first)
        counts = work.message[head : head + 3]
        make_children(node, feature, code, growth, nodes, work, size, counts[0], counts[1], counts[2])
        keep_set(coded, nodes, node, feature, work.tables[0])
        nodes.gain[node] = work.gains[level, feature] / (last - first)
        lend_value(growth, nodes, work, size, node)
        lend_value(growth, nodes, work, size + 1, node)
        keep_order(nodes, node, coded.monotone[feature])


@lean_kernel
def _part_node(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, node: int, feature: int, size: int, slots: int,
    place: int, worker: int, workers: int,
) -> None:  # fmt: skip
    """Part a node's own rows by the table of a cut, and put the counts into the message from ``place`` on."""
    half, start, end = nodes.half[node], nodes.start[node], nodes.end[node]
    mark_left(coded, feature, growth.newton, half, start, end, work, worker, workers)
    wait(work.sync, workers)
    move_rows(half, start, end, work, worker, workers)
    if worker == 0:
        place_children(nodes, node, size, sum_of(work.counts[0], workers))
        light = left_share(nodes, work, node, feature, worker) <= HALF
        small, large = (size, size + 1) if light else (size + 1, size)
        nodes.slot[small], nodes.slot[large] = slots, nodes.slot[node]
        for k in range(3):
            work.message[place + k] = sum_of(work.counts[k], workers)
    wait(work.sync, workers)


@lean_kernel
def _scan_level_words(
    coded: Coded, growth: Growth, nodes: Nodes, work: Workspace, first: int, last: int, level: int, worker: int, workers: int
) -> None:
    """The heavier siblings' histograms, and the best cuts of the level, of a worker's features."""
    for block in range(coded.words.shape[0]):
        first_word, last_word = words_of_worker(coded, block, worker, workers)
        low, high = features_of(coded, block, first_word, last_word)
        if not any_of(coded.used, low, high):
            continue
        if first > 0:
            for a in range(first, last, 2):
                small = _lighter(nodes, work, a)
                take_away(nodes, work, 2 * a + 1 - small, small, block, first_word, last_word)
        for f in range(low, high):
            scan_level(coded, growth, nodes, work, first, last, level, f, worker)
