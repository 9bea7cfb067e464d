"""Solr's learning-to-rank models: trees as forests, weights as linear rankers, layers of tanh units as nets.

Solr works in float32. A row goes left when ``x <= t``, where t is the threshold of the file plus 1e-6 in float32; a leaf
counts its value times the weight of its tree, rounded to float32, and their sum is rounded at every step, so scores agree to
the last bits of float32. A missing value is 0, unless ``isNullSameAsZero`` is false: then splits say where it goes.

A normaliser turns a value into (value − centre) / spread, in float32. In trees it is folded into the thresholds: that never
sends a row elsewhere, because rounding keeps the order of values, so that some float32 value is the last to go left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Floats
from rankinite.errors import DataError, cut, listed, quoted
from rankinite.models.files.nested_trees import LeafNode, SplitNode, tree_of
from rankinite.models.files.parsed import Parsed
from rankinite.models.forest import Forest
from rankinite.models.history import MISSING_VALUES
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.trees.structure import Trees, join

SLACK = np.float32(1e-6)
"""What Solr adds to thresholds."""
FINITE = 0x7F800000
"""Float32 numbers whose bits are below this, the sign left out, are finite."""
NORMALISERS = {"StandardNormalizer": ("avg", "std"), "MinMaxNormalizer": ("min", "max")}
"""Solr's normalisers → their parameters."""
_Layer = tuple[Floats, Floats]
"""Weights, outputs × inputs, and biases."""


