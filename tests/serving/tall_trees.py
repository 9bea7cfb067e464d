"""Forests of unusual shapes: as deep as possible, and as wide."""

from __future__ import annotations

import numpy as np

from rankinite.models.forest import Forest
from rankinite.trees.structure import LEAF, Trees


def forest_with(feature, threshold, left, right, value, missing_left=None, names=("a",)):
    """A forest of one tree."""
    nothing = np.zeros(len(feature))
    trees = Trees(
        feature=feature,
        threshold=threshold,
        missing_left=nothing.astype(np.bool_) if missing_left is None else missing_left,
        left=left,
        right=right,
        value=value,
        rows=nothing,
        curvature=nothing,
        gain=nothing,
        offsets=[0, len(feature)],
    )
    return Forest(trees, names)


def chain(depth, *, to_left):
    """A tree that is a single line of splits: row x ends in leaf ⌈x⌉, whose value is its number."""
    nodes = np.arange(2 * depth + 1)  # split, leaf, split, leaf, …, leaf
    split = (nodes % 2 == 0) & (nodes < 2 * depth)
    place = nodes // 2
    leaf, onward = np.where(split, nodes + 1, 0), np.where(split, nodes + 2, 0)
    threshold = np.where(split, place if not to_left else depth - 1 - place, 0)
    value = np.where(split, 0, place if not to_left else depth - place)
    left, right = (onward, leaf) if to_left else (leaf, onward)
    return forest_with(np.where(split, 0, LEAF), threshold, left, right, value)


def perfect(depth):
    """A tree with 2**depth leaves that sorts x from 0 to 2**depth into them."""
    leaves = 2**depth
    nodes = np.arange(2 * leaves - 1)
    level = np.floor(np.log2(nodes + 1)).astype(int)
    place, width = nodes + 1 - 2**level, leaves // 2**level
    split = nodes < leaves - 1
    threshold = np.where(split, place * width + width // 2, 0)
    children = np.where(split, 2 * nodes + 1, 0)
    return forest_with(
        np.where(split, 0, LEAF), threshold, children, np.where(split, children + 1, 0), np.where(split, 0, place)
    )
