"""Ensembles of trees as ONNX has them.

``TreeEnsembleRegressor`` (ai.onnx.ml 1 and 3) lists all nodes, leaves among them, under the number of their tree and one of
their own. ``TreeEnsemble`` (ai.onnx.ml 5) lists splits and leaves apart, by position. Both ask ``x <= t``, ``x < t`` (which
here is ``x <=`` the number just below t), or the opposite, and say of each split whether a missing value goes where the answer
is yes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from rankinite.errors import DataError, cut, quoted
from rankinite.models.files.nested_trees import LeafNode, SplitNode, tree_of
from rankinite.models.files.onnx_attributes import Attributes, counted, damaged, length_of, only, reals, whole, word
from rankinite.trees.structure import Trees, join

LEAF_MODE = "LEAF"
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
"""What a split may ask, as ``TreeEnsemble`` numbers it."""
AT_MOST, BELOW, AT_LEAST, ABOVE = MODES[:4]
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
"""How trees are put together, as ``TreeEnsemble`` numbers it."""
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""What is done to the sum, as ``TreeEnsemble`` numbers it."""
MOST_FEATURE = 1 << 31


class TreeSum(NamedTuple):
    """Trees, and what is added to their sum."""

    trees: Trees
    start: float = 0.0


# ---- what both have ---------------------------------------------------------------------------------------------------


def _is_mean(attributes: Attributes, aggregate: str, transform: str) -> bool:
    """Whether it is a mean of trees; refuses what is neither that nor a sum, with one score per row."""
    targets = only(attributes, "n_targets", 1)
    if targets != 1:
        raise DataError(
            f"this ONNX model has {targets} scores per row",
            place="n_targets",
            value=targets,
            rule="Only models with one score can rank",
            remedy="Convert a model with a ranking or regression objective",
        )
    known = {"aggregate_function": ("SUM", "AVERAGE"), "post_transform": ("NONE",)}
    for (name, allowed), found in zip(known.items(), (aggregate, transform), strict=True):
        if found not in allowed:
            raise DataError(
                f"the {name} of this ONNX model is {quoted(found)}",
                place=name,
                value=found,
                rule=f"It must be {' or '.join(allowed)}",
                remedy="Convert the model so that it gives raw scores",
            )
    return aggregate == "AVERAGE"


def _split(mode: str, feature: int, value: float, missing: int, children: tuple[Any, Any], place: str) -> SplitNode:
    """A split: its left child is where ``x <=`` a threshold, be that the answer yes or no; ``missing``: whether NaN is yes."""
    if mode not in (AT_MOST, BELOW, AT_LEAST, ABOVE):
        raise DataError(
            f"a split asks {cut(mode)}",
            place=place,
            value=mode,
            rule=f"Splits that can be read ask {', '.join(MODES[:4])}",
            remedy="Convert the model with numerical splits alone",
        )
    if not 0 <= feature < MOST_FEATURE:
        raise damaged(f"{feature} is not the number of a feature", place, feature)
    threshold = math.nextafter(value, -math.inf) if mode in (BELOW, AT_LEAST) else value
    yes, no = children
    if mode in (AT_MOST, BELOW):
        return SplitNode(feature, threshold, bool(missing), yes, no)
    return SplitNode(feature, threshold, not missing, no, yes)


def _named(words: tuple[str, ...], number: int) -> str:
    return words[number] if 0 <= number < len(words) else str(number)


# ---- TreeEnsembleRegressor --------------------------------------------------------------------------------------------


def _regressor(attributes: Attributes) -> TreeSum:
    """The trees of a ``TreeEnsembleRegressor``, in the order in which they are first named."""
    aggregate, transform = word(attributes, "aggregate_function", "SUM"), word(attributes, "post_transform", "NONE")
    mean, count = _is_mean(attributes, aggregate, transform), length_of(attributes, "nodes_treeids")
    names = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids", "missing_value_tracks_true")
    lists = {name: f"nodes_{name}" for name in names[: 6 if f"nodes_{names[5]}" in attributes else 5]}
    table = {name: whole(attributes, full, count) for name, full in lists.items()}
    modes = attributes["nodes_modes"].strings if "nodes_modes" in attributes else []
    nodes = _RegressorNodes(
        **{name: table.get(name, [0] * count) for name in names},
        modes=counted([mode.decode(errors="replace") for mode in modes], "nodes_modes", count),
        values=reals(attributes, "nodes_values", count),
        weights={},
        place_of={key: place for place, key in enumerate(zip(table["treeids"], table["nodeids"], strict=True))},
    )
    if len(nodes.place_of) != count:
        raise damaged("two nodes of a tree have the same number", "nodes_nodeids", count)
    nodes.take_weights(attributes)
    roots = {tree: place for place, tree in reversed(list(enumerate(nodes.treeids)))}  # the first node of a tree
    trees = [tree_of(roots[tree], nodes.read, most=count, place=f"tree {tree}") for tree in dict.fromkeys(nodes.treeids)]
    joined = join(trees)
    if len(joined.feature) != count:
        raise damaged("some nodes are not below the first of their tree", "nodes_nodeids", len(joined.feature))
    has_base = {"base_values", "base_values_as_tensor"} & set(attributes)
    start = reals(attributes, "base_values", 1)[0] if has_base else 0.0
    return TreeSum(_divided(joined) if mean else joined, start)


