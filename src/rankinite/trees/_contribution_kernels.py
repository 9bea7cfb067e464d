"""Compiled Shapley values of features under trees.

Notation. A *test* is what a node asks: a feature, a threshold, the side of missing values. A *group* is a set of neighbouring
leaves of a tree. What a row has in common with the leaves of a group is told by a few *bits*: one for each feature on the way
to them, set where the row passes all tests on it, and one for each test among them, set where the row goes left. The features
of a group are its *slots*. A leaf has one *factor* for each feature on its whole path: the slot, and the share of training rows
that the path's tests on the feature let pass. A row meets a factor when all of its *conditions* (a bit, and what it must be)
hold.

What a leaf adds to a score when only some features are known is a product: of 1 for a known feature whose factor the row meets,
0 for one it does not meet, and the factor's share for a feature that is not known. The Shapley value of such a product is an
integral (Owen's multilinear extension): feature i gets

    value · (met_i − share_i) · ∫₀¹ ∏_{j≠i} (t · met_j + (1 − t) · share_j) dt,

whose integrand is a polynomial in t of one degree less than there are factors. So a Gauss–Legendre rule with half as many
points is exact, and has no term below 0 that could cancel another.

All leaves of a group depend on its bits alone. Where rows are many, the values for all patterns of the bits are computed first
and looked up; where they are few, they are computed row by row, by the same operations in the same order: both give the same
bits. Loops run over *lanes*, which are patterns or rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Flags, Floats, Indices, Reals, kernel, lean_kernel

Small = npt.NDArray[np.int32]
Marks = npt.NDArray[np.uint8]
Patterns = npt.NDArray[np.uint16]

MOST_BITS = 9
"""Bits of a group, but for leaves with longer paths."""
LANES = 1 << MOST_BITS
"""Rows, or patterns, at a time."""


class TreeNodes(NamedTuple):
    """The nodes of trees, as in :class:`rankinite.trees.structure.Trees`."""

    feature: Small
    """The feature that is shared among: whichever column is asked."""
    column: Small
    """The column asked: that of the feature, or, where a node asks for a category, that of its indicator."""
    threshold: Floats
    missing_left: Flags
    left: Small
    right: Small
    value: Floats
    share: Floats
    """The share of its parent's training rows that came to a node; 1 in roots."""
    offsets: Indices


class LeafGroups(NamedTuple):
    """The leaves of some trees in groups. An array called ``a_bs`` holds where the b of each a begin, and their number."""

    tree_tests: Indices
    test_node: Small
    """A node of the tree that asks this, counted from the tree's root."""
    tree_groups: Indices
    group_bits: Indices
    bit_members: Indices
    member_test: Small
    """A test, counted from the first of its tree, that a row must pass for the bit to be set."""
    member_side: Marks
    """1: by going left."""
    group_slots: Indices
    slot_feature: Small
    group_leaves: Indices
    leaf_value: Floats
    leaf_factors: Indices
    factor_slot: Small
    factor_share: Floats
    leaf_conditions: Indices
    condition_factor: Small
    """The factor, counted from the first of its leaf."""
    condition_bit: Small
    """The bit, counted from the first of its group."""
    condition_set: Marks
    """What it must be: 1 (set) or 0."""


class Quadrature(NamedTuple):
    """Gauss–Legendre rules on [0, 1]: row n has n points and their weights."""

    points: Floats
    weights: Floats


# ---- leaves in groups ------------------------------------------------------------------------------------------------


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


# ---- contributions of the leaves -------------------------------------------------------------------------------------


