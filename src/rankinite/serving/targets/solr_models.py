"""Models and features for Solr's stores, as JSON has them.

Solr's setters take thresholds, values and weights of trees as text, and the numbers of nets only with a point in them. A split
on a feature that the model does not list makes its tree 0 without a word, so features and trees are written together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from rankinite.engine.kernel import Features
from rankinite.errors import ArgumentError
from rankinite.models.net import Net
from rankinite.serving.float32 import shortest
from rankinite.serving.plan import ExportPlan
from rankinite.serving.targets.solr_layers import solr_layers
from rankinite.serving.targets.solr_thresholds import solr_thresholds
from rankinite.trees.structure import LEAF

MODELS = "org.apache.solr.ltr.model."
FEATURES = "org.apache.solr.ltr.feature."
NORMALISER = "org.apache.solr.ltr.norm.StandardNormalizer"
CONSTANT = "constant"
"""The feature that is always 1: Solr's linear models have no bias, and no model may be without features."""


def solr_files(plan: ExportPlan) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The model, and the features that it needs."""
    return _trees(plan) if plan.flat.forest is not None else _layers(plan)


def check_writable(plan: ExportPlan) -> None:
    """Refuse thresholds that cannot be reached, numbers beyond float32, and queries that are none."""
    if plan.flat.forest is not None:
        solr_thresholds(plan.trees, plan.names)
    elif not plan.names and isinstance(plan.flat.terms[0].leaf, Net):
        raise ArgumentError("the net depends on no feature", value=(), rule="Solr refuses models without features")
    else:
        solr_layers(plan)
    solr_features(plan, plan.names, {})


def _trees(plan: ExportPlan) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    trees = plan.trees_with_start
    thresholds = solr_thresholds(trees, plan.names)
    keeps = plan.missing == "nan"
    value, root = trees.value.astype(np.float32), np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    nodes = list[dict[str, Any]]()
    for node in reversed(range(len(trees.feature))):  # children come after their parents
        if trees.feature[node] == LEAF:
            nodes.append({"value": _text(value[node])})
            continue
        left, right = (nodes[len(trees.feature) - 1 - int(root[node] + side[node])] for side in (trees.left, trees.right))
        missing = {"missing": "left" if trees.missing_left[node] else "right"} if keeps else {}
        feature = {"feature": plan.names[trees.feature[node]], "threshold": _text(thresholds.texts[node])}
        nodes.append(feature | missing | {"left": left, "right": right})
    written = [{"weight": "1.0", "root": nodes[len(nodes) - 1 - int(first)]} for first in trees.offsets[:-1]]
    params = ({"isNullSameAsZero": False} if keeps else {}) | {"trees": written}
    norms = [_norm(np.float32(0.0), np.float32(2.0**-power)) for power in thresholds.doublings]
    names = (*plan.names, *(() if plan.names else (CONSTANT,)))
    features = [_named(name, norm) for name, norm in zip(names, norms or [{}], strict=True)]
    default = dict.fromkeys(plan.names, "NaN") if keeps else {}
    return _model(plan, "MultipleAdditiveTreesModel", features, params), solr_features(plan, names, default)


def _layers(plan: ExportPlan) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    found = solr_layers(plan)
    norms = [_norm(*pair) for pair in zip(found.average, found.spread, strict=True)]
    features = [_named(name, norm) for name, norm in zip(plan.names, norms, strict=True)]
    weights, biases = found.layers[-1]
    if isinstance(plan.flat.terms[0].leaf, Net):
        last = len(found.layers) - 1
        layers = [
            {"matrix": _numbers(matrix), "bias": _numbers(bias), "activation": "identity" if number == last else "tanh"}
            for number, (matrix, bias) in enumerate(found.layers)
        ]
        kind, params, names = "NeuralNetworkModel", {"layers": layers}, plan.names
    else:
        constant = own_name(plan) if biases[0] != 0.0 or not plan.names else None
        pairs = dict(zip(plan.names, _numbers(weights[0]), strict=True))
        params = {"weights": ({constant: _numbers(biases)[0]} if constant else {}) | pairs}
        features = [*([_named(constant, {})] if constant else []), *features]
        kind, names = "LinearModel", (*([constant] if constant else []), *plan.names)
    defaults = dict(zip(plan.names, map(_text, found.average), strict=True)) if plan.missing == "nan" else {}
    return _model(plan, kind, features, params), solr_features(plan, names, defaults)


def own_name(plan: ExportPlan) -> str:
    """A name for the constant that no feature has."""
    name = CONSTANT
    while name in plan.names:
        name += "_"
    return name


def _model(plan: ExportPlan, kind: str, features: list[dict[str, Any]], params: dict[str, Any]) -> dict[str, Any]:
    return {"store": plan.name, "name": plan.name, "class": MODELS + kind, "features": features, "params": params}


def _named(name: str, norm: dict[str, Any]) -> dict[str, Any]:
    return {"name": name} | ({"norm": norm} if norm else {})


def _norm(average: Any, spread: Any) -> dict[str, Any]:
    if average == 0.0 and spread == 1.0:
        return {}
    return {"class": NORMALISER, "params": {"avg": _text(average), "std": _text(spread)}}


def _text(number: Any) -> str:
    """A float32 as Java reads it."""
    if np.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return shortest(number)


def _numbers(numbers: Features) -> Any:
    """Numbers of which JSON keeps every bit; json writes floats with a point or an exponent."""
    return numbers.astype(np.float64).tolist()


def solr_features(plan: ExportPlan, names: tuple[str, ...], defaults: Mapping[str, str]) -> list[dict[str, Any]]:
    """The definitions of features; ``defaults``: what those count as that a document does not have, 0 if left out."""
    return [_feature(plan, name, defaults.get(name)) for name in names]


def _feature(plan: ExportPlan, name: str, default: str | None) -> dict[str, Any]:
    if name not in plan.names:
        return {"store": plan.name, "name": name, "class": FEATURES + "ValueFeature", "params": {"value": 1.0}}
    kind, params = _query(name, plan.feature_queries.get(name, placeholder(name)))
    params = params | ({} if default is None else {"defaultValue": default})
    return {"store": plan.name, "name": name, "class": kind, "params": params}


def placeholder(name: str) -> str:
    """A query that Solr refuses to run, unlike one that would quietly find nothing."""
    return f"${{fill_in_{re.sub(r'[^A-Za-z0-9_]', '_', name)}}}"


def _query(name: str, query: Any) -> tuple[str, dict[str, Any]]:
    """The class and parameters of a feature; refuses what is neither a text nor a definition."""
    if isinstance(query, str):
        return FEATURES + "SolrFeature", {"q": query}
    table = cast("dict[str, Any]", query) if isinstance(query, dict) else {}
    params: Any = table.get("params", {}) if "class" in table else table
    if not table or not isinstance(params, dict) or not isinstance(table.get("class", ""), str):
        raise ArgumentError(
            f"has no query for {name!r} that Solr could run",
            setting="feature_queries",
            value=query,
            rule="A query is the text of one, or the definition of a feature",
            remedy='Give "{!func}log(price)" or {"class": "…FieldValueFeature", "params": {"field": "price"}}',
        )
    if "defaultValue" in params:
        raise ArgumentError(
            f"gives {name!r} a default value",
            setting="feature_queries",
            value=params["defaultValue"],
            rule="The export sets it: what a missing value counts as is part of the model",
            remedy="Leave defaultValue out, and give `served_missing`",
        )
    return table.get("class", FEATURES + "SolrFeature"), cast("dict[str, Any]", params)
