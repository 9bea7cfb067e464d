"""Ranking expressions of Vespa: a flat ranker as named functions, each the text of one expression.

Numbers are written with all digits of float64. What a missing value counts as is part of the text: Vespa gives NaN for the
attribute of a document that does not have it. Trees are in ``vespa_trees``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatchmethod

import numpy as np

from rankinite.choices import ServedMissing
from rankinite.engine.kernel import Floats
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, Probability
from rankinite.serving.float32 import shortest
from rankinite.serving.targets.vespa_trees import forest_text
from rankinite.trees.structure import Trees, join

HIGHEST = shortest(np.finfo(np.float64).max)
"""A missing feature that ranks alone scores the negative of this; sums stay between the two."""
NOTHING = "0.0"


@dataclass
class VespaFunctions:
    """Functions of a rank profile, in the order in which they were made."""

    feature: dict[str, str]
    """The function of every feature, by the feature's name."""
    missing: ServedMissing
    texts: dict[str, str] = field(default_factory=dict[str, str])
    """Name → expression."""

    def add(self, name: str, text: str) -> str:
        """The name of a new function, numbered if there is one of that name."""
        own, number = f"model_{name}", 1
        while own in self.texts:
            number += 1
            own = f"model_{name}_{number}"
        self.texts[own] = text
        return own

    def of_flat(self, flat: Flat) -> str:
        """The expression of a sum."""
        bounded = self.missing == "nan" and any(isinstance(term.leaf, Feature) for term in flat.terms)
        total = shortest(flat.start) if flat.start else ""
        for term in flat.terms:
            text = self.of_leaf(term.leaf)
            text = text if term.weight == 1.0 else f"{shortest(term.weight)} * {text}"
            text = _bounded(text) if bounded else text
            total = f"{total} + {text}" if total else text
            total = _bounded(total) if bounded else total
        return total or NOTHING

    @singledispatchmethod
    def of_leaf(self, leaf: Leaf) -> str:
        """The expression of a summand: the name of a function, a call, or something in brackets."""
        raise TypeError(type(leaf))

    @of_leaf.register
    def _(self, leaf: Forest) -> str:
        if leaf.grades is not None:
            return self._mean_grade(leaf)
        return self._forest(leaf.trees, leaf.feature_names, float(leaf.start[0]), "forest")

    @of_leaf.register
    def _(self, leaf: Linear) -> str:
        pairs = zip(leaf.feature_names, leaf.centre_of_features.tolist(), strict=True)
        return self.add("linear", _unit(leaf.bias, leaf.weights, [self._centred(name, centre) for name, centre in pairs]))

    @of_leaf.register
    def _(self, leaf: Net) -> str:
        inputs = list[str]()
        for name, centre, scale in zip(leaf.feature_names, leaf.centre.tolist(), leaf.scale.tolist(), strict=True):
            text = f"{self._centred(name, centre)} * {shortest(scale)}"
            inputs.append(self.add("input", text) if scale else NOTHING)
        return self._layers(leaf, inputs)

    @of_leaf.register
    def _(self, leaf: Feature) -> str:
        own, absent = self.feature[str(leaf.feature)], NOTHING if self.missing == "zero" else f"-{HIGHEST}"
        return f"if(isNan({own}) == 1, {absent}, {'-' if leaf.ascending else ''}{own})"

    @of_leaf.register
    def _(self, leaf: Probability) -> str:
        return f"(1.0 / (1.0 + exp(-2.0 * ({self.of_flat(leaf.inner)}))))"

    @of_leaf.register
    def _(self, leaf: NetOfSums) -> str:
        sums = [self.add("sum", self.of_flat(flat)) for flat in leaf.inputs]
        places = zip(sums, leaf.top.centre.tolist(), leaf.top.scale.tolist(), strict=True)
        inputs = [self.add("input", f"({one} - {_subtracted(centre)}) * {shortest(scale)}") for one, centre, scale in places]
        return self._layers(leaf.top, inputs)

    def _forest(self, trees: Trees, names: tuple[str, ...], start: float, name: str) -> str:
        """The function of a sum of trees."""
        known = [self.feature.get(one, "") for one in names]
        return self.add(name, forest_text(trees, start, known, next(iter(self.feature.values()), "")))

    def _mean_grade(self, leaf: Forest) -> str:
        """The mean of the grades by their probabilities, the largest exponent being 0."""
        assert leaf.grades is not None
        trees, count, sums = leaf.trees, leaf.outputs, list[str]()
        for output, start in enumerate(leaf.start.tolist()):
            own = join([trees.take(number, number + 1) for number in range(output, len(trees), count)])
            sums.append(self._forest(own, leaf.feature_names, start, "grade"))
        largest = sums[0]
        for one in sums[1:]:
            largest = f"max({largest}, {one})"
        top = self.add("top", largest)
        shares = [self.add("share", f"exp({one} - {top})") for one in sums]
        weighted = " + ".join(f"{shortest(grade)} * {share}" for grade, share in zip(leaf.grades, shares, strict=True))
        return self.add("mean_grade", f"({weighted}) / ({' + '.join(shares)})")

    def _layers(self, net: Net, inputs: list[str]) -> str:
        """The function of a net's output over its standardised inputs."""
        layers = net.layers()
        for weights, biases in layers[:-1]:
            units = [_unit(bias, row, inputs) for row, bias in zip(weights, biases.tolist(), strict=True)]
            inputs = [self.add("unit", f"tanh({unit})") for unit in units]
        weights, biases = layers[-1]
        return self.add("net", _unit(float(biases[0]), weights[0], inputs))

    def _centred(self, name: str, centre: float) -> str:
        """How far a feature is above its centre; a missing one is there, or counts as 0."""
        if name not in self.feature:
            return NOTHING  # nothing depends on it
        own, absent = self.feature[name], 0.0 if self.missing == "nan" else 0.0 - centre
        return f"if(isNan({own}) == 1, {shortest(absent)}, {own} - {_subtracted(centre)})"


def _unit(bias: float, weights: Floats, inputs: list[str]) -> str:
    """A bias + weight × input + …"""
    products = [f"{shortest(weight)} * {one}" for weight, one in zip(weights, inputs, strict=True) if one != NOTHING]
    return " + ".join([shortest(bias), *products])


def _subtracted(number: float) -> str:
    return shortest(number) if number >= 0.0 else f"({shortest(number)})"


def _bounded(text: str) -> str:
    """An expression that is never infinite."""
    return f"max(-{HIGHEST}, min({HIGHEST}, {text}))"