class _RegressorNodes(NamedTuple):
    """All nodes, one entry per node in every list."""

    treeids: list[int]
    nodeids: list[int]
    featureids: list[int]
    truenodeids: list[int]
    falsenodeids: list[int]
    missing_value_tracks_true: list[int]
    modes: list[str]
    values: list[float]
    weights: dict[int, float]
    place_of: dict[tuple[int, int], int]

    def take_weights(self, attributes: Attributes) -> None:
        """The weight of each leaf."""
        count = length_of(attributes, "target_nodeids")
        trees, nodes = (whole(attributes, f"target_{name}", count) for name in ("treeids", "nodeids"))
        for tree, node, weight in zip(trees, nodes, reals(attributes, "target_weights", count), strict=True):
            place = self.place_of.get((tree, node))
            if place is None or self.modes[place] != LEAF_MODE or place in self.weights:
                raise damaged(f"node {node} of tree {tree} is no leaf, or has two weights", "target_nodeids", node)
            self.weights[place] = weight

    def read(self, place: int) -> LeafNode | SplitNode:
        """The node at a place."""
        tree, where = self.treeids[place], f"node {self.nodeids[place]} of tree {self.treeids[place]}"
        if self.modes[place] == LEAF_MODE:
            if place not in self.weights:
                raise damaged("this leaf has no weight", where, self.nodeids[place])
            return LeafNode(self.weights[place])
        left, right = (self.place_of.get((tree, side[place])) for side in (self.truenodeids, self.falsenodeids))
        if left is None or right is None:
            raise damaged("this node points outside its tree", where, self.nodeids[place])
        missing = self.missing_value_tracks_true[place]
        return _split(self.modes[place], self.featureids[place], self.values[place], missing, (left, right), where)


# ---- TreeEnsemble -----------------------------------------------------------------------------------------------------


def _ensemble(attributes: Attributes) -> TreeSum:
    """The trees of a ``TreeEnsemble``, in the order of their roots."""
    aggregate = _named(AGGREGATES, only(attributes, "aggregate_function", 1))
    mean = _is_mean(attributes, aggregate, _named(TRANSFORMS, only(attributes, "post_transform", 0)))
    count, leaves = length_of(attributes, "nodes_featureids"), length_of(attributes, "leaf_targetids")
    names = ("featureids", "modes", "truenodeids", "trueleafs", "falsenodeids", "falseleafs")
    tracks = "nodes_missing_value_tracks_true"
    nodes = _EnsembleNodes(
        **{name: whole(attributes, f"nodes_{name}", count) for name in names},
        missing=whole(attributes, tracks, count) if length_of(attributes, tracks) else [0] * count,
        splits=reals(attributes, "nodes_splits", count),
        weights=reals(attributes, "leaf_weights", leaves),
    )
    if any(whole(attributes, "leaf_targetids", leaves)):
        raise damaged("a leaf belongs to another score than the first", "leaf_targetids", leaves)
    roots = whole(attributes, "tree_roots", length_of(attributes, "tree_roots"))
    trees, room = list[Trees](), 2 * count + 1
    for number, root in enumerate(roots):
        trees.append(tree_of((False, root), nodes.read, most=room, place=f"tree {number}"))
        room -= len(trees[-1].feature) - 1  # each split belongs to one tree
    joined = join(trees)
    return TreeSum(_divided(joined) if mean else joined)


class _EnsembleNodes(NamedTuple):
    """All splits, one entry per split in every list but the last, which has one per leaf."""

    featureids: list[int]
    modes: list[int]
    truenodeids: list[int]
    trueleafs: list[int]
    falsenodeids: list[int]
    falseleafs: list[int]
    missing: list[int]
    splits: list[float]
    weights: list[float]

    def read(self, at: tuple[bool, int]) -> LeafNode | SplitNode:
        """A node: whether it is a leaf, and which."""
        is_leaf, place = at
        where = f"{'leaf' if is_leaf else 'node'} {place}"
        if not 0 <= place < len(self.weights if is_leaf else self.splits):
            raise damaged("there is no such node", where, place)
        if is_leaf:
            return LeafNode(self.weights[place])
        left = (bool(self.trueleafs[place]), self.truenodeids[place])
        right = (bool(self.falseleafs[place]), self.falsenodeids[place])
        split = _split(
            _named(MODES, self.modes[place]),
            self.featureids[place],
            self.splits[place],
            self.missing[place],
            (left, right),
            where,
        )
        return self.read(left) if left == right and left[0] else split  # how ONNX writes a tree of one leaf


def _divided(trees: Trees) -> Trees:
    """A mean as a sum."""
    return replace(trees, value=trees.value / max(1, len(trees)))


ENSEMBLES = {"TreeEnsembleRegressor": _regressor, "TreeEnsemble": _ensemble}
"""ONNX's operators that are read."""
