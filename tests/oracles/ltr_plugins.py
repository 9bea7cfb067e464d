"""The learning-to-rank plugins of Elasticsearch and OpenSearch: requests read as strictly as they read them, and evaluated."""

from __future__ import annotations

import json

import numpy as np

from oracles.ranklib_models import ranklib_scores

SPLIT = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}
LEAF = {"nodeid", "leaf"}
FEATURE = {"name", "params", "template_language", "template"}


def strict_json(content):
    """JSON without NaN, infinities or keys that come twice."""

    def once(pairs):
        assert len(dict(pairs)) == len(pairs), f"a key comes twice: {pairs}"
        return dict(pairs)

    def no_constant(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(content, object_pairs_hook=once, parse_constant=no_constant)


def feature_set(content):
    """The names of a feature set's features, in order."""
    body = strict_json(content)
    assert set(body) == {"validation", "featureset"}
    assert set(body["validation"]) == {"params", "index"}
    assert {name for feature in body["featureset"]["features"] for name in feature["params"]} <= set(
        body["validation"]["params"]
    )
    assert set(body["featureset"]) == {"name", "features"}
    for feature in body["featureset"]["features"]:
        assert set(feature) <= FEATURE
        assert {"name", "template"} <= set(feature)
        assert isinstance(feature["template"], dict | str)
        assert all(isinstance(name, str) for name in feature["params"])
    names = [feature["name"] for feature in body["featureset"]["features"]]
    assert len(set(names)) == len(names)
    return names


def plugin_scores(model, features, names, matrix, rule):
    """The scores of rows whose columns have these names; ``rule``: where a missing feature goes: zero, right or direction."""
    body = strict_json(model)
    assert set(body) == {"model"}
    assert set(body["model"]) == {"name", "model"}
    kind, definition = body["model"]["model"]["type"], body["model"]["model"]["definition"]
    known = feature_set(features)
    columns = [names.index(name) for name in known]
    if kind == "model/ranklib":
        vectors = [{1 + place: row[column] for place, column in enumerate(columns)} for row in matrix]
        return ranklib_scores(definition, vectors).astype(np.float32)
    assert kind == "model/xgboost+json"
    assert isinstance(definition, list)
    assert definition, "there must be a tree"
    for tree in definition:
        check_node(tree, set(known))
    return np.asarray([_sum(definition, dict(zip(names, row, strict=True)), rule) for row in matrix], np.float32)


def check_node(node, known):
    """Refuse a node with unknown, missing or wrong keys."""
    if "leaf" in node:
        assert set(node) == LEAF, set(node) ^ LEAF
        assert isinstance(node["leaf"], int | float)
        return
    assert set(node) == SPLIT, set(node) ^ SPLIT
    assert all(type(node[name]) is int for name in ("nodeid", "depth", "yes", "no", "missing"))
    assert node["split"] in known, f"Unknown feature [{node['split']}]"
    assert [child["nodeid"] for child in node["children"]] == [node["yes"], node["no"]]
    assert node["missing"] in {node["yes"], node["no"]}
    for child in node["children"]:
        check_node(child, known)


def _sum(trees, row, rule):
    total = np.float32(0)
    for tree in trees:
        node = tree
        while "leaf" not in node:
            yes, no = node["children"]
            value = np.float32(row[node["split"]])
            if np.isnan(value) and rule == "zero":
                value = np.float32(0)
            if np.isnan(value):
                node = yes if rule == "direction" and node["missing"] == node["yes"] else no
            else:
                node = yes if np.float32(node["split_condition"]) > value else no
        total = np.float32(total + np.float32(node["leaf"]))
    return total


def rescored(first, second, query):
    """The scores after rescoring, in float32 as engines do it: the window by both queries' scores, the rest by the first's."""
    window, weights = query["window_size"], query["query"]
    order = np.argsort(-first, kind="stable")
    scores = first.astype(np.float32) * np.float32(weights["query_weight"])
    inside = order[:window]
    scores[inside] += second[inside].astype(np.float32) * np.float32(weights["rescore_query_weight"])
    return scores
