"""Nets as arrays: their shape, their first weights, their scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rankinite.engine.kernel import INDEX, SCORE, Floats, Indices, Reals, frozen
from rankinite.engine.parallel import SMALLEST, run, thread_count
from rankinite.nets import _net_kernels as _kernels
from rankinite.nets._net_kernels import Frame


def sizes_of(inputs: int, hidden: Sequence[int]) -> Indices:
    """The units of each layer: inputs, hidden ones, and the score."""
    return frozen(np.asarray([inputs, *hidden, 1], INDEX))


def weight_count(sizes: Indices) -> int:
    """How many weights a net has, biases included."""
    return int(sum((inputs + 1) * outputs for inputs, outputs in pairwise(sizes.tolist())))


def layers_of(sizes: Indices, weights: Floats) -> list[tuple[Floats, Floats]]:
    """Weights (outputs, inputs) and biases (outputs,) of each layer, as views."""
    layers: list[tuple[Floats, Floats]] = []
    place = 0
    for inputs, outputs in pairwise(sizes.tolist()):
        biases = place + inputs * outputs
        layers.append((weights[place:biases].reshape(outputs, inputs), weights[biases : biases + outputs]))
        place = biases + outputs
    return layers


def first_weights(sizes: Indices, random: np.random.Generator, *, silent: bool) -> Floats:
    """Random weights such that units start in the steep part of tanh: uniform with variance 1/inputs, biases 0.

    ``silent``: those of the last layer are 0, so that all scores are 0 at first.
    """
    weights = np.zeros(weight_count(sizes), SCORE)
    for layer, _biases in layers_of(sizes, weights):
        bound = np.sqrt(3.0 / layer.shape[1])
        layer[:] = random.uniform(-bound, bound, layer.shape)
    if silent:
        layers_of(sizes, weights)[-1][0][:] = 0.0
    return weights


def add_scores(frame: Frame, weights: Floats, features: Reals, scores: Floats) -> None:
    """Add the net's score of every row."""
    weights, rows = frozen(weights), len(features)
    pieces = max(1, min(2 * thread_count(), rows // SMALLEST))
    cuts = [rows * k // pieces for k in range(pieces + 1)]
    run(lambda piece: _kernels.score_rows(frame, weights, features, piece[0], piece[1], scores), list(pairwise(cuts)))
