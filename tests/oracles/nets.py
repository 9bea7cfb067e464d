"""Nets the slow, obvious way: NumPy forward, one backward pass per document, one pair at a time, training as a plain loop."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

import rankinite as rk
from oracles.gradients import ranked, sigmoid
from rankinite.data.identity import query_order
from rankinite.engine.kernel import frozen
from rankinite.nets._net_kernels import Frame
from rankinite.nets.network import first_weights, sizes_of, weight_count


class Pair(NamedTuple):
    """Two rows, the probability that the first is better, and the weight of the pair."""

    better: int
    worse: int
    probability: float
    worth: float


# ---- the net ----------------------------------------------------------------------------------------------------------


def random_frame(random, sizes):
    """A net's shape and standardisation, and weights for it."""
    centre, scale = random.normal(size=sizes[0]), random.uniform(0.5, 2.0, sizes[0])
    frame = Frame(sizes_of(sizes[0], sizes[1:-1]), frozen(centre), frozen(scale))
    return frame, random.normal(size=weight_count(frame.sizes))


def standardised(frame, features):
    """The inputs of a net; a missing value counts as the centre."""
    return np.nan_to_num((np.asarray(features, float) - frame.centre) * frame.scale, nan=0.0)


def layers(sizes, weights):
    """W and b of every layer, cut from one array."""
    found, rest = [], np.asarray(weights)
    for inputs, outputs in pairwise(sizes):
        matrix, bias, rest = np.split(rest, (inputs * outputs, (inputs + 1) * outputs))
        found.append((matrix.reshape(outputs, inputs), bias))
    assert not len(rest)
    return found


def activations(sizes, weights, inputs):
    """The units of every layer, shape (rows, units), the inputs first and the scores last."""
    units = [np.asarray(inputs, float)]
    for number, (matrix, bias) in enumerate(layers(sizes, weights)):
        sums = units[-1] @ matrix.T + bias
        units.append(sums if number == len(sizes) - 2 else np.tanh(sums))
    return units


def forward(sizes, weights, inputs):
    """One score per row."""
    return activations(sizes, weights, inputs)[-1][:, 0]


def slope_of_score(sizes, weights, inputs):
    """∂s/∂w of one document, by its own backward pass."""
    units = activations(sizes, weights, inputs[None, :])
    pull, pieces = np.ones(1), []
    for number in range(len(sizes) - 2, -1, -1):
        matrix, _ = layers(sizes, weights)[number]
        pieces = [np.outer(pull, units[number][0]).ravel(), pull, *pieces]
        pull = (matrix.T @ pull) * (1 - units[number][0] ** 2)
    return np.concatenate(pieces)


# ---- pairs and what they cost -----------------------------------------------------------------------------------------


def weight_of(data, query):
    return 1.0 if data.weights is None else float(data.weights[query])


def graded_pairs(data, scores=None):
    """RankNet's pairs: i graded above j."""
    return {
        query: [
            Pair(int(i), int(j), 1.0, weight_of(data, query)) for i in rows for j in rows if data.grades[i] > data.grades[j]
        ]
        for query, rows in ranked(data, np.zeros(data.rows))
    }


def preferred_pairs(data, scores=None):
    """The pairs that were judged."""
    judged, query_of = data.preferences, data.query_of_row()
    pairs = {query: [] for query in range(data.queries)}
    for i, j, p in zip(judged.better.tolist(), judged.worse.tolist(), judged.probability.tolist(), strict=True):
        pairs[query_of[i]].append(Pair(i, j, p, weight_of(data, query_of[i])))
    return pairs


def lambda_pairs(measure):
    """The pairs of grades, each weighted by the |ΔZ| of swapping the two in the ranking by score."""

    def pairs(data, scores):
        found = {}
        for query, rows in ranked(data, scores):
            changes = np.abs(rk.swap_changes(measure, data.grades[rows].astype(float)))
            places = [(a, b) for a in range(len(rows)) for b in range(len(rows)) if data.grades[rows[a]] > data.grades[rows[b]]]
            found[query] = [Pair(rows[a], rows[b], 1.0, weight_of(data, query) * changes[a, b]) for a, b in places]
        return found

    return pairs


def all_of(pairs):
    return [pair for own in pairs.values() for pair in own]


