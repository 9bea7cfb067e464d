"""LambdaBoost the slow, obvious way: every feature is fitted to the pushes by itself, and the errors are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

import rankinite as rk
from oracles.gradients import lambdas, measure_changes


def weights_of(data):
    """How often each row counts."""
    return np.ones(data.rows) if data.weights is None else data.weights[data.query_of_row()]


def means(features, weights=None):
    """The mean of each feature over the rows, each as often as it counts, without missing values."""
    known = np.ma.masked_invalid(np.asarray(features, float))
    return np.ma.average(known, axis=0, weights=weights).filled(np.nan)


def centred(features, centre=None):
    """The features minus their means, or another centre; a missing value counts as the mean."""
    features = np.asarray(features, float)
    return np.nan_to_num(features - (means(features) if centre is None else centre), nan=0.0)


def fitted(column, push, weights=None):
    """The factor that minimises Σ weight · (push − factor · column)², and the minimum."""
    root = np.sqrt(np.ones(len(push)) if weights is None else weights)
    (factor,), *_ = np.linalg.lstsq((root * column)[:, None], root * push, rcond=None)
    return factor, ((root * (push - factor * column)) ** 2).sum()


def choice(columns, push, weights=None):
    """The feature with the smallest error (the first of equals), and its factor."""
    found = [fitted(column, push, weights) for column in columns.T]
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
    counts = weights_of(train)
    centre, unweighted = means(train.features, counts), replace(train, weights=None)
    columns, valid_columns = centred(train.features, centre), centred(valid.features, centre)
    measure, weights = learner.watched(), np.zeros(columns.shape[1])
    run = Run([weights], [], [])
    for _ in range(learner.rounds):
        run.values.append(rk.evaluate(valid_start + valid_columns @ weights, valid, [measure])[measure].mean)
        scores = start + columns @ weights
        push, _ = lambdas(unweighted, scores, measure_changes(learner.measure), learner.sigma)
        feature, factor = choice(columns, push, counts)
        taken = 1.0 if weigh is None else weigh(scores, factor * columns[:, feature])
        weights = weights.copy()
        weights[feature] += learner.rate * taken * factor
        run.weights.append(weights)
        run.features.append(feature)
    run.values.append(rk.evaluate(valid_start + valid_columns @ weights, valid, [measure])[measure].mean)
    return run
