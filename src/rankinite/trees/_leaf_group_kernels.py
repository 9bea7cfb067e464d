"""Compiled layout of leaves in groups; see ``trees/_contribution_state.py`` for the notation."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Floats, Indices, kernel, lean_kernel
from rankinite.trees._contribution_state import LeafGroups, Marks, Small, TreeNodes


@kernel
def measure(trees: TreeNodes, out_steps: Indices, out_means: Floats) -> None:
    """For every tree: the steps from its root to a leaf, over all leaves, and the mean of its leaves by their paths' shares."""
    depth, mean = np.zeros(len(trees.feature), np.int64), np.zeros(len(trees.feature))
    for tree in range(len(trees.offsets) - 1):
        root = trees.offsets[tree]
        for node in range(root, trees.offsets[tree + 1]):  # children come after their parents
            if trees.feature[node] < 0:
                out_steps[tree] += depth[node]
            else:
                depth[root + trees.left[node]] = depth[root + trees.right[node]] = depth[node] + 1
        for node in range(trees.offsets[tree + 1] - 1, root - 1, -1):
            mean[node] = trees.value[node]
            if trees.feature[node] >= 0:
                left, right = root + trees.left[node], root + trees.right[node]
                mean[node] = trees.share[left] * mean[left] + trees.share[right] * mean[right]
        out_means[tree] = mean[root]


@lean_kernel
def asks_the_same(trees: TreeNodes, node: int, other: int) -> bool:
    """Whether all rows go the same way at two nodes."""
    return (
        trees.column[node] == trees.column[other]
        and trees.threshold[node] == trees.threshold[other]
        and trees.missing_left[node] == trees.missing_left[other]
    )


@kernel
def group_leaves(trees: TreeNodes, first_tree: int, last_tree: int, most_bits: int, out: LeafGroups) -> None:
    """Put the leaves of the trees first_tree … last_tree−1 into groups of at most ``most_bits`` bits.

    A group is the largest subtree that has so few; a leaf whose own path has more is a group of its own.
    """
    largest = 0
    for tree in range(first_tree, last_tree):
        largest = max(largest, trees.offsets[tree + 1] - trees.offsets[tree])
    parent, side, path = np.zeros(largest, np.int32), np.zeros(largest, np.uint8), np.zeros(largest, np.int32)
    test_of, bit_of = np.zeros(largest, np.int32), np.zeros(largest, np.int32)
    waiting, inside = np.zeros(largest, np.int32), np.zeros(largest, np.int32)
    groups = 0
    out.tree_groups[0] = out.tree_tests[0] = 0
    out.group_bits[0] = out.group_slots[0] = out.group_leaves[0] = 0
    out.bit_members[0] = out.leaf_factors[0] = out.leaf_conditions[0] = 0
    for tree in range(first_tree, last_tree):
        here = tree - first_tree
        root, size = trees.offsets[tree], trees.offsets[tree + 1] - trees.offsets[tree]
        out.tree_tests[here + 1] = _list_tests(trees, root, size, parent, side, test_of, out.test_node, out.tree_tests[here])
        count = 1
        waiting[0] = 0
        while count:
            count -= 1
            node = waiting[count]
            depth = _climb(parent, node, path)
            if trees.feature[root + node] >= 0 and not _fits(trees, root, node, path, depth, most_bits, inside, bit_of):
                waiting[count] = trees.right[root + node]
                waiting[count + 1] = trees.left[root + node]
                count += 2
                continue
            _begin_group(trees, root, path, depth, node, side, test_of, groups, out)
            _add_leaves(trees, root, node, parent, side, path, depth, test_of, inside, bit_of, groups, out)
            groups += 1
        out.tree_groups[here + 1] = groups


@lean_kernel
def _list_tests(
    trees: TreeNodes, root: int, size: int, parent: Small, side: Marks, test_of: Small, test_node: Small, begin: int
) -> int:
    """Number the tests of a tree from ``begin`` on, and say where each node hangs; returns the number after the last."""
    end = begin
    parent[0] = -1
    for node in range(size):
        if trees.feature[root + node] < 0:
            continue
        left, right = trees.left[root + node], trees.right[root + node]
        parent[left] = parent[right] = node
        side[left], side[right] = 1, 0
        found = begin
        while found < end and not asks_the_same(trees, root + test_node[found], root + node):
            found += 1
        if found == end:
            test_node[end] = node
            end += 1
        test_of[node] = found - begin
    return end


@lean_kernel
def _climb(parent: Small, node: int, out_path: Small) -> int:
    """The nodes on the way from the root to a node, itself included; returns how many are above it."""
    depth, above = 0, parent[node]
    while above >= 0:
        depth += 1
        above = parent[above]
    at = node
    for place in range(depth, -1, -1):
        out_path[place] = at
        at = parent[at]
    return depth


