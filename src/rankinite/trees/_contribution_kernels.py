"""Compiled Shapley values of features under trees; see ``trees/_contribution_state.py`` for the notation.

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

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Floats, Reals, kernel, lean_kernel
from rankinite.trees._contribution_state import LeafGroups, Marks, Quadrature, TreeNodes

MOST_BITS = 9
"""Bits of a group, but for leaves with longer paths."""
LANES = 1 << MOST_BITS
"""Rows, or patterns, at a time."""

Patterns = npt.NDArray[np.uint16]


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