@dataclass(frozen=True)
class _Norm:
    """A normaliser: (value − centre) / spread in float32."""

    centre: float = 0.0
    spread: float = 1.0

    def applied(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Values as the model sees them."""
        with np.errstate(over="ignore", under="ignore"):
            return (values - np.float32(self.centre)) / np.float32(self.spread)

    def last_left(self, thresholds: Floats) -> Floats:
        """The largest float32 value that is at most each threshold when normalised."""
        low = np.full(len(thresholds), -FINITE, np.int64)
        high = np.full(len(thresholds), FINITE - 1, np.int64)  # places in the order of all float32 numbers
        while (low < high).any():
            middle = (low + high + 1) // 2
            left = self.applied(_at(middle)) <= thresholds
            low, high = np.where(left, middle, low), np.where(left, high, middle - 1)
        return _at(low).astype(np.float64)


def _at(places: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The float32 numbers at places in their order, 0 being at 0."""
    return np.copysign(np.abs(places).astype(np.uint32).view(np.float32), places.astype(np.float32))


def solr_model(model: Any, all_trees: bool = False) -> Forest | Linear | Net:  # noqa: ARG001 - all trees count in Solr
    """The ranker of a model in Solr's model store, from the value that the file stands for."""
    whole = Parsed(model, "Solr")
    kind = whole["class"].text().rpartition(".")[2]
    if kind not in _READERS:
        wraps = kind == "DefaultWrapperModel"
        raise DataError(
            "this Solr model is a wrapper: the model itself is in the resource that it names"
            if wraps
            else f"this Solr model is a {cut(kind)}",
            place="class",
            value=kind,
            rule="" if wraps else f"Models that can be read are {listed(_READERS)}",
            remedy="Load the file that `params.resource` names" if wraps else "Train one of these",
        )
    features = whole["features"].entries()
    names = tuple(feature["name"].text() for feature in features)
    return _READERS[kind](whole["params"], names, [_norm(feature.get("norm")) for feature in features])


def _norm(written: Parsed | None) -> _Norm:
    """The normaliser of a feature; refuses one that turns values round."""
    if written is None:
        return _Norm()
    kind = written["class"].text().rpartition(".")[2]
    if kind == "IdentityNormalizer":
        return _Norm()
    if kind not in NORMALISERS:
        raise DataError(
            f"there is a normaliser {quoted(kind)}",
            place=written.path,
            value=kind,
            rule=f"Normalisers that can be folded into a model are {listed(NORMALISERS)}",
            remedy="Normalise the features before they are given to the model",
        )
    first, second = (written["params"][name].float32() for name in NORMALISERS[kind])
    with np.errstate(over="ignore"):
        spread = second if kind == "StandardNormalizer" else float(np.float32(second) - np.float32(first))
    if not 0.0 < spread < math.inf:
        raise written["params"].wrong(f"{' and '.join(NORMALISERS[kind])} with a spread above 0")
    return _Norm(first, spread)


def _settings(kind: str, *, missing_values: bool | None = None) -> dict[str, Any]:
    return {"learner": "Solr", "objective": kind} | ({} if missing_values is None else {MISSING_VALUES: missing_values})


# ---- trees ------------------------------------------------------------------------------------------------------------


def _trees(params: Parsed, names: tuple[str, ...], norms: list[_Norm]) -> Forest:
    zero = params.get("isNullSameAsZero")
    if zero is not None and not isinstance(zero.value, bool):
        raise zero.wrong("true or false")
    null_is_zero = zero is None or bool(zero.value)
    number_of = {name: number for number, name in enumerate(names)}
    zeros = [float(norm.applied(np.zeros(1, np.float32))[0]) for norm in norms]
    trees = join([_tree(tree, number_of, zeros, null_is_zero=null_is_zero) for tree in params["trees"].entries()])
    threshold = trees.threshold.copy()
    for number, norm in enumerate(norms):
        asked = trees.feature == number
        if norm != _Norm() and asked.any():
            threshold[asked] = norm.last_left(threshold[asked])
    settings = _settings("MultipleAdditiveTreesModel", missing_values=False if null_is_zero else None)
    return Forest(trees=replace(trees, threshold=threshold), feature_names=names, settings=settings)


def _tree(tree: Parsed, number_of: dict[str, int], zeros: list[float], *, null_is_zero: bool) -> Trees:
    """One tree with thresholds for normalised values; ``zeros``: what 0 is as each feature's."""
    weight = np.float32(tree["weight"].float32())

    def read(node: Parsed) -> LeafNode | SplitNode:
        feature = node.get("feature")
        if feature is None:
            with np.errstate(over="ignore"):  # a value that is not finite is refused with the forest
                return LeafNode(float(weight * np.float32(node["value"].float32())))
        number = number_of.get(feature.text())
        if number is None:
            raise DataError(
                f"a split asks for {quoted(feature.value)}, which is not among the features: its tree is 0 in Solr",
                place=feature.path,
                value=feature.value,
                remedy="Add it to the features of the model, or leave out this tree",
            )
        threshold, missing = _slackened(node["threshold"]), node.get("missing")
        if null_is_zero or missing is None:  # a split that does not say is on a feature that is never missing
            return SplitNode(number, threshold, zeros[number] <= threshold, node["left"], node["right"])
        return SplitNode(number, threshold, missing.text() == "left", node["left"], node["right"])

    return tree_of(tree["root"], read)


def _slackened(threshold: Parsed) -> float:
    """The threshold that Solr compares with; Java reads "Infinity", which every number is below."""
    if threshold.value == "Infinity":
        return float("inf")
    with np.errstate(over="ignore"):
        return float(np.float32(threshold.float32()) + SLACK)


# ---- weights ----------------------------------------------------------------------------------------------------------


def _linear(params: Parsed, names: tuple[str, ...], norms: list[_Norm]) -> Linear:
    weights = np.asarray([params["weights"][name].float32() for name in names])
    scaled, shift = _folded(weights, norms)
    return Linear(names, scaled, bias=float(shift), nan="mean", settings=_settings("LinearModel"))


def _net(params: Parsed, names: tuple[str, ...], norms: list[_Norm]) -> Net:
    """A net; layers without an activation are multiplied into the one behind them."""
    layers, waiting = list[_Layer](), None
    written, inputs = params["layers"].entries(), len(names)
    for number, entry in enumerate(written):
        matrix, bias = _layer(entry, inputs)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with the net
            if number == 0:
                matrix, shift = _folded(matrix, norms)
                bias = bias + shift
            if waiting is not None:
                matrix, bias = matrix @ waiting[0], matrix @ waiting[1] + bias
        _check_activation(entry["activation"], last=number == len(written) - 1)
        waiting = (matrix, bias) if entry["activation"].value == "identity" else None
        layers += [] if waiting is not None else [(matrix, bias)]
        inputs = len(bias)
    if waiting is None or inputs != 1:
        raise params["layers"].wrong("a list of layers, the last of which has one unit")
    weights = np.concatenate([np.concatenate((matrix.ravel(), bias)) for matrix, bias in (*layers, waiting)])
    hidden = tuple(len(bias) for _, bias in layers)
    centre, scale = np.zeros(len(names)), np.ones(len(names))
    return Net(names, hidden, weights, centre, scale, nan="mean", settings=_settings("NeuralNetworkModel"))


def _layer(written: Parsed, inputs: int) -> _Layer:
    rows = [row.numbers(np.float32, inputs) for row in written["matrix"].entries()]
    if not rows:
        raise written["matrix"].wrong("a list of rows")
    return np.asarray(rows, np.float64), written["bias"].numbers(np.float32, len(rows)).astype(np.float64)


def _check_activation(activation: Parsed, *, last: bool) -> None:
    """Refuse what a net here has not: other functions than tanh, and any behind the output."""
    if activation.text() not in (("identity",) if last else ("identity", "tanh")):
        raise DataError(
            f"{'the last layer' if last else 'a layer'} has the activation {quoted(activation.value)}",
            place=activation.path,
            value=activation.value,
            rule="Nets have tanh units, or none, in their layers, and none in the last",
            remedy="Train a net with tanh units and a linear output",
        )


def _folded(weights: Floats, norms: list[_Norm]) -> tuple[Floats, npt.NDArray[np.float64]]:
    """Weights (… × features) of values as they come, and what their normalisers add to the bias."""
    spread, centre = np.asarray([norm.spread for norm in norms]), np.asarray([norm.centre for norm in norms])
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with the ranker
        scaled = weights / spread
        return scaled, -(scaled @ centre)


_READERS = {"MultipleAdditiveTreesModel": _trees, "LinearModel": _linear, "NeuralNetworkModel": _net}