@lean_kernel
def _fits(trees: TreeNodes, root: int, top: int, path: Small, depth: int, most: int, waiting: Small, bit_of: Small) -> bool:
    """Whether the leaves below a node make a group of at most ``most`` bits."""
    bits = 0
    for place in range(depth):
        bits += _is_first(trees, root, path, place)
    if bits > most:
        return False
    tests, count = 0, 1
    waiting[0] = top
    while count:
        count -= 1
        node = waiting[count]
        if trees.feature[root + node] < 0:
            continue
        found = 0
        while found < tests and not asks_the_same(trees, root + bit_of[found], root + node):
            found += 1
        if found == tests:  # bit_of is room here: it holds the distinct tests
            if bits + tests == most:
                return False
            bit_of[tests] = node
            tests += 1
        waiting[count] = trees.right[root + node]
        waiting[count + 1] = trees.left[root + node]
        count += 2
    return True


@lean_kernel
def _is_first(trees: TreeNodes, root: int, path: Small, place: int) -> bool:
    """Whether no node of the path above this place asks for the same feature."""
    for above in range(place):
        if trees.feature[root + path[above]] == trees.feature[root + path[place]]:
            return False
    return True


@lean_kernel
def _begin_group(
    trees: TreeNodes, root: int, path: Small, depth: int, top: int, side: Marks, test_of: Small, group: int, out: LeafGroups
) -> None:
    """The slots and bits of the features on the way to a group, whose first node is ``top``."""
    bit, slot = out.group_bits[group], out.group_slots[group]
    member = out.bit_members[bit]
    for place in range(depth):
        if not _is_first(trees, root, path, place):
            continue
        feature = trees.feature[root + path[place]]
        out.slot_feature[slot] = feature
        for other in range(place, depth):
            if trees.feature[root + path[other]] == feature:
                out.member_test[member] = test_of[path[other]]
                out.member_side[member] = side[path[other + 1]]
                member += 1
        bit += 1
        slot += 1
        out.bit_members[bit] = member
    out.group_bits[group + 1], out.group_slots[group + 1] = bit, slot
    out.group_leaves[group + 1] = out.group_leaves[group]


@lean_kernel
def _add_leaves(
    trees: TreeNodes,
    root: int,
    top: int,
    parent: Small,
    side: Marks,
    path: Small,
    depth: int,
    test_of: Small,
    waiting: Small,
    bit_of: Small,
    group: int,
    out: LeafGroups,
) -> None:
    """All leaves below the first node of a group, and the bits of the tests among them."""
    first_bit = out.group_bits[group]
    shared = out.group_bits[group + 1] - first_bit  # bits of features on the way to the group
    count = 1
    waiting[0] = top
    while count:
        count -= 1
        node = waiting[count]
        if trees.feature[root + node] < 0:
            _add_leaf(trees, root, node, top, parent, side, path, depth, bit_of, group, shared, out)
            continue
        bit, member = out.group_bits[group + 1], out.bit_members[out.group_bits[group + 1]]
        found = first_bit + shared
        while found < bit and out.member_test[out.bit_members[found]] != test_of[node]:
            found += 1
        if found == bit:
            out.member_test[member], out.member_side[member] = test_of[node], 1
            out.bit_members[bit + 1] = member + 1
            out.group_bits[group + 1] = bit + 1
        bit_of[node] = found - first_bit
        waiting[count] = trees.right[root + node]
        waiting[count + 1] = trees.left[root + node]
        count += 2


@lean_kernel
def _add_leaf(
    trees: TreeNodes,
    root: int,
    node: int,
    top: int,
    parent: Small,
    side: Marks,
    path: Small,
    depth: int,
    bit_of: Small,
    group: int,
    shared: int,
    out: LeafGroups,
) -> None:
    """One leaf: its factors, first those of the features on the way to the group, and their conditions."""
    leaf = out.group_leaves[group + 1]
    factor, condition = out.leaf_factors[leaf], out.leaf_conditions[leaf]
    first_factor, first_slot = factor, out.group_slots[group]
    for slot in range(shared):
        out.factor_slot[factor] = slot
        out.factor_share[factor] = 1.0
        for place in range(depth):
            if trees.feature[root + path[place]] == out.slot_feature[first_slot + slot]:
                out.factor_share[factor] *= trees.share[root + path[place + 1]]
        out.condition_factor[condition], out.condition_bit[condition], out.condition_set[condition] = slot, slot, 1
        factor += 1
        condition += 1
    at = node
    while at != top:
        above = parent[at]
        slot = first_slot
        while slot < out.group_slots[group + 1] and out.slot_feature[slot] != trees.feature[root + above]:
            slot += 1
        if slot == out.group_slots[group + 1]:
            out.slot_feature[slot] = trees.feature[root + above]
            out.group_slots[group + 1] = slot + 1
        found = first_factor
        while found < factor and out.factor_slot[found] != slot - first_slot:
            found += 1
        if found == factor:
            out.factor_slot[factor], out.factor_share[factor] = slot - first_slot, 1.0
            factor += 1
        out.factor_share[found] *= trees.share[root + at]
        out.condition_factor[condition] = found - first_factor
        out.condition_bit[condition] = bit_of[above]
        out.condition_set[condition] = side[at]
        condition += 1
        at = above
    out.leaf_value[leaf] = trees.value[root + node]
    out.leaf_factors[leaf + 1], out.leaf_conditions[leaf + 1] = factor, condition
    out.group_leaves[group + 1] = leaf + 1
