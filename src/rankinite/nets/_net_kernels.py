"""Feed-forward nets and stochastic gradient ascent, on plain arrays (paper 002 §2.1).

Query by query: one pass forward, one λ per document, one pass back. Notation, for a net of L layers with D weights:

    sizes       (L + 1,) inputs, hidden units of each layer, 1
    weights     (D,) all layers, one after the other: W as (outputs, inputs), then the biases (outputs,)
    units       (Σ sizes, m): the inputs, then the units of each layer, for the documents of a query, m being their number
                filled up to whole blocks. Documents are adjacent, so loops over them run in SIMD.
    pulls       (Σ sizes, m): what raising each unit would add to Σ_i λ_i s_i

Hidden units are tanh, the output is linear. First come the net's scores (``forward``, ``score_rows``) and their gradient
(``backward``), then one step (``follow``) and an epoch of them (``climb_grades`` and two like it).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankinite.engine._math_kernels import hyperbolic_tangent, whole_power
from rankinite.engine.kernel import Features, Floats, Indices, Reals, RowNumbers, kernel
from rankinite.gradients._pair_kernels import Graded, JudgedPairs, push_preferences, push_query, workspace_of
from rankinite.gradients._point_kernels import Differing, push_differences
from rankinite.measures._ranking_kernels import longest_query
from rankinite.measures._swap_kernels import changes_at, prepare_at

BLOCK = 8
"""Documents are filled up to a multiple of this: two wide registers."""
_CHUNK = 120  # rows scored at a time; a power of two would put all units on the same few lines of the cache
_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8  # Adam's usual settings


class Frame(NamedTuple):
    """A net but for its weights."""

    sizes: Indices
    centre: Floats
    """(inputs,) what is subtracted from each feature first, and replaces a missing value."""
    scale: Floats
    """(inputs,) what it is then multiplied by; 0 leaves it out."""


class Steps(NamedTuple):
    """How weights follow a gradient."""

    rate: float
    l2: float
    adam: bool
    moments: Floats
    """(2, D) running means of the gradient and of its square, for Adam."""
    taken: Indices
    """(1,) the number of steps taken."""


class RowArrays(NamedTuple):
    """Arrays with one number per row of the data."""

    start: Floats
    """The scores of the base; 0 without one."""
    scores: Floats
    push: Floats
    curvature: Floats


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


@kernel
def step(steps: Steps, gradient: Floats, weights: Floats) -> None:
    """Move the weights along the gradient: plainly, or as Adam does, by its mean over its spread."""
    rate, l2 = steps.rate, steps.l2
    if not steps.adam:
        for k in range(len(weights)):
            weights[k] += rate * (gradient[k] - l2 * weights[k])
        return
    steps.taken[0] += 1
    mean, square = steps.moments[0], steps.moments[1]
    early = 1.0 / (1.0 - whole_power(_FIRST, steps.taken[0]))
    early_square = 1.0 / (1.0 - whole_power(_SECOND, steps.taken[0]))
    for k in range(len(weights)):
        mean[k] = _FIRST * mean[k] + (1.0 - _FIRST) * gradient[k]
        square[k] = _SECOND * square[k] + (1.0 - _SECOND) * gradient[k] * gradient[k]
        weights[k] += rate * (mean[k] * early / (np.sqrt(square[k] * early_square) + _TINY) - l2 * weights[k])


@kernel
def room_for(documents: int, sizes: Indices, space: Floats) -> tuple[Floats, Floats]:
    """Units and pulls of a query, out of the room there is for the longest one."""
    shape = (sizes.sum(), whole_blocks(documents))
    needed = shape[0] * shape[1]
    return space[0, :needed].reshape(shape), space[1, :needed].reshape(shape)


@kernel
def score_query(
    frame: Frame, weights: Floats, features: Features, query_rows: RowNumbers, rows: RowArrays, units: Floats
) -> None:
    """The scores of a query's rows ``query_rows``, on top of those they start from."""
    take_rows(frame, features, query_rows, units)
    forward(frame.sizes, weights, units)
    for i in range(len(query_rows)):
        rows.scores[query_rows[i]] = rows.start[query_rows[i]] + units[len(units) - 1, i]


