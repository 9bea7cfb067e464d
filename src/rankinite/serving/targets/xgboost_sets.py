"""Categories in XGBoost's models: sets of codes that go right, and the names that data frames are matched by.

A code in a node's set goes right. All other numbers go left, also those that are no code; a missing value goes where the node
says. So of ours the children change places, and missing ones go left: where all else that was never seen goes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankinite.data.categories import Vocabulary
from rankinite.engine.kernel import Flags, Indices
from rankinite.serving.categories import with_missing_right
from rankinite.serving.plan import ExportPlan
from rankinite.trees.structure import Trees

WHOLE_NUMBERS = 15
"""XGBoost's number for the type of an array of 64-bit integers."""


def turned_trees(trees: Trees, counts: Sequence[int]) -> Trees:
    """The trees with the children of every node that has a set in XGBoost's order: what is in the set goes right."""
    trees = with_missing_right(trees, counts)
    if not trees.has_sets:
        return trees
    has_set = trees.set_sizes > 0
    left, right = np.where(has_set, trees.right, trees.left), np.where(has_set, trees.left, trees.right)
    return replace(trees, left=left, right=right, missing_left=trees.missing_left | has_set)


def written_sets(tree: Trees, order: Indices) -> dict[str, Any]:
    """The arrays of sets of a tree whose nodes are written in this order."""
    sizes = tree.set_sizes[order]
    nodes = np.flatnonzero(sizes)
    codes = [code for node in order[nodes].tolist() for code in tree.set_of(node)]
    return {
        "categories": np.asarray(codes, np.int32),
        "categories_nodes": nodes.astype(np.int32),
        "categories_segments": (np.cumsum(sizes[nodes]) - sizes[nodes]).astype(np.int64),
        "categories_sizes": sizes[nodes].astype(np.int64),
    }


def read_sets(trees: Any) -> list[list[int] | None]:
    """The codes that go right at every node of all trees; None: the node has none."""
    found: list[list[int] | None] = []
    for tree in trees:
        sets: list[list[int] | None] = [None] * len(tree["left_children"])
        codes = np.asarray(tree["categories"]).tolist()
        for node, first, size in zip(*(tree[f"categories_{name}"] for name in ("nodes", "segments", "sizes")), strict=True):
            sets[int(node)] = codes[int(first) : int(first) + int(size)]
        kinds = np.asarray(tree["split_type"], np.bool_)
        assert [one is not None for one in sets] == kinds.tolist()
        found += sets
    return found


def matches_names(plan: ExportPlan) -> bool:
    """Whether XGBoost 3 can find categories of a data frame by name: it cuts names with other letters than ASCII's wrongly."""
    return all(name.isascii() for vocabulary in plan.categories.values() for name in vocabulary.names)


def frame_categories(plan: ExportPlan) -> dict[str, Any]:
    """The vocabularies, by which XGBoost 3 finds the codes of a data frame's categories; earlier versions leave them aside."""
    if not plan.categories or not matches_names(plan):
        return {}
    vocabularies = [plan.categories.get(name) for name in plan.names]
    order = [_order(one) for one in vocabularies]
    cats = {
        "enc": [_encoded(one) for one in vocabularies],
        "feature_segments": np.cumsum([0, *map(len, order)]).astype(np.int32),
        "sorted_idx": np.concatenate(order).astype(np.int32),
    }
    return {"cats": cats}


def _encoded(vocabulary: Vocabulary | None) -> dict[str, Any]:
    if vocabulary is not None and vocabulary.numeric:
        return {"type": WHOLE_NUMBERS, "values": np.asarray([int(name) for name in vocabulary.names], np.int64)}
    names = () if vocabulary is None else vocabulary.names
    bounds = [] if vocabulary is None else np.cumsum([0, *map(len, names)])
    return {"offsets": np.asarray(bounds, np.int32), "values": np.frombuffer("".join(names).encode(), np.int8)}


def _order(vocabulary: Vocabulary | None) -> Indices:
    """The codes in the order of what they stand for, in which XGBoost searches."""
    names = () if vocabulary is None else vocabulary.names
    keys: Sequence[Any] = [int(name) for name in names] if vocabulary is not None and vocabulary.numeric else names
    return np.asarray(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


def whole_codes(matrix: Any, category: Flags) -> Any:
    """Rows in which numbers between −1 and 0 are no codes, as XGBoost has it: of others the whole part counts."""
    return np.where(category & (matrix > -1) & (matrix < 0), matrix.dtype.type(-1), matrix)
