"""Shapley values of nets: over all sets of features where these are few, else over some orders of them.

A feature that is not known has its centre, the mean in the training data, which is also what a missing value counts as. So the
base is the score of the centre, and a missing value adds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Indices, frozen
from rankinite.models.explanations.contributions import Contributions, Sampling
from rankinite.nets.network import add_scores
from rankinite.seeds import generator

if TYPE_CHECKING:
    from rankinite.models.net import Net

MOST_EXACT = 12
"""Features that a net may use for all sets of them to be tried: 4,096 scores per row."""
ROOM = 1 << 22
"""Numbers in a matrix that is scored at a time."""


def net_contributions(net: Net, features: Any, sampling: Sampling) -> Contributions:
    """What every feature adds to the net's score; features that it does not use add nothing."""
    matrix = net.filled_matrix(features, net.centre)
    used = np.flatnonzero(net.scale != 0.0)
    split = _over_sets if len(used) <= MOST_EXACT else _over_orders
    values = np.zeros(matrix.shape, SCORE)
    errors = None if split is _over_sets else np.zeros(matrix.shape, SCORE)
    trials = 1 << len(used) if errors is None else len(used) + 1
    for first, last in _blocks(len(matrix), matrix.shape[1] * trials):
        values[first:last, used], spread = split(net, matrix[first:last], used, sampling)
        if errors is not None:
            errors[first:last, used] = spread
    return Contributions(values, float(_scores(net, net.centre[None])[0]), net.feature_names, errors)


def _over_sets(net: Net, matrix: Floats, used: Indices, _sampling: Sampling) -> tuple[Floats, Floats]:
    """Exact values, from the scores under all sets of known features; a set is a number, its bits the features in it."""
    rows, count = len(matrix), len(used)
    sets = np.arange(1 << count)
    scores = np.empty((rows, len(sets)))
    for row in range(rows):
        known = np.repeat(net.centre[None], len(sets), axis=0)
        for bit, feature in enumerate(used.tolist()):
            known[(sets >> bit) & 1 == 1, feature] = matrix[row, feature]
        scores[row] = _scores(net, known)
    sizes = sum((sets >> bit) & 1 for bit in range(count)) + np.zeros_like(sets)
    values = np.zeros((rows, count))
    for bit in range(count):
        without = sets[(sets >> bit) & 1 == 0]
        weights = np.asarray([1.0 / (count * math.comb(count - 1, size)) for size in range(count)])[sizes[without]]
        values[:, bit] = np.sum((scores[:, without | (1 << bit)] - scores[:, without]) * weights, axis=1)
    return values, np.zeros_like(values)


def _over_orders(net: Net, matrix: Floats, used: Indices, sampling: Sampling) -> tuple[Floats, Floats]:
    """Means over random orders in which features become known, and their standard errors.

    All rows have the same orders. An order and its reverse are one sample: their errors mostly cancel.
    """
    rows, count, samples = len(matrix), len(used), sampling.permutations // 2
    total, squares = np.zeros((rows, count)), np.zeros((rows, count))
    random = generator(sampling.seed)
    for _ in range(samples):
        order = random.permutation(count)
        sample = sum(_along(net, matrix, used, one) for one in (order, order[::-1])) / 2.0
        total += sample
        squares += sample * sample
    mean = total / samples
    variance = np.maximum(squares / samples - mean * mean, 0.0) / (samples - 1)
    return mean, np.sqrt(variance)


def _along(net: Net, matrix: Floats, used: Indices, order: Indices) -> Floats:
    """What each feature adds as features become known in this order: rows × features used."""
    rows, count = len(matrix), len(used)
    known = np.repeat(np.repeat(net.centre[None, None], count + 1, axis=1), rows, axis=0)
    for step, feature in enumerate(used[order].tolist(), 1):
        known[:, step:, feature] = matrix[:, feature, None]
    scores = _scores(net, known.reshape(rows * (count + 1), -1)).reshape(rows, count + 1)
    added = np.empty((rows, count))
    added[:, order] = np.diff(scores, axis=1)
    return added


def _scores(net: Net, matrix: Floats) -> Floats:
    scores = np.zeros(len(matrix), SCORE)
    add_scores(net.frame, net.weights, frozen(np.ascontiguousarray(matrix)), scores)
    return scores


def _blocks(rows: int, per_row: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose matrices are not too large."""
    size = max(ROOM // max(per_row, 1), 1)
    for first in range(0, rows, size):
        yield first, min(first + size, rows)
