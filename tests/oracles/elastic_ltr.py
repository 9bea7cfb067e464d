"""Elasticsearch's own learning to rank: a trained model read strictly, and evaluated one row and one node at a time."""

from __future__ import annotations

import base64
import gzip
import math

import numpy as np

from oracles.ltr_plugins import strict_json

INNER = {
    "node_index",
    "number_samples",
    "decision_type",
    "threshold",
    "split_feature",
    "default_left",
    "left_child",
    "right_child",
}
LEAF = {"node_index", "number_samples", "leaf_value"}


def elastic_scores(body, names, matrix, *, lifts):
    """The scores of rows whose columns have these names; ``lifts``: whether this version adds to scores that may be below 0."""
    request = strict_json(body)
    assert set(request) == {"description", "compressed_definition", "inference_config"}
    extractors = request["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert all(set(entry) == {"query_extractor"} for entry in extractors)
    extracted = [entry["query_extractor"]["feature_name"] for entry in extractors]
    assert len(set(extracted)) == len(extracted)
    trees = trees_of(strict_json(gzip.decompress(base64.b64decode(request["compressed_definition"]))))
    lowest = added([min(node["leaf_value"] for node in tree["tree_structure"] if "leaf_value" in node) for tree in trees])
    lift = -lowest if lifts and lowest < 0 else 0.0
    scores = []
    for row in matrix:
        features = {
            name: float(value) for name, value in zip(names, row, strict=True) if name in extracted and not np.isnan(value)
        }
        scores.append(np.float32(added([leaf(tree, features) for tree in trees]) + lift))
    return np.asarray(scores, np.float32)


def trees_of(definition):
    """The trees of a definition; refuses keys that are unknown or lacking, and children that are none."""
    assert set(definition) == {"trained_model"}
    ensemble = definition["trained_model"]["ensemble"]
    assert set(ensemble) == {"feature_names", "target_type", "trained_models", "aggregate_output"}
    assert ensemble["aggregate_output"] == {"weighted_sum": {}}
    trees = [model["tree"] for model in ensemble["trained_models"]]
    assert trees
    for tree in trees:
        assert set(tree) == {"feature_names", "target_type", "tree_structure"}
        assert tree["target_type"] == ensemble["target_type"] == "regression"
        nodes = tree["tree_structure"]
        for number, node in enumerate(nodes):
            assert set(node) in (INNER, LEAF), node
            assert node["node_index"] == number
            assert "leaf_value" in node or 0 < node["left_child"] < len(nodes) > node["right_child"] > 0
    return trees


def leaf(tree, features):
    """The value of the leaf that a row comes to; what is absent or not finite is missing."""
    node = tree["tree_structure"][0]
    while "leaf_value" not in node:
        assert node["decision_type"] == "lte"
        value = features.get(tree["feature_names"][node["split_feature"]], math.nan)
        left = value <= node["threshold"] if math.isfinite(value) else node["default_left"]
        node = tree["tree_structure"][node["left_child" if left else "right_child"]]
    return node["leaf_value"]


def added(values):
    """``DoubleStream.sum`` of Java: the error of every addition is taken from the next value, the last one in the end."""
    total = error = 0.0
    for value in values:
        wanted = value - error
        before, total = total, total + wanted
        error = (total - before) - wanted
    return total - error