@kernel
def add_contributions(
    columns: Reals,
    trees: TreeNodes,
    groups: LeafGroups,
    first_tree: int,
    rule: Quadrature,
    most_tests: int,
    most_factors: int,
    table_room: int,
    out_values: Floats,
) -> None:
    """Add the contributions of all trees in ``groups``, of which ``first_tree`` is the first, to those of some rows.

    ``columns``: features and indicators × rows; ``most_tests``, ``most_factors``: of a tree and of a leaf or group;
    ``table_room``: numbers that the tables of one tree hold; ``out_values``: features × rows.
    """
    rows = columns.shape[1]
    goes_left = np.empty((most_tests, LANES), np.uint8)
    bits = np.empty((max(most_factors, MOST_BITS), LANES), np.uint8)
    met, before, weight = (np.empty((most_factors, LANES)), np.empty((most_factors, LANES)), np.empty((most_factors, LANES)))
    shares, product = np.empty((max(most_factors, 1), LANES)), np.empty(LANES)
    pattern, tables = np.empty(LANES, np.uint16), np.empty(table_room)
    for tree in range(len(groups.tree_groups) - 1):
        root = trees.offsets[first_tree + tree]
        first, last = groups.tree_groups[tree], groups.tree_groups[tree + 1]
        at = 0
        for group in range(first, last):
            if has_table(groups, group, rows):
                lanes = 1 << (groups.group_bits[group + 1] - groups.group_bits[group])
                fill_patterns(groups.group_bits[group + 1] - groups.group_bits[group], bits)
                share_leaves(groups, group, bits, lanes, rule, met, before, weight, product, shares)
                for slot in range(groups.group_slots[group + 1] - groups.group_slots[group]):
                    for lane in range(lanes):
                        tables[at + lane] = shares[slot, lane]
                    at += lanes
        for start in range(0, rows, LANES):
            lanes = min(LANES, rows - start)
            for test in range(groups.tree_tests[tree + 1] - groups.tree_tests[tree]):
                node = root + groups.test_node[groups.tree_tests[tree] + test]
                decide(columns[trees.column[node], start : start + lanes], trees, node, goes_left[test])
            at = 0
            for group in range(first, last):
                set_bits(groups, group, goes_left, lanes, bits)
                first_slot, last_slot = groups.group_slots[group], groups.group_slots[group + 1]
                if has_table(groups, group, rows):
                    set_pattern(groups.group_bits[group + 1] - groups.group_bits[group], bits, lanes, pattern)
                    size = 1 << (groups.group_bits[group + 1] - groups.group_bits[group])
                    for slot in range(first_slot, last_slot):
                        values = out_values[groups.slot_feature[slot], start : start + lanes]
                        look_up(tables[at : at + size], pattern, values)
                        at += size
                    continue
                share_leaves(groups, group, bits, lanes, rule, met, before, weight, product, shares)
                for slot in range(first_slot, last_slot):
                    values = out_values[groups.slot_feature[slot], start : start + lanes]
                    for lane in range(lanes):
                        values[lane] += shares[slot - first_slot, lane]


@lean_kernel
def decide(column: Reals, trees: TreeNodes, node: int, out_left: Marks) -> None:
    """Which rows go left at a node, whose feature has these values: the one place that says what a node asks."""
    threshold, missing_left = trees.threshold[node], trees.missing_left[node]
    for lane in range(len(column)):
        x = np.float64(column[lane])
        out_left[lane] = (x <= threshold) | (missing_left & (x != x))  # noqa: PLR0124 - NaN alone differs from itself


@lean_kernel
def has_table(groups: LeafGroups, group: int, rows: int) -> bool:
    """Whether it pays to compute all patterns of a group first."""
    bits = groups.group_bits[group + 1] - groups.group_bits[group]
    return bits <= MOST_BITS and (1 << bits) <= rows


@lean_kernel
def fill_patterns(count: int, out_bits: Marks) -> None:
    """All patterns of so many bits, one per lane."""
    for bit in range(count):
        for lane in range(1 << count):
            out_bits[bit, lane] = (lane >> bit) & 1


@lean_kernel
def set_bits(groups: LeafGroups, group: int, goes_left: Marks, lanes: int, out_bits: Marks) -> None:
    """The bits of a group for rows of which it is known where they go at each test."""
    first = groups.group_bits[group]
    for bit in range(first, groups.group_bits[group + 1]):
        mine = out_bits[bit - first]
        for lane in range(lanes):
            mine[lane] = 1
        for member in range(groups.bit_members[bit], groups.bit_members[bit + 1]):
            left, side = goes_left[groups.member_test[member]], groups.member_side[member]
            for lane in range(lanes):
                mine[lane] &= left[lane] == side


