"""Pushes and curvatures the slow, obvious way: one query, one pair at a time, straight from the definitions."""

from __future__ import annotations

from math import exp, log, log2

import numpy as np

import rankinite as rk
from rankinite.data.identity import content_order


def sigmoid(x):
    return 1 / (1 + exp(-x)) if x > -700 else exp(x)


def ranked(data, scores):
    """The rows of each query, highest score first, ties by content."""
    order = content_order(data)
    for query in range(data.queries):
        rows = order[data.offsets[query] : data.offsets[query + 1]]
        yield query, [int(row) for row in sorted(rows, key=lambda row: -scores[row])]


def lambdas(data, scores, changes, sigma=1.0, truncation=None, *, normalise=False):
    """The pair loop; ``changes`` gives ΔZ of all pairs of ranks from the grades in rank order."""
    push, curvature = np.zeros(data.rows), np.zeros(data.rows)
    for query, rows in ranked(data, scores):
        delta = changes(data.grades[rows].astype(float))
        own_push, own_curvature, total = dict.fromkeys(rows, 0.0), dict.fromkeys(rows, 0.0), 0.0
        for upper, i in enumerate(rows):
            for lower, j in enumerate(rows):
                if upper >= lower or data.grades[i] == data.grades[j] or (truncation is not None and upper >= truncation):
                    continue
                better, worse = (i, j) if data.grades[i] > data.grades[j] else (j, i)
                worth = abs(delta[upper, lower])
                if normalise and scores[rows[0]] != scores[rows[-1]]:
                    worth /= 0.01 + abs(scores[i] - scores[j])
                rho = sigmoid(-sigma * (scores[better] - scores[worse]))
                own_push[better] += sigma * rho * worth
                own_push[worse] -= sigma * rho * worth
                total += 2 * sigma * rho * worth
                for row in (i, j):
                    own_curvature[row] += sigma**2 * rho * (1 - rho) * worth
        factor = 1.0 if data.weights is None else data.weights[query]
        if normalise and total > 0:
            factor *= log2(1 + total) / total
        for row in rows:
            push[row], curvature[row] = factor * own_push[row], factor * own_curvature[row]
    return push, curvature


def measure_changes(measure):
    return lambda grades: rk.swap_changes(measure, grades)


def all_alike(grades):
    return np.ones((len(grades), len(grades)))


def ranknet_cost(data, scores, sigma=1.0):
    """Σ log(1 + exp(−σ(s_i − s_j))) over all pairs with i graded above j."""
    cost = 0.0
    for query, rows in ranked(data, scores):
        weight = 1.0 if data.weights is None else data.weights[query]
        pairs = [(i, j) for i in rows for j in rows if data.grades[i] > data.grades[j]]
        cost += weight * sum(np.logaddexp(0, -sigma * (scores[i] - scores[j])) for i, j in pairs)
    return cost


def row_weights(data):
    return np.ones(data.rows) if data.weights is None else data.weights[data.query_of_row()]


def squared_cost(data, scores):
    return 0.5 * sum(w * (g - s) ** 2 for w, g, s in zip(row_weights(data), data.grades.astype(float), scores[0], strict=True))


def logistic_cost(data, scores, targets, sigma=1.0, weights=None):
    weights = row_weights(data) if weights is None else weights
    # −P̄ log P − (1−P̄) log(1−P) with log P = −log(1 + exp(−2σs))
    return sum(
        w * (p * np.logaddexp(0, -2 * sigma * s) + (1 - p) * np.logaddexp(0, 2 * sigma * s))
        for w, p, s in zip(weights, targets, scores[0], strict=True)
    )


def multiclass_cost(data, scores):
    levels = sorted(set(data.grades.tolist()))
    return sum(
        w * (log(sum(exp(s) for s in scores[:, row])) - scores[levels.index(data.grades[row]), row])
        for row, w in enumerate(row_weights(data))
    )


def preference_cost(data, scores, sigma=1.0):
    judged = data.preferences
    query = data.query_of_row()
    cost = 0.0
    for i, j, p in zip(judged.better, judged.worse, judged.probability, strict=True):
        weight = 1.0 if data.weights is None else data.weights[query[i]]
        gap = sigma * (scores[0, i] - scores[0, j])
        cost += weight * (p * np.logaddexp(0, -gap) + (1 - p) * np.logaddexp(0, gap))
    return cost


def preference_pushes(data, scores, sigma=1.0):
    judged = data.preferences
    query = data.query_of_row()
    push, curvature = np.zeros(data.rows), np.zeros(data.rows)
    for i, j, p in zip(judged.better, judged.worse, judged.probability, strict=True):
        weight = 1.0 if data.weights is None else data.weights[query[i]]
        chance = sigmoid(sigma * (scores[i] - scores[j]))
        push[i] += weight * sigma * (p - chance)
        push[j] -= weight * sigma * (p - chance)
        for row in (i, j):
            curvature[row] += weight * sigma**2 * chance * (1 - chance)
    return push, curvature


def downhill(cost, scores, step=1e-5):
    """The negative gradient of the cost by finite differences."""
    slope = np.empty_like(scores)
    for place in np.ndindex(*scores.shape):
        moved = scores.copy()
        moved[place] += step
        up = cost(moved)
        moved[place] -= 2 * step
        slope[place] = -(up - cost(moved)) / (2 * step)
    return slope