def cost(pairs, scores, sigma=1.0):
    """Σ −P̄ log P − (1−P̄) log(1−P), where P = 1/(1 + exp(−σ(s_i − s_j))); for sure pairs that is log(1 + exp(−σ(s_i − s_j)))."""
    total = 0.0
    for i, j, p, worth in pairs:
        gap = sigma * (scores[i] - scores[j])
        total += worth * (p * np.logaddexp(0, -gap) + (1 - p) * np.logaddexp(0, gap))
    return total


def pair_by_pair(sizes, weights, inputs, pairs, sigma=1.0):
    """Minus the gradient of the cost, by two backward passes per pair."""
    scores, total = forward(sizes, weights, inputs), np.zeros(len(weights))
    for i, j, p, worth in pairs:
        push = sigma * worth * (p - sigmoid(sigma * (scores[i] - scores[j])))
        total += push * (slope_of_score(sizes, weights, inputs[i]) - slope_of_score(sizes, weights, inputs[j]))
    return total


def downhill(function, weights, step=1e-3):
    """Minus the gradient by central differences over five points, whose error falls with the fourth power of the step."""
    slope = np.empty(len(weights))
    for k in range(len(weights)):
        moved = weights.copy()
        values = []
        for places in (-2, -1, 1, 2):
            moved[k] = weights[k] + places * step
            values.append(function(moved))
        slope[k] = -(values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
    return slope


# ---- training ---------------------------------------------------------------------------------------------------------


class Follower:
    """An optimiser that moves weights along a gradient: plain steps, or Adam's."""

    def __init__(self, optimiser, rate, l2=0.0):
        self.optimiser, self.rate, self.l2, self.gradients = optimiser, rate, l2, []

    def step(self, weights, gradient):
        self.gradients.append(gradient)
        return weights + self.rate * (self._direction() - self.l2 * weights)

    def _direction(self):
        """Adam's direction, from all gradients so far, without running means."""
        if self.optimiser == "sgd":
            return self.gradients[-1]
        past = np.stack(self.gradients)
        age = np.arange(len(past))[::-1, None]
        mean = (0.9**age * past).sum(axis=0) / (0.9**age).sum()
        square = (0.999**age * past**2).sum(axis=0) / (0.999**age).sum()
        return mean / (np.sqrt(square) + 1e-8)


def climb(sizes, weights, inputs, data, pairs_of, queries, follower, *, sigma=1.0, start=None):
    """One epoch, query by query; queries without pairs, or of weight 0, are skipped."""
    start = np.zeros(data.rows) if start is None else start
    for query in queries:
        own = pairs_of(data, start + forward(sizes, weights, inputs))[query]
        if not own or not weight_of(data, query):
            continue
        scores, gradient = start + forward(sizes, weights, inputs), np.zeros(len(weights))
        for i, j, p, worth in own:
            push = sigma * worth * (p - sigmoid(sigma * (scores[i] - scores[j])))
            gradient += push * (slope_of_score(sizes, weights, inputs[i]) - slope_of_score(sizes, weights, inputs[j]))
        gradient[-1] = 0.0  # the last bias moves all scores of a query alike; Adam would divide rounding by next to nothing
        weights = follower.step(weights, gradient)
    return weights


def trained(learner, pairs_of, train, valid):
    """The whole run of one start: weights and values before training and after each epoch, and the best epoch."""
    features, sizes = train.features.astype(float), sizes_of(len(train.feature_names), learner.hidden)
    frame = Frame(sizes, features.mean(axis=0), 1 / features.std(axis=0))
    random = np.random.default_rng([learner.seed, 0])
    weights, follower = first_weights(sizes, random, silent=False), Follower(learner.optimiser, learner.rate, learner.l2)
    measure, inputs = learner.watched(), standardised(frame, features)

    def value():
        return rk.evaluate(forward(sizes, weights, standardised(frame, valid.features)), valid, [measure])[measure].mean

    kept, values, best = [weights], [value()], 1
    for epoch in range(1, learner.epochs + 1):
        queries = query_order(train)[random.permutation(train.queries)]
        weights = climb(sizes, weights, inputs, train, pairs_of, queries, follower, sigma=learner.sigma)
        kept.append(weights)
        values.append(value())
        if epoch > 1 and values[epoch] <= values[best]:
            follower.rate *= learner.decay
        else:
            best = epoch
    return frame, kept, np.asarray(values), best