@lean_kernel
def set_pattern(count: int, bits: Marks, lanes: int, out_pattern: Patterns) -> None:
    """The bits of each row as one number."""
    for lane in range(lanes):
        out_pattern[lane] = 0
    for bit in range(count):
        mine = bits[bit]
        for lane in range(lanes):
            out_pattern[lane] |= np.uint16(mine[lane]) << np.uint16(bit)


@lean_kernel
def look_up(table: Floats, pattern: Patterns, out_values: Floats) -> None:
    """Add to each row the table's number for its pattern."""
    for lane in range(len(out_values)):
        out_values[lane] += table[pattern[lane]]


@lean_kernel
def share_leaves(
    groups: LeafGroups,
    group: int,
    bits: Marks,
    lanes: int,
    rule: Quadrature,
    met: Floats,
    before: Floats,
    weight: Floats,
    product: Floats,
    out_shares: Floats,
) -> None:
    """The contributions of all leaves of a group: slots × lanes. Others are room: factors × lanes, and lanes."""
    for slot in range(groups.group_slots[group + 1] - groups.group_slots[group]):
        for lane in range(lanes):
            out_shares[slot, lane] = 0.0
    for leaf in range(groups.group_leaves[group], groups.group_leaves[group + 1]):
        meet(groups, leaf, bits, lanes, met)
        weigh(groups, leaf, lanes, rule, met, before, product, weight)
        first = groups.leaf_factors[leaf]
        for factor in range(groups.leaf_factors[leaf + 1] - first):
            mine, own, share = met[factor], weight[factor], groups.factor_share[first + factor]
            shares, value = out_shares[groups.factor_slot[first + factor]], groups.leaf_value[leaf]
            for lane in range(lanes):
                shares[lane] += value * (mine[lane] - share) * own[lane]


@lean_kernel
def meet(groups: LeafGroups, leaf: int, bits: Marks, lanes: int, out_met: Floats) -> None:
    """Which factors of a leaf each lane meets: 1 or 0."""
    for factor in range(groups.leaf_factors[leaf + 1] - groups.leaf_factors[leaf]):
        mine = out_met[factor]
        for lane in range(lanes):
            mine[lane] = 1.0
    for condition in range(groups.leaf_conditions[leaf], groups.leaf_conditions[leaf + 1]):
        mine, bit = out_met[groups.condition_factor[condition]], bits[groups.condition_bit[condition]]
        wanted = groups.condition_set[condition]
        for lane in range(lanes):
            mine[lane] = mine[lane] if bit[lane] == wanted else 0.0


@lean_kernel
def weigh(
    groups: LeafGroups,
    leaf: int,
    lanes: int,
    rule: Quadrature,
    met: Floats,
    before: Floats,
    product: Floats,
    out_weight: Floats,
) -> None:
    """For each factor, the integral over the product of all others: those before it times those behind."""
    first = groups.leaf_factors[leaf]
    count = groups.leaf_factors[leaf + 1] - first
    points = (count + 1) // 2
    for factor in range(count):
        own = out_weight[factor]
        for lane in range(lanes):
            own[lane] = 0.0
    for point in range(points):
        t, rest = rule.points[points, point], 1.0 - rule.points[points, point]
        for lane in range(lanes):
            product[lane] = rule.weights[points, point]
        for factor in range(count):
            unknown, mine, ahead = rest * groups.factor_share[first + factor], met[factor], before[factor]
            for lane in range(lanes):
                ahead[lane] = product[lane]
                product[lane] *= t * mine[lane] + unknown
        for lane in range(lanes):
            product[lane] = 1.0
        for factor in range(count - 1, -1, -1):
            unknown, mine, ahead = rest * groups.factor_share[first + factor], met[factor], before[factor]
            own = out_weight[factor]
            for lane in range(lanes):
                own[lane] += ahead[lane] * product[lane]
                product[lane] *= t * mine[lane] + unknown
