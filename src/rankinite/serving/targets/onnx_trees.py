"""TreeEnsemble: forests as ONNX has them (ai.onnx.ml 5), with thresholds and leaves in double.

Splits and leaves are listed apart, each by its position. A program adds leaves to 0 in the order of the trees, so the start is
in the leaves of the first tree of each output. A tree that is a leaf is a split whose two branches lead to that leaf.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import SCORE, Flags, Floats, Indices, Reals
from rankinite.models.forest import Forest
from rankinite.serving.node_table import NodeTable, sum_in_order
from rankinite.serving.plan import one_leaf
from rankinite.trees.structure import LEAF, Trees, join

OPERATOR, DOMAIN = "TreeEnsemble", "ai.onnx.ml"
AT_MOST = 0
"""The mode of a split that asks ``x <= threshold``."""
SUM, NO_TRANSFORM = 1, 0


def ensemble_attributes(forest: Forest, names: tuple[str, ...]) -> dict[str, Any]:
    """The attributes of the operator, as lists and arrays, for rows whose columns have these names."""
    trees = _with_start(forest)
    splits, leaves = _with_splits(trees), trees.feature == LEAF
    count = len(splits.feature)
    tree_of_leaf = np.repeat(np.arange(len(trees)), np.diff(trees.offsets))[leaves]
    columns = np.asarray([*(names.index(name) for name in forest.feature_names), 0])  # a leaf's −1 finds the last
    return {
        "aggregate_function": SUM,
        "post_transform": NO_TRANSFORM,
        "n_targets": forest.outputs,
        "tree_roots": splits.roots.tolist(),
        "nodes_featureids": columns[splits.feature].tolist(),
        "nodes_splits": splits.threshold,
        "nodes_modes": np.full(count, AT_MOST, np.uint8),
        "nodes_missing_value_tracks_true": splits.missing_left.astype(int).tolist(),
        "nodes_truenodeids": np.where(splits.left >= count, splits.left - count, splits.left).tolist(),
        "nodes_trueleafs": (splits.left >= count).astype(int).tolist(),
        "nodes_falsenodeids": np.where(splits.right >= count, splits.right - count, splits.right).tolist(),
        "nodes_falseleafs": (splits.right >= count).astype(int).tolist(),
        "leaf_targetids": (tree_of_leaf % forest.outputs).tolist(),
        "leaf_weights": trees.value[leaves],
    }


def _with_start(forest: Forest) -> Trees:
    """The trees with every output's start in its first tree."""
    trees, start = forest.trees, forest.start
    if not len(trees):
        return join([one_leaf(float(number)) for number in start])
    number = np.repeat(np.arange(len(trees)), np.diff(trees.offsets))
    begins = np.append(start, 0.0)[np.minimum(number, len(start))]
    return replace(trees, value=np.where(begins != 0.0, begins + trees.value, trees.value))


def _with_splits(trees: Trees) -> NodeTable:
    """The splits alone; children from their number on are leaves. A tree that is one leaf becomes a split."""
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    leaf: Flags = trees.feature == LEAF
    alone = leaf & (np.arange(len(leaf)) == root)
    split: Flags = ~leaf | alone
    count = int(split.sum())
    place: Indices = np.where(leaf, count + np.cumsum(leaf) - 1, np.cumsum(split) - 1)  # of a node as somebody's child
    return NodeTable(
        feature=trees.feature[split],
        threshold=trees.threshold[split],
        missing_left=trees.missing_left[split],
        left=place[np.where(alone, root, root + trees.left)[split]],
        right=place[np.where(alone, root, root + trees.right)[split]],
        value=np.zeros(count),
        roots=(np.cumsum(split) - 1)[trees.offsets[:-1]],
    )


def ensemble_sums(attributes: dict[str, Any], matrix: Reals) -> Floats:
    """What the operator gives, read from its attributes: rows × targets."""
    assert attributes["aggregate_function"] == SUM
    assert attributes["post_transform"] == NO_TRANSFORM
    assert (attributes["nodes_modes"] == AT_MOST).all()
    count, leaves = len(attributes["nodes_featureids"]), len(attributes["leaf_targetids"])

    def with_leaves(name: str, filling: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        return np.concatenate((np.asarray(attributes[name], dtype), np.full(leaves, filling, dtype)))

    def children(side: str) -> Indices:
        number, is_leaf = (np.asarray(attributes[f"nodes_{side}{what}"], np.int64) for what in ("nodeids", "leafs"))
        return np.concatenate((np.where(is_leaf == 1, count + number, number), count + np.arange(leaves)))

    table = NodeTable(
        feature=with_leaves("nodes_featureids", LEAF, np.int32),
        threshold=with_leaves("nodes_splits", 0.0, np.float64),
        missing_left=with_leaves("nodes_missing_value_tracks_true", 0, np.bool_),
        left=children("true"),
        right=children("false"),
        value=np.concatenate((np.zeros(count), attributes["leaf_weights"])),
        roots=np.asarray(attributes["tree_roots"], np.int64),
    )
    values = table.leaf_values(matrix)
    targets = np.concatenate((np.zeros(count, np.int64), attributes["leaf_targetids"]))
    target = replace(table, value=targets).leaf_values(matrix)
    sums = [sum_in_order(np.where(target == number, values, SCORE(0.0))) for number in range(attributes["n_targets"])]
    return np.column_stack(sums).astype(SCORE)
