"""Layers for Solr: linear rankers and nets as float32 matrices over normalised features.

Solr's StandardNormalizer computes (value − avg) / std in float32. Its avg is the centre and its std one over the scale, rounded
to float32; what rounding leaves over goes into the weights and biases of the first layer. A timestamp, whose centre is large
beside its spread, keeps its digits so, which it would not if the centre were multiplied into a bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Features, Floats, Reals
from rankinite.errors import ArgumentError
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.flattening import Flat, Term
from rankinite.serving.plan import ExportPlan
from rankinite.serving.targets.linear_form import is_linear, linear_form

Layer: TypeAlias = tuple[Features, Features]
"""Weights, outputs × inputs, and biases, as float32."""


@dataclass(frozen=True)
class SolrLayers:
    """A net, or a linear ranker, which is a net of one layer."""

    average: Features
    """One per feature: what is subtracted."""
    spread: Features
    """One per feature: what the rest is divided by."""
    layers: tuple[Layer, ...]
    """All but the last are followed by tanh."""

    def score(self, matrix: Reals) -> Features:
        """The score of rows without missing values, as Solr computes it: float32, one summand after the other."""
        values = (matrix.astype(np.float32) - self.average) / self.spread
        for number, layer in enumerate(self.layers):
            values = through_layer(values, layer)
            if number < len(self.layers) - 1:
                values = np.tanh(values.astype(np.float64)).astype(np.float32)
        return values[:, 0]


def through_layer(values: Features, layer: Layer) -> Features:
    """Bias + weight × value + …, rounded at every step."""
    weights, biases = layer
    total = np.repeat(biases[None, :], len(values), axis=0)
    for column in range(values.shape[1]):
        total += values[:, column, None] * weights[:, column]
    return total


def one_ranker(flat: Flat) -> Term | None:
    """The linear ranker or net that a sum consists of, with its weight; None: it is something else."""
    if len(flat.terms) == 1 and isinstance(flat.terms[0].leaf, Linear | Net):
        return flat.terms[0]
    if not is_linear(flat):
        return None
    form = linear_form(flat)
    weights = np.asarray([form.weights.get(name, 0.0) for name in flat.names])
    return Term(1.0, Linear(flat.names, weights, form.bias - flat.start))


def solr_layers(plan: ExportPlan) -> SolrLayers:
    """The one linear ranker or net of a plan, over the features in its order."""
    term, start = one_ranker(plan.flat), plan.flat.start
    assert term is not None
    assert isinstance(term.leaf, Linear | Net)
    centre, scale, layers = _parts(term.leaf)
    columns = [term.leaf.feature_names.index(name) for name in plan.names]
    centre, scale = centre[columns], scale[columns]
    average, spread = centre.astype(np.float32), _spread(scale, plan.names)
    first, biases = layers[0]
    first = first[:, columns]
    layers[0] = (first * (spread.astype(np.float64) * scale), biases + first @ ((average.astype(np.float64) - centre) * scale))
    last, biases = layers[-1]
    layers[-1] = (last * term.weight, biases * term.weight + start)
    return SolrLayers(average, spread, tuple((_narrow(matrix), _narrow(bias)) for matrix, bias in layers))


def _parts(ranker: Linear | Net) -> tuple[Floats, Floats, list[tuple[Floats, Floats]]]:
    """Centres, scales and layers."""
    if isinstance(ranker, Net):
        return ranker.centre, ranker.scale, ranker.layers()
    layer = (ranker.weights[None, :], np.asarray([ranker.bias]))
    return ranker.centre_of_features, np.ones(len(ranker.weights)), [layer]


def _spread(scale: Floats, names: tuple[str, ...]) -> Features:
    """One over each scale; refuses one that float32 does not have."""
    with np.errstate(over="ignore", under="ignore"):
        spread = (1.0 / scale).astype(np.float32)
    odd = np.flatnonzero(~np.isfinite(spread) | (spread <= 0.0))
    if len(odd):
        raise ArgumentError(
            f"the spread of {names[odd[0]]} is beyond float32",
            place=names[odd[0]],
            value=float(1.0 / scale[odd[0]]),
            rule="Solr computes in float32",
            remedy="Train on that feature in another unit",
        )
    return spread


def _narrow(numbers: Floats) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = numbers.astype(np.float32)
    if not np.isfinite(narrow).all():
        raise ArgumentError(
            "a weight is beyond float32",
            value=float(numbers[~np.isfinite(narrow)][0]),
            rule="Solr computes in float32",
            remedy="Train with smaller weights, or export to onnx",
        )
    return narrow
