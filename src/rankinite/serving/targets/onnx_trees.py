"""TreeEnsemble: forests as ONNX has them (ai.onnx.ml 5), with thresholds and leaves in double.

Splits and leaves are listed apart, each by its position. A program adds leaves to 0 in the order of the trees, so the start is
in the leaves of the first tree of each output. A tree that is a leaf is a split whose two branches lead to that leaf.
Splits by categories ask whether a code is in a list. Whatever is not in it goes the other way, unknown codes and NaN alike;
forests that send missing categories left are refused before (``refuse_sets``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import MOST
from rankinite.engine.kernel import SCORE, Flags, Floats, Indices, Reals
from rankinite.models.forest import Forest
from rankinite.serving.node_table import NodeSets, NodeTable, node_sets, sum_in_order
from rankinite.serving.plan import one_leaf
from rankinite.trees.structure import LEAF, Trees, join

OPERATOR, DOMAIN = "TreeEnsemble", "ai.onnx.ml"
AT_MOST, MEMBER = 0, 6
"""The modes of splits that ask ``x <= threshold``, and whether x is one of the numbers that ``membership_values`` has for it,
up to the next NaN."""
SUM, NO_TRANSFORM = 1, 0


def ensemble_attributes(forest: Forest, names: tuple[str, ...]) -> dict[str, Any]:
    """The attributes of the operator, as lists and arrays, for rows whose columns have these names."""
    trees = _with_start(forest)
    splits, leaves = _with_splits(trees), trees.feature == LEAF
    count = len(splits.feature)
    tree_of_leaf = np.repeat(np.arange(len(trees)), np.diff(trees.offsets))[leaves]
    columns = np.asarray([*(names.index(name) for name in forest.feature_names), 0])  # a leaf's −1 finds the last
    asked = splits.sets.asked if trees.has_sets else np.zeros(count, np.bool_)
    lists = {"membership_values": _lists(splits.sets)} if trees.has_sets else {}
    return lists | {
        "aggregate_function": SUM,
        "post_transform": NO_TRANSFORM,
        "n_targets": forest.outputs,
        "tree_roots": splits.roots.tolist(),
        "nodes_featureids": columns[splits.feature].tolist(),
        "nodes_splits": splits.threshold,
        "nodes_modes": np.where(asked, MEMBER, AT_MOST).astype(np.uint8),
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
        sets=node_sets([trees.set_of(node) or None for node in np.flatnonzero(split).tolist()]),
    )


def _lists(sets: NodeSets) -> Floats:
    """The codes of all sets, a NaN behind each."""
    nodes, codes = np.divmod(sets.keys, MOST)
    ends = np.searchsorted(nodes, np.flatnonzero(sets.asked), side="right")
    return np.insert(codes.astype(SCORE), ends, np.nan)


def _sets_of_lists(modes: npt.NDArray[Any], values: Floats, leaves: int) -> NodeSets:
    """The sets of splits, and none for the leaves behind them."""
    ends = np.flatnonzero(np.isnan(values))
    assert len(ends) == (modes == MEMBER).sum()
    starts = np.concatenate((np.zeros(1, np.int64), ends + 1))
    assert starts[-1] == len(values)
    lists = iter([values[first:end].astype(np.int64).tolist() for first, end in zip(starts[:-1], ends, strict=True)])
    return node_sets([*(next(lists) if mode == MEMBER else None for mode in modes), *[None] * leaves])


def ensemble_sums(attributes: dict[str, Any], matrix: Reals) -> Floats:
    """What the operator gives, read from its attributes: rows × targets."""
    assert attributes["aggregate_function"] == SUM
    assert attributes["post_transform"] == NO_TRANSFORM
    assert np.isin(attributes["nodes_modes"], (AT_MOST, MEMBER)).all()
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
        sets=_sets_of_lists(attributes["nodes_modes"], attributes.get("membership_values", np.zeros(0)), leaves),
    )
    values = table.leaf_values(matrix)
    targets = np.concatenate((np.zeros(count, np.int64), attributes["leaf_targetids"]))
    target = replace(table, value=targets).leaf_values(matrix)
    sums = [sum_in_order(np.where(target == number, values, SCORE(0.0))) for number in range(attributes["n_targets"])]
    return np.column_stack(sums).astype(SCORE)
