"""Lambdas against those LightGBM trains with."""

from __future__ import annotations

from itertools import product

import lightgbm
import numpy as np
import pytest

import rankinite as rk
from rankinite.gradients.lambdas import Lambdas


def windows(n):
    """Three documents in a row, the first following the last: sums over these settle all single values unless 3 divides n."""
    return [np.isin(np.arange(n), (np.arange(3) + start) % n) for start in range(n)]


def peer_pushes(grades, scores, sigma, *, normalise):
    """LightGBM's pushes and curvatures of the windows of one query, from its leaves.

    A tree that asks only whether a document is among three of them has a leaf worth push / (curvature + L2): two values of L2
    give both. As the pushes of the query sum to 0, such a split always gains. (It refuses leaves of very small curvature,
    hence not one document at a time.)
    """
    n = len(grades)
    leaves = {0.5: np.empty(n), 2.0: np.empty(n)}
    for penalty, (number, chosen) in product(leaves, enumerate(windows(n))):
        features = chosen.astype(float)[:, None]
        settings = {
            "objective": "lambdarank",
            "lambdarank_norm": normalise,
            "lambdarank_truncation_level": n,
            "sigmoid": sigma,
            "num_leaves": 2,
            "learning_rate": 1.0,
            "lambda_l2": penalty,
            "min_data_in_leaf": 0,
            "min_sum_hessian_in_leaf": 0,
            "min_data_in_bin": 1,
            "feature_pre_filter": False,
            "num_threads": 1,
            "verbose": -1,
        }
        data = lightgbm.Dataset(features, label=grades, group=[n], init_score=scores)
        leaves[penalty][number] = lightgbm.train(settings, data, num_boost_round=1).predict(features)[chosen][0]
    curvature = (2.0 * leaves[2.0] - 0.5 * leaves[0.5]) / (leaves[0.5] - leaves[2.0])
    return leaves[0.5] * (curvature + 0.5), curvature


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_lightgbm_pushes_as_far(normalise, sigma):
    grades = np.asarray([0, 3, 1, 4, 2, 0, 1, 3])
    scores = np.asarray([0.3, -0.2, 0.8, 0.1, -0.7, 1.1, -0.4, 0.6])
    theirs = peer_pushes(grades, scores, sigma, normalise=normalise)
    data = rk.read(np.arange(8.0)[:, None], grades=grades, group=[8])
    push, curvature = np.empty((1, 8)), np.empty((1, 8))
    Lambdas(data, rk.NDCG(), sigma, normalise=normalise).gradients(scores[None], push, curvature)
    np.testing.assert_allclose([push[0, chosen].sum() for chosen in windows(8)], theirs[0], rtol=1e-3)
    np.testing.assert_allclose([curvature[0, chosen].sum() for chosen in windows(8)], theirs[1], rtol=1e-3)
