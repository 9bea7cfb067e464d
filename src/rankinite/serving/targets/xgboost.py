"""XGBoostModel: a model that XGBoost loads, as JSON and as UBJSON.

XGBoost asks ``x < threshold`` in float32 and adds leaves in float32, tree by tree, from its base score on. That score is 0
here and the start is in the first tree's leaves, so that nothing depends on how a version treats it. Of single rows it takes
the node after the left child for the right one, whatever the file says, so nodes are numbered level by level. How it asks for
categories is in ``xgboost_sets``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Indices, Reals
from rankinite.models.files.ubjson import parse_ubjson
from rankinite.serving.float32 import above32
from rankinite.serving.node_table import NodeTable, node_sets, sum_in_order
from rankinite.serving.plan import ExportPlan, positive_cover
from rankinite.serving.target import Files, Target, Twin, float32_prediction
from rankinite.serving.targets.tree_limits import check_leaves
from rankinite.serving.targets.xgboost_sets import (
    frame_categories,
    matches_names,
    read_sets,
    turned_trees,
    whole_codes,
    written_sets,
)
from rankinite.serving.ubjson_encoder import ubjson
from rankinite.trees.structure import LEAF, Trees

TEXT, BINARY = "model.json", "model.ubj"
VERSION = [2, 0, 0]
"""The version that the file says wrote it: later ones read it too."""
NO_PARENT = 2**31 - 1
NEARLY_NONE = 2.0**-30
"""The share of its tree's curvature that a leaf without any has: XGBoost divides by it where it splits scores by feature."""
CATEGORY, NUMBER = "c", "float"
"""Types of features as XGBoost names them."""


class XGBoostModel(Target):
    """A model that ``xgboost.Booster(model_file=…)`` loads."""

    name = "xgboost"
    title = "XGBoost's model, as JSON and UBJSON"
    inputs = np.float32
    width = "float32"
    categories = "codes"
    tells_unknown = True
    feature_names = r"[^\[\]<\x00-\x1f\ud800-\udfff]+"  # XGBoost refuses matrices whose columns have such brackets in names

    def check_plan(self, plan: ExportPlan) -> None:
        """Refuse leaves beyond float32."""
        check_leaves(plan)

    def write(self, plan: ExportPlan) -> Files:
        """The model in both forms, which hold the same numbers."""
        model = _model(plan)
        return {TEXT: json.dumps(_plain(model), ensure_ascii=False, separators=(",", ":")).encode(), BINARY: ubjson(model)}

    def twin(self, files: Mapping[str, bytes], plan: ExportPlan) -> Twin:
        """Both files, read as XGBoost means them; NaN where they differ, or where what it means depends on the rows."""
        models = json.loads(files[TEXT]), parse_ubjson(files[BINARY])
        read = [_table(model) for model in models]
        types = models[0]["learner"]["feature_types"] or [""] * len(plan.names)
        category = np.asarray([kind == CATEGORY for kind in types], np.bool_)

        def score(matrix: Reals) -> Reals:
            rows = whole_codes(matrix, category) if category.any() else matrix
            of_text, of_binary = (base + sum_in_order(table.leaf_values(rows, np.less)) for base, table in read)
            return np.where(of_text == of_binary, of_text, np.float32(np.nan))

        return score

    def predicted(self, plan: ExportPlan, matrix: Reals) -> Reals:
        """Our decisions, added up in float32."""
        return float32_prediction(plan, matrix)

    def companions(self, plan: ExportPlan) -> Files:
        """A program that compares XGBoost's scores of the sample with those expected."""
        return {"check.py": CHECK.encode()}

    def notes(self, plan: ExportPlan, files: Mapping[str, bytes]) -> list[str]:
        """What becomes of the categories of a data frame."""
        if not plan.categories:
            return []
        if matches_names(plan):
            return ["XGBoost 3.1 and later find categories of a data frame by name, and refuse unknown ones; give others codes"]
        return ["XGBoost does not find names of categories with letters beyond ASCII: give it codes, not data frames of names"]


CHECK = '''"""Scores of the sample by XGBoost: run this, then: rankinite check . --scores served.txt"""

import numpy as np
import xgboost

model = xgboost.Booster(model_file="model.json")
rows = np.genfromtxt("sample.csv", delimiter=",", skip_header=1, ndmin=2, dtype=np.float32)
np.savetxt("served.txt", model.predict(xgboost.DMatrix(rows, feature_names=model.feature_names)), fmt="%s")
'''


