"""Growing a symmetric tree together with other members: one message per level.

It holds the histogram of the lighter child of every node of the level before, and the counts of the cuts that made the level.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.barriers import wait
from rankinite.engine.kernel import lean_kernel
from rankinite.trees._combine_kernels import FAILED
from rankinite.trees._grow_kernels import features_of, own_words, take_away
from rankinite.trees._member_grow_kernels import HALF, cells_of, copy_cells, fill_words, left_share, send
from rankinite.trees._node_kernels import keep_order, keep_set, make_children, place_children
from rankinite.trees._partition_kernels import mark_left, move_rows
from rankinite.trees._scan_kernels import any_of, best_feature, copy_flags, draw_features, mix, sum_of
from rankinite.trees._state import LOST, ONE, ROOT, Coded, Growth, Nodes, Workspace
from rankinite.trees._symmetric_kernels import lay_level_table, lend_value, scan_level


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
        first_word, last_word = own_words(coded, block, worker, workers)
        low, high = features_of(coded, block, first_word, last_word)
        if not any_of(coded.used, low, high):
            continue
        if first > 0:
            for a in range(first, last, 2):
                small = _lighter(nodes, work, a)
                take_away(nodes, work, 2 * a + 1 - small, small, block, first_word, last_word)
        for f in range(low, high):
            scan_level(coded, growth, nodes, work, first, last, level, f, worker)


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
