"""Solr's twin: the JSON of a model and its features, computed as Solr's Java does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rankinite.engine.kernel import Features, Reals
from rankinite.models.files.parsed import java_float
from rankinite.serving.node_table import sum_in_order, table_of_nested
from rankinite.serving.target import Twin
from rankinite.serving.targets.solr_layers import SolrLayers
from rankinite.serving.targets.solr_thresholds import SLACK

Model = Callable[[Features], Features]
"""Scores of normalised values."""


def solr_twin(model: Any, features: list[Any], names: tuple[str, ...]) -> Twin:
    """The scores of rows × names."""
    order = [feature["name"] for feature in model["features"]]
    params = {feature["name"]: feature["params"] for feature in features}
    norms = [feature.get("norm", {}).get("params", {"avg": "0", "std": "1"}) for feature in model["features"]]
    average, spread = (np.asarray([java(norm[part]) for norm in norms], np.float32) for part in ("avg", "std"))
    scored = KINDS[model["class"].rpartition(".")[2]](model["params"], order)

    def score(matrix: Reals) -> Reals:
        values = np.empty((len(matrix), len(order)), np.float32)
        for column, name in enumerate(order):
            if name not in names:
                values[:, column] = params[name]["value"]
                continue
            found = matrix[:, names.index(name)]
            values[:, column] = np.where(np.isnan(found), np.float32(java(params[name].get("defaultValue", "0"))), found)
        with np.errstate(over="ignore"):
            return scored((values - average) / spread)

    return score


def java(text: str) -> float:
    """Java's Float.parseFloat."""
    named = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    return named[text] if text in named else java_float(text)


def _trees(params: Any, order: list[str]) -> Model:
    place = {name: number for number, name in enumerate(order)}
    keeps = params.get("isNullSameAsZero", True) is False

    def node(written: Any) -> dict[str, Any]:
        if "feature" not in written:
            return {"value": java(written["value"])}
        return {
            "feature": place[written["feature"]],
            "threshold": np.float32(java(written["threshold"])) + SLACK,
            "missing_left": keeps and written["missing"] == "left",  # NaN is at most nothing: it goes right
            "left": written["left"],
            "right": written["right"],
        }

    table = table_of_nested([tree["root"] for tree in params["trees"]], node, np.float32)
    weights = np.asarray([java(tree["weight"]) for tree in params["trees"]], np.float32)
    return lambda values: sum_in_order(table.leaf_values(values) * weights)


def _layers(params: Any, order: list[str]) -> Model:
    layers = tuple(
        (np.asarray(layer["matrix"], np.float32), np.asarray(layer["bias"], np.float32)) for layer in params["layers"]
    )
    activations = [layer["activation"] for layer in params["layers"]]
    assert activations == ["tanh"] * (len(layers) - 1) + ["identity"]
    return _plain(layers, len(order))


def _linear(params: Any, order: list[str]) -> Model:
    weights = np.asarray([[params["weights"][name] for name in order]], np.float32)
    return _plain(((weights, np.zeros(1, np.float32)),), len(order))


def _plain(layers: tuple[tuple[Features, Features], ...], inputs: int) -> Model:
    """Layers over values that are normalised already."""
    return SolrLayers(np.zeros(inputs, np.float32), np.ones(inputs, np.float32), layers).score


KINDS: dict[str, Callable[[Any, list[str]], Model]] = {
    "MultipleAdditiveTreesModel": _trees,
    "LinearModel": _linear,
    "NeuralNetworkModel": _layers,
}
"""The class of a model → what it computes."""
