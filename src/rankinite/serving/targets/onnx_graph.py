"""Graph: a sum of forests, linear rankers, nets and features as operators of ONNX, all in double.

The input is rows × features, and every value in between is rows × something. Weights and sums come in the order in which a
ranker's own are made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import SCORE
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.models.normalised import LARGEST
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, Probability
from rankinite.serving.targets.onnx_trees import DOMAIN, OPERATOR, ensemble_attributes

INPUT, OUTPUT = "features", "score"


class Graph:
    """Nodes and constants as they are added; methods give the name of a value."""

    def __init__(self, onnx: Any, names: tuple[str, ...]) -> None:
        self._onnx, self._names = onnx, names
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, *inputs: str, domain: str = "", to: str = "", **attributes: Any) -> str:
        """Add a node; arrays among the attributes become tensors."""
        name = to or f"{operator}_{len(self.nodes)}"
        made = {key: self._tensor(value) if isinstance(value, np.ndarray) else value for key, value in attributes.items()}
        self.nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], domain=domain, **made))
        return name

    def constant(self, values: npt.ArrayLike) -> str:
        """Add a constant."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self._tensor(np.asarray(values), name))
        return name

    def _tensor(self, values: npt.NDArray[Any], name: str = "") -> Any:
        return self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)

    def filled(self, value: str, filling: npt.ArrayLike) -> str:
        """A value with something else in place of what is missing."""
        return self.node("Where", self.node("IsNaN", value), self.constant(filling), value)

    def sum_of(self, flat: Flat, features: str) -> str:
        """The start + the sum of weight × score over the terms: rows × 1."""
        total = self.constant(flat.start) if flat.start else ""
        endless = any(isinstance(term.leaf, Feature) for term in flat.terms)  # missing features score the lowest float
        for term in flat.terms:
            summand = self._leaf(term.leaf, features)
            if term.weight != 1.0:
                summand = self._bounded(self.node("Mul", summand, self.constant(term.weight)), needed=endless)
            total = self._bounded(self.node("Add", total, summand), needed=endless) if total else summand
        return total

    def _bounded(self, value: str, *, needed: bool) -> str:
        """Beyond all floats is the largest of them."""
        return self.node("Clip", value, self.constant(-LARGEST), self.constant(LARGEST)) if needed else value

    def _leaf(self, leaf: Leaf, features: str) -> str:
        match leaf:
            case Forest():
                return self._forest(leaf, features)
            case Linear():
                return self._layers(leaf, [(leaf.weights[None], np.asarray([leaf.bias]))], self._taken(leaf, features))
            case Net():
                return self._layers(leaf, leaf.layers(), self._taken(leaf, features))
            case Feature():
                return self._feature(leaf, features)
            case Probability():
                return self._probability(leaf, features)
            case NetOfSums():
                sums = [self.sum_of(flat, features) for flat in leaf.inputs]
                return self._layers(leaf.top, leaf.top.layers(), self.node("Concat", *sums, axis=1))

    def _taken(self, leaf: Linear | Net | Feature, features: str) -> str:
        """The columns that a summand has as features."""
        if leaf.feature_names == self._names:
            return features
        columns = np.asarray([self._names.index(name) for name in leaf.feature_names], np.int64)
        return self.node("Gather", features, self.constant(columns), axis=1)

    def _forest(self, forest: Forest, features: str) -> str:
        sums = self.node(OPERATOR, features, domain=DOMAIN, **ensemble_attributes(forest, self._names))
        if forest.grades is None:
            return sums
        return self.node("MatMul", self.node("Softmax", sums, axis=1), self.constant(forest.grades[:, None]))

    def _layers(self, leaf: Linear | Net, layers: list[tuple[Any, Any]], value: str) -> str:
        """(x − centre) · scale, then the layers; a missing value counts as the centre, or makes the score missing."""
        frame = leaf.frame
        if leaf.nan == "mean":
            value = self.filled(value, frame.centre)
        value = self.node("Sub", value, self.constant(frame.centre))
        if isinstance(leaf, Net):
            value = self.node("Mul", value, self.constant(frame.scale))
        for number, (weights, biases) in enumerate(layers):
            value = self.node("Gemm", value, self.constant(weights), self.constant(biases), transB=1)
            if number < len(layers) - 1:
                value = self.node("Tanh", value)
        return value

    def _feature(self, leaf: Feature, features: str) -> str:
        """The column, or minus the column; a missing value is the lowest."""
        column = self._taken(leaf, features)
        signed = self.node("Neg", column) if leaf.ascending else column
        lowest = float(np.finfo(SCORE).min)
        return self.node("Max", self.filled(signed, lowest), self.constant(lowest))

    def _probability(self, leaf: Probability, features: str) -> str:
        """1/(1 + exp(−2x)): ONNX's own Sigmoid is 0 for small ones, which would tie them."""
        doubled = self.node("Mul", self.sum_of(leaf.inner, features), self.constant(-2.0))
        return self.node("Reciprocal", self.node("Add", self.node("Exp", doubled), self.constant(1.0)))
