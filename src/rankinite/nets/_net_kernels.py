"""A feed-forward net for some rows: scores forward, the gradient of a weighted sum of scores back. See ``_state``."""

from __future__ import annotations

import numpy as np

from rankinite.engine._math_kernels import hyperbolic_tangent
from rankinite.engine.kernel import Floats, Indices, Reals, RowNumbers, kernel
from rankinite.nets._state import Frame

BLOCK = 8
"""Documents are filled up to a multiple of this: two wide registers."""
_CHUNK = 120  # rows scored at a time; a power of two would put all units on the same few lines of the cache


@kernel
def whole_blocks(n: int) -> int:
    """n, rounded up."""
    return (n + BLOCK - 1) // BLOCK * BLOCK


@kernel
def add_scaled(factor: float, values: Floats, out: Floats) -> None:
    """``out`` += ``factor`` · ``values``."""
    for k in range(len(values)):
        out[k] += factor * values[k]


@kernel
def add_four(a: float, b: float, c: float, d: float, w: Floats, x: Floats, y: Floats, z: Floats, out: Floats) -> None:
    """``out`` += a·w + b·x + c·y + d·z: four at once spare reading and writing ``out`` three times."""
    for k in range(len(out)):
        out[k] += (a * w[k] + b * x[k]) + (c * y[k] + d * z[k])


@kernel
def add_all(factors: Floats, values: Floats, out: Floats) -> None:
    """``out`` += Σ_k ``factors[k]`` · ``values[k]``, always in the same order; shapes (n,), (n, m) and (m,)."""
    fours = len(factors) // 4 * 4
    for k in range(0, fours, 4):
        add_four(
            factors[k], factors[k + 1], factors[k + 2], factors[k + 3],
            values[k], values[k + 1], values[k + 2], values[k + 3], out,
        )  # fmt: skip
    for k in range(fours, len(factors)):
        add_scaled(factors[k], values[k], out)


@kernel
def take_rows(frame: Frame, features: Reals, rows: RowNumbers, out_units: Floats) -> None:
    """The inputs of these rows, standardised, as the first units; a missing value (NaN) counts as the centre."""
    inputs = frame.sizes[0]
    for i in range(len(rows)):
        row = features[rows[i]]
        for f in range(inputs):
            value = (row[f] - frame.centre[f]) * frame.scale[f]
            out_units[f, i] = 0.0 if np.isnan(value) else value
    out_units[:inputs, len(rows) :] = 0.0


@kernel
def forward(sizes: Indices, weights: Floats, units: Floats) -> None:
    """From the inputs to the units of all layers; the last are the scores."""
    place, below = 0, 0
    for layer in range(len(sizes) - 1):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        above = below + inputs
        biases = place + inputs * outputs
        for unit in range(outputs):
            values = units[above + unit]
            values[:] = weights[biases + unit]
            add_all(weights[place + unit * inputs : place + (unit + 1) * inputs], units[below:above], values)
            if layer < len(sizes) - 2:
                for i in range(len(values)):
                    values[i] = hyperbolic_tangent(values[i])
        place, below = biases + outputs, above


@kernel
def backward(sizes: Indices, weights: Floats, units: Floats, pulls: Floats, lines: Floats, out_gradient: Floats) -> None:
    """∂(Σ_i λ_i s_i)/∂w for all weights; the last row of ``pulls`` holds the λ's, and 0 behind the documents.

    ``lines`` is workspace for the inputs of a layer, document by document: as many numbers as ``units``. With them no sum runs
    over documents that stand side by side, which SIMD could not take in order.
    """
    end, above = len(weights), len(units)
    for layer in range(len(sizes) - 2, -1, -1):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        above -= outputs
        below, biases = above - inputs, end - outputs
        place = biases - inputs * outputs
        documents = units.shape[1]
        line = lines[: documents * inputs].reshape((documents, inputs))
        for f in range(inputs):
            line[:, f] = units[below + f]
        out_gradient[place:end] = 0.0
        for unit in range(outputs):
            pull = pulls[above + unit]
            for i in range(documents):
                out_gradient[biases + unit] += pull[i]
            add_all(pull, line, out_gradient[place + unit * inputs : place + (unit + 1) * inputs])
        if layer > 0:
            pull_below(weights[place:biases].reshape((outputs, inputs)), units[below:above], pulls[below:])
        end = place


@kernel
def pull_below(layer: Floats, units: Floats, pulls: Floats) -> None:
    """The pulls of hidden ``units`` from those of the layer above them, which follow in ``pulls``; ``layer``: its weights."""
    outputs, inputs = layer.shape
    for f in range(inputs):
        unit_pulls, value = pulls[f], units[f]
        unit_pulls[:] = 0.0
        for unit in range(outputs):
            add_scaled(layer[unit, f], pulls[inputs + unit], unit_pulls)
        for i in range(len(unit_pulls)):
            unit_pulls[i] *= 1.0 - value[i] * value[i]  # the slope of tanh


@kernel
def score_rows(frame: Frame, weights: Floats, features: Reals, first: int, last: int, out_scores: Floats) -> None:
    """Add the net's scores to those of the rows first … last−1."""
    units = np.empty((frame.sizes.sum(), _CHUNK))
    for start in range(first, last, _CHUNK):
        end = min(start + _CHUNK, last)
        m = whole_blocks(end - start)
        chunk_units = units if m == _CHUNK else np.empty((len(units), m))
        take_rows(frame, features, np.arange(start, end), chunk_units)
        forward(frame.sizes, weights, chunk_units)
        for i in range(end - start):
            out_scores[start + i] += chunk_units[len(chunk_units) - 1, i]
