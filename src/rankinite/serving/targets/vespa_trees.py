"""Trees as ranking expressions of Vespa.

They are ``if(f < c, left, right)`` or, where a missing value goes left, ``if(!(f >= c), left, right)``: a comparison with NaN
is false. A split by categories is ``if(f in [0, 3], left, right)``, where whatever is not in the list goes right, missing and
unknown codes alike. Only bare sums of such trees are recognised as forests, which Vespa compiles; so the start is in the first
tree's leaves, and a tree that is a single leaf asks something all the same. Vespa keeps the thresholds and leaves of large
forests as float32 and those of small ones as float64: here all numbers of trees are float32, so that both are one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankinite.models.forest import Forest
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, Probability, Term, leaves_of
from rankinite.serving.float32 import above32, shortest
from rankinite.serving.plan import one_leaf
from rankinite.serving.targets.tree_limits import check_depth, check_values
from rankinite.trees.structure import LEAF, Trees

BEYOND = "1.0e+39"
"""A number above all of float32."""
MOST_LEVELS = 100
"""Nested splits: Vespa's parsers are recursive."""


def narrowed(flat: Flat) -> Flat:
    """The sum with the leaves of its trees as float32, starts included; refuses trees too deep, and leaves too large."""
    return replace(flat, terms=tuple(Term(term.weight, _narrowed(term.leaf)) for term in flat.terms))


def _narrowed(leaf: Leaf) -> Leaf:
    if isinstance(leaf, Probability):
        return Probability(narrowed(leaf.inner))
    if isinstance(leaf, NetOfSums):
        return NetOfSums(tuple(map(narrowed, leaf.inputs)), leaf.top)
    if not isinstance(leaf, Forest):
        return leaf
    trees = leaf.trees
    check_depth(trees, MOST_LEVELS)
    starts = np.zeros(max(len(trees), leaf.outputs))
    starts[: leaf.outputs] = leaf.start
    wide = np.repeat(starts[: len(trees)], np.diff(trees.offsets)) + trees.value
    check_values(wide)
    check_values(leaf.start)
    start = np.zeros(leaf.outputs) if len(trees) else leaf.start.astype(np.float32)
    return replace(leaf, trees=replace(trees, value=wide.astype(np.float32)), start=start)


def largest_set(flat: Flat) -> int:
    """How many codes the longest list has."""
    forests = [leaf for leaf in leaves_of(flat) if isinstance(leaf, Forest)]
    return max((int(forest.trees.set_sizes.max(initial=0)) for forest in forests), default=0)


def forest_text(trees: Trees, start: float, functions: list[str], any_feature: str) -> str:
    """The sum of trees; ``start``: their sum, if there are none.

    ``functions``: those of the features, by position. ``any_feature``: what a tree of one leaf asks for; empty: no feature is
    there, and nothing to compile.
    """
    trees = trees if len(trees) else one_leaf(start)
    threshold, root = above32(trees.threshold), np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    last, nodes = len(trees.feature) - 1, list[str]()
    for node in range(last, -1, -1):  # children come after their parents
        if trees.feature[node] == LEAF:
            nodes.append(shortest(trees.value[node]))
            continue
        left, right = (nodes[last - int(root[node] + side[node])] for side in (trees.left, trees.right))
        bound = shortest(np.float64(threshold[node])) if np.isfinite(threshold[node]) else BEYOND
        own = functions[trees.feature[node]]
        asked = f"!({own} >= {bound})" if trees.missing_left[node] else f"{own} < {bound}"
        if codes := trees.set_of(node):
            asked = f"{own} in [{', '.join(map(str, codes))}]"
        nodes.append(f"if({asked}, {left}, {right})")
    whole = [nodes[last - int(first)] for first in trees.offsets[:-1]]
    if any_feature:
        single = trees.feature[trees.offsets[:-1]] == LEAF
        whole = [f"if({any_feature} < 0.0, {text}, {text})" if one else text for text, one in zip(whole, single, strict=True)]
    return " +\n".join(whole)
