"""Forests of every loss that Trada tunes, and small data to tune them to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import rankinite as rk
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.ranknet import RankNetPairs
from rankinite.trees.structure import DTYPES

WORLD = rk.World(features=6, documents=12, terms=4, noise=0.3, seed=3, shift=0.6)
SOURCE = rk.synthesise(150, world=WORLD)
TARGET = rk.synthesise(20, domain=1, world=WORLD)
SHAPE = {"trees": 12, "leaves": 8, "min_rows": 10, "rate": 0.2}
MART = rk.MART(**SHAPE).fit(SOURCE)
LAMBDA = rk.LambdaMART.plain(**SHAPE).fit(SOURCE)
FORESTS = {
    "squared": MART,
    "lambda": LAMBDA,
    "plain lambda": rk.LambdaMART.plain(**SHAPE, normalise=False, sigma=2.0, truncation=3).fit(SOURCE),
    "pairs": rk.RankNetTrees(**SHAPE).fit(SOURCE),
}
FORESTS["wide pairs"] = replace(
    FORESTS["pairs"], trees=replace(FORESTS["pairs"].trees, value=100.0 * FORESTS["pairs"].trees.value)
)
OBJECTIVES = {
    "lambda": lambda data: Lambdas(data, rk.NDCG(10), normalise=True),
    "plain lambda": lambda data: Lambdas(data, rk.NDCG(10), 2.0, 3),
    "pairs": RankNetPairs,
}
SETTINGS = [
    {"responses": responses, "splits": splits, "trim": trim}
    for responses in ("layers", "leaves")
    for splits in (False, True)
    for trim in (False, True)
]


def with_gaps(data, seed=0):
    """The same rows, a tenth of the values missing."""
    features = data.features.copy()
    features[np.random.default_rng(seed).random(features.shape) < 0.1] = np.nan
    return replace(data, features=features)


def binary(data):
    """The same rows on another scale of grades."""
    return data.map_grades(lambda grades: grades >= 2)


GAPS, BINARY = with_gaps(TARGET), binary(TARGET)
HOLED = rk.MART(**SHAPE).fit(with_gaps(SOURCE, 1))


def gradients(loss: str, data, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if loss == "squared":
        return data.grades - scores, np.ones(len(scores))
    push, curvature = np.empty((1, len(scores))), np.empty((1, len(scores)))
    OBJECTIVES[loss](data).gradients(scores[None].copy(), push, curvature)
    return push[0], curvature[0]


def single(forest, number):
    """One tree as a forest."""
    return rk.Forest(trees=forest.trees.take(number, number + 1), feature_names=forest.feature_names)


def same(one, other) -> bool:
    """Whether two forests have the same trees, to the bit."""
    return all(getattr(one.trees, name).tobytes() == getattr(other.trees, name).tobytes() for name in DTYPES)
