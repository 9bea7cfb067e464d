"""LambdaBoost the slow, obvious way: every feature is fitted to the pushes by itself, and the errors are compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import rankinite as rk
from oracles.gradients import lambdas, measure_changes


def centred(features, like=None):
    """The features minus the means of the training rows; a missing value counts as the mean."""
    features = np.asarray(features, float)
    like = features if like is None else np.asarray(like, float)
    return np.nan_to_num(features - np.nanmean(like, axis=0), nan=0.0)


def fitted(column, push):
    """The factor that minimises Σ (push − factor · column)², and the minimum."""
    (factor,), *_ = np.linalg.lstsq(column[:, None], push, rcond=None)
    return factor, ((push - factor * column) ** 2).sum()


def choice(columns, push):
    """The feature with the smallest error (the first of equals), and its factor."""
    found = [fitted(column, push) for column in columns.T]
    feature = min(range(len(found)), key=lambda f: found[f][1])
    return feature, found[feature][0]


class Run(NamedTuple):
    """The result of the plain loop: weights and values after 0, 1, 2, … rounds, and the features chosen."""

    weights: list
    values: list
    features: list


def boosted(learner, train, valid, base=None, weigh=None):
    """The plain loop; ``weigh(scores, said)`` gives the exact weight of a step."""
    start, valid_start = (np.zeros(data.rows) if base is None else base.score(data) for data in (train, valid))
    columns, valid_columns = centred(train.features), centred(valid.features, train.features)
    measure, weights = learner.watched(), np.zeros(columns.shape[1])
    run = Run([weights], [], [])
    for _ in range(learner.rounds):
        run.values.append(rk.evaluate(valid_start + valid_columns @ weights, valid, [measure])[measure].mean)
        scores = start + columns @ weights
        push, _ = lambdas(train, scores, measure_changes(learner.measure), learner.sigma)
        feature, factor = choice(columns, push)
        taken = 1.0 if weigh is None else weigh(scores, factor * columns[:, feature])
        weights = weights.copy()
        weights[feature] += learner.rate * taken * factor
        run.weights.append(weights)
        run.features.append(feature)
    run.values.append(rk.evaluate(valid_start + valid_columns @ weights, valid, [measure])[measure].mean)
    return run
