"""Records that the kernels of contributions share.

Notation. A *test* is what a node asks: a feature, a threshold, the side of missing values. A *group* is a set of neighbouring
leaves of a tree. What a row has in common with the leaves of a group is told by a few *bits*: one for each feature on the way
to them, set where the row passes all tests on it, and one for each test among them, set where the row goes left. The features
of a group are its *slots*. A leaf has one *factor* for each feature on its whole path: the slot, and the share of training rows
that the path's tests on the feature let pass. A row meets a factor when all of its *conditions* (a bit, and what it must be)
hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Flags, Floats, Indices

Small = npt.NDArray[np.int32]
Marks = npt.NDArray[np.uint8]


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
