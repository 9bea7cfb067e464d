"""Rounding: how large the numbers are that a score is added up from, to which its last bits are relative.

Two programs that add the same numbers in another order, or whose tanh or exp differ in the last bit, differ by a small multiple
of these sizes.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, Probability
from rankinite.serving.reference_scores import leaf_scores, matching_columns

VANISHING = 1e300
"""Beside numbers beyond this, which missing features score, all others vanish and no sum is rounded."""


def summed_sizes(flat: Flat, matrix: Reals, names: tuple[str, ...]) -> Floats:
    """The sum of the absolute values of all that is added up for each row."""
    total = np.full(len(matrix), abs(flat.start), SCORE)
    for term in flat.terms:
        total += abs(term.weight) * (1.0 + _sizes(term.leaf, matrix, names))
    return total


def _sizes(leaf: Leaf, matrix: Reals, names: tuple[str, ...]) -> Floats:
    match leaf:
        case Forest():
            largest = float(np.abs(leaf.start).max()) + leaf.trees.largest_sum()
            grade = 1.0 if leaf.grades is None else float(np.abs(leaf.grades).max(initial=0.0))
            return np.full(len(matrix), largest * grade)
        case Linear() | Net():
            return _through(leaf, np.abs(np.nan_to_num(matching_columns(leaf.feature_names, matrix, names))))
        case Feature():
            scores = np.abs(leaf_scores(leaf, matrix, names))
            return np.where(scores < VANISHING, scores, 0.0)
        case Probability():
            return summed_sizes(leaf.inner, matrix, names)
        case NetOfSums():
            return _through(leaf.top, np.column_stack([summed_sizes(flat, matrix, names) for flat in leaf.inputs]))


def _through(net: Linear | Net, sizes: Reals) -> Floats:
    """Sizes of inputs, layer by layer: tanh makes no error larger."""
    frame = net.frame
    units = (sizes + np.abs(frame.centre)) * np.abs(frame.scale)
    layers = net.layers() if isinstance(net, Net) else [(net.weights[None], np.asarray([net.bias]))]
    for weights, biases in layers:
        units = units @ np.abs(weights).T + np.abs(biases)
    return units[:, 0].astype(SCORE)
