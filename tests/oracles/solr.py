"""Solr's learning to rank, one document and one number at a time: what its Java computes from the JSON of its stores.

Every operation on floats is rounded to 32 bits, as Java's ``float`` is. The setters of trees take texts; matrices of nets must
hold numbers with a point or an exponent; a split whose feature is unknown ends its tree with 0; with ``isNullSameAsZero``
false, a split without ``missing`` fails on NaN.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache

import numpy as np

f32 = np.float32
SLACK = f32(1e-6)


@cache
def parse_float(text):
    """Float.parseFloat: the nearest of two neighbouring floats, by exact fractions; refuses anything but a text."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is not a text")
    if text in ("NaN", "Infinity", "-Infinity"):
        return f32(text.replace("Infinity", "inf"))
    exact = Fraction(text)
    with np.errstate(over="ignore"):
        near = f32(float(text))
    if not np.isfinite(near):
        return near
    choices = [near, np.nextafter(near, f32(-np.inf)), np.nextafter(near, f32(np.inf))]
    distances = [abs(Fraction(float(choice)) - exact) for choice in choices if np.isfinite(choice)]
    return choices[distances.index(min(distances))]  # near comes first: it is the even one where two are equally near


def score(model, features, row):
    """The score of a document; ``row``: name → value of the features that it has."""
    values = []
    stored = {feature["name"]: feature for feature in features}
    for entry in model["features"]:
        definition = stored[entry["name"]]  # Solr refuses a model whose feature is not in the store
        assert definition["store"] == model["store"]
        values.append(normalised(entry.get("norm"), feature_value(definition, row)))
    assert values, "no features declared"
    kinds = {"MultipleAdditiveTreesModel": trees, "LinearModel": linear, "NeuralNetworkModel": net}
    order = [entry["name"] for entry in model["features"]]
    with np.errstate(over="ignore"):
        return kinds[model["class"].split(".")[-1]](model["params"], order, values)


def feature_value(definition, row):
    """The value of a feature, or its default where the document has none."""
    params = definition["params"]
    if definition["class"].endswith("ValueFeature"):
        return f32(params["value"])
    if definition["name"] in row:
        return f32(row[definition["name"]])
    default = params.get("defaultValue", 0.0)
    return parse_float(default) if isinstance(default, str) else f32(default)


def normalised(norm, value):
    """(value − avg) / std."""
    if norm is None:
        return value
    assert norm["class"] == "org.apache.solr.ltr.norm.StandardNormalizer"
    average, spread = parse_float(norm["params"]["avg"]), parse_float(norm["params"]["std"])
    assert spread > 0
    with np.errstate(over="ignore"):
        return f32(f32(value - average) / spread)


def trees(params, order, values):
    """The sum of all trees."""
    total = f32(0.0)
    for tree in params["trees"]:
        total = f32(total + f32(parse_float(tree["weight"]) * leaf(tree["root"], order, values, params)))
    return total


def leaf(node, order, values, params):
    """The value of the leaf where a document ends."""
    null_is_zero = params.get("isNullSameAsZero", True)
    assert isinstance(null_is_zero, bool)
    while "feature" in node:
        if node["feature"] not in order:
            return f32(0.0)
        value, threshold = values[order.index(node["feature"])], f32(parse_float(node["threshold"]) + SLACK)
        if value <= threshold:
            side = "left"
        elif value > threshold or null_is_zero:
            side = "right"
        else:
            side = node["missing"]
            assert side in ("left", "right")
        node = node[side]
    assert "left" not in node
    return parse_float(node["value"])


def linear(params, order, values):
    """The sum of value × weight; a weight is missing: Solr refuses the model."""
    total = f32(0.0)
    for name, value in zip(order, values, strict=True):
        total = f32(total + f32(value * f32(params["weights"][name])))
    return total


def net(params, order, values):
    """Layer by layer."""
    for layer in params["layers"]:
        outputs = []
        for row, bias in zip(layer["matrix"], layer["bias"], strict=True):
            total = double_to_float(bias)
            for weight, value in zip(row, values, strict=True):
                total = f32(total + f32(double_to_float(weight) * value))
            outputs.append({"tanh": lambda number: f32(math.tanh(number)), "identity": f32}[layer["activation"]](total))
        values = outputs
    assert len(values) == 1
    return values[0]


def double_to_float(number):
    """Java casts to Double: a whole number would be a Long, and fail."""
    if not isinstance(number, float):
        raise TypeError(f"{number!r} is not a Double")
    return f32(number)


def scores_of(files, names, matrix):
    """The scores of rows, NaN meaning that a document does not have the feature."""
    model, features = json.loads(files["model.json"]), json.loads(files["features.json"])
    rows = [{name: value for name, value in zip(names, row, strict=True) if not np.isnan(value)} for row in matrix]
    return np.asarray([score(model, features, row) for row in rows], np.float32)