@kernel
def follow(
    frame: Frame,
    steps: Steps,
    query_rows: RowNumbers,
    rows: RowArrays,
    units: Floats,
    pulls: Floats,
    lines: Floats,
    gradient: Floats,
    weights: Floats,
) -> None:
    """One step along what the λ's of a query's rows say."""
    last = len(pulls) - 1
    for i in range(len(query_rows)):
        pulls[last, i] = rows.push[query_rows[i]]
    pulls[last, len(query_rows) :] = 0.0
    backward(frame.sizes, weights, units, pulls, lines, gradient)
    gradient[len(gradient) - 1] = 0.0  # Σλ is 0 but for rounding, on which Adam would let the bias of all scores walk
    step(steps, gradient, weights)


@kernel
def climb_grades(
    graded: Graded, frame: Frame, steps: Steps, features: Features, queries: Indices, rows: RowArrays, weights: Floats
) -> int:
    """One epoch over pairs of grades, the queries in this order; returns −1, or the query where scores are not finite."""
    prepare, changes = prepare_at(graded.prepare), changes_at(graded.changes)
    longest = longest_query(graded.offsets, 0, len(graded.offsets) - 1)
    work, gradient = workspace_of(longest), np.empty(len(weights))
    space = np.empty((3, frame.sizes.sum() * whole_blocks(longest)))
    for query in queries:
        if graded.scales[query] == 0.0 or graded.weights[query] == 0.0:
            continue
        query_rows = graded.rows[graded.offsets[query] : graded.offsets[query + 1]]
        units, pulls = room_for(len(query_rows), frame.sizes, space)
        score_query(frame, weights, features, query_rows, rows, units)
        if not push_query(prepare, changes, graded, query, rows.scores, work, rows.push, rows.curvature):
            return query
        follow(frame, steps, query_rows, rows, units, pulls, space[2], gradient, weights)
    return -1


@kernel
def climb_preferences(
    judged: JudgedPairs, frame: Frame, steps: Steps, features: Features, queries: Indices, rows: RowArrays, weights: Floats
) -> int:
    """The same over judged pairs."""
    longest = longest_query(judged.offsets, 0, len(judged.offsets) - 1)
    gradient = np.empty(len(weights))
    space = np.empty((3, frame.sizes.sum() * whole_blocks(longest)))
    for query in queries:
        if judged.pair_offsets[query] == judged.pair_offsets[query + 1] or judged.weights[query] == 0.0:
            continue
        query_rows = judged.rows[judged.offsets[query] : judged.offsets[query + 1]]
        units, pulls = room_for(len(query_rows), frame.sizes, space)
        score_query(frame, weights, features, query_rows, rows, units)
        push_preferences(judged, rows.scores, query, query + 1, rows.push, rows.curvature)
        follow(frame, steps, query_rows, rows, units, pulls, space[2], gradient, weights)
        if not np.isfinite(rows.push[query_rows].sum()):
            return query
    return -1


@kernel
def climb_differences(
    differing: Differing, frame: Frame, steps: Steps, features: Features, queries: Indices, rows: RowArrays, weights: Floats
) -> int:
    """The same over differences of grades."""
    longest = longest_query(differing.offsets, 0, len(differing.offsets) - 1)
    gradient = np.empty(len(weights))
    space = np.empty((3, frame.sizes.sum() * whole_blocks(longest)))
    for query in queries:
        query_rows = differing.rows[differing.offsets[query] : differing.offsets[query + 1]]
        if len(query_rows) < 2 or differing.weights[query] == 0.0:
            continue
        units, pulls = room_for(len(query_rows), frame.sizes, space)
        score_query(frame, weights, features, query_rows, rows, units)
        push_differences(differing, rows.scores, query, query + 1, rows.push, rows.curvature)
        follow(frame, steps, query_rows, rows, units, pulls, space[2], gradient, weights)
        if not np.isfinite(rows.push[query_rows].sum()):
            return query
    return -1