def _model(plan: ExportPlan) -> dict[str, Any]:
    trees, features = turned_trees(plan.trees_with_start), str(len(plan.names))
    count = len(trees)
    model = {
        **frame_categories(plan),
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(count)},
        "iteration_indptr": list(range(count + 1)),
        "tree_info": [0] * count,
        "trees": [_tree(trees.take(number, number + 1), number, features) for number in range(count)],
    }
    learner = {
        "attributes": {},
        "feature_names": list(plan.names),
        "feature_types": [CATEGORY if size else NUMBER for size in plan.category_counts] if plan.categories else [],
        "gradient_booster": {"model": model, "name": "gbtree"},
        "learner_model_param": {
            "base_score": "0E0",
            "boost_from_average": "0",
            "num_class": "0",
            "num_feature": features,
            "num_target": "1",
        },
        "objective": {"lambdarank_param": {}, "name": "rank:ndcg"},
    }
    return {"learner": learner, "version": VERSION}


def _tree(tree: Trees, number: int, features: str) -> dict[str, Any]:
    """One tree, with the arrays that XGBoost asks for and their types."""
    order, left, parent = _level_by_level(tree)
    inner = tree.feature[order] != LEAF
    value = tree.value[order].astype(np.float32)
    has_set = tree.set_sizes[order] > 0
    return {
        "base_weights": value,
        **written_sets(tree, order),
        "default_left": tree.missing_left[order].astype(np.uint8),
        "id": number,
        "left_children": left,
        "loss_changes": tree.gain[order].astype(np.float32),
        "parents": parent,
        "right_children": np.where(inner, left + 1, -1).astype(np.int32),
        "split_conditions": np.where(has_set, np.float32(0), np.where(inner, above32(tree.threshold[order]), value)),
        "split_indices": np.where(inner, tree.feature[order], 0).astype(np.int32),
        "split_type": has_set.astype(np.uint8),
        "sum_hessian": positive_cover(tree, tree.curvature, NEARLY_NONE * float(tree.curvature[0]))[order].astype(np.float32),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": features,
            "num_nodes": str(len(order)),
            "size_leaf_vector": "1",
        },
    }


def _level_by_level(tree: Trees) -> tuple[Indices, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The nodes in order of their levels, the new number of each one's left child (−1 in leaves), and of its parent."""
    order, left, parent = [0], list[int](), [NO_PARENT]
    for place in range(len(tree.feature)):
        node = order[place]
        if tree.feature[node] == LEAF:
            left.append(-1)
            continue
        left.append(len(order))
        order += (int(tree.left[node]), int(tree.right[node]))
        parent += (place, place)
    return np.asarray(order), np.asarray(left, np.int32), np.asarray(parent, np.int32)


def _plain(value: Any) -> Any:
    """A value as JSON has it; float32 by the shortest decimal that is read back as the same."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        return [float(text) for text in value.astype(str).tolist()]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _table(model: Any) -> tuple[np.float32, NodeTable]:
    """The base score and the trees, as XGBoost means them."""
    learner = model["learner"]
    trees = learner["gradient_booster"]["model"]["trees"]
    offsets = np.cumsum([0, *(len(tree["left_children"]) for tree in trees)])
    left = [np.asarray(tree["left_children"]) for tree in trees]
    first = np.concatenate(
        [np.where(own < 0, np.arange(len(own)), own) + root for own, root in zip(left, offsets, strict=False)]
    )
    inner = np.concatenate(left) >= 0
    condition = np.concatenate([np.asarray(tree["split_conditions"], np.float32) for tree in trees])
    members = read_sets(trees)
    has_set = np.asarray([codes is not None for codes in members], np.bool_)  # a table's sets go left, so these nodes turn
    table = NodeTable(
        feature=np.where(inner, np.concatenate([np.asarray(tree["split_indices"]) for tree in trees]), LEAF).astype(np.int32),
        threshold=condition,
        missing_left=np.concatenate([np.asarray(tree["default_left"]) for tree in trees]).astype(bool) ^ has_set,
        left=first + has_set,
        right=first + (inner & ~has_set),
        value=np.where(inner | _neighbours(trees), condition, np.float32(np.nan)),
        roots=offsets[:-1],
        sets=node_sets(members if has_set.any() else []),
    )
    return np.float32(learner["learner_model_param"]["base_score"]), table


def _neighbours(trees: Any) -> bool:
    """Whether all right children follow the left ones: else XGBoost scores single rows otherwise than many."""
    pairs = [(np.asarray(tree["left_children"]), np.asarray(tree["right_children"])) for tree in trees]
    return all(bool((right == np.where(left < 0, -1, left + 1)).all()) for left, right in pairs)
