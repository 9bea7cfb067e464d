"""Random forests for exports: few and many trees, thresholds of all sizes, on and off the floats of 32 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oracles.trees import random_trees
from rankinite.models.forest import Forest
from rankinite.trees.structure import LEAF


def forest_of(seed: int) -> Forest:
    """A forest that only its seed decides."""
    random = np.random.default_rng([seed, 18])
    features = int(random.integers(1, 7))
    trees = random_trees(random, int(random.integers(0, 13)), features, most=int(random.integers(1, 17)))
    nodes = len(trees.feature)
    kinds = np.stack(
        [
            trees.threshold,  # tenths, so that they repeat
            random.normal(size=nodes),
            random.normal(size=nodes).astype(np.float32).astype(np.float64),
            np.zeros(nodes),
            random.normal(size=nodes) * 10.0 ** random.integers(-3, 7, nodes),
            random.integers(-3, 20, nodes).astype(np.float64),
        ]
    )
    threshold = kinds[random.integers(len(kinds), size=nodes), np.arange(nodes)]
    threshold[random.random(nodes) < 0.02] = np.inf  # missing or not: the grower makes such splits
    value = random.normal(size=nodes) * 10.0 ** random.integers(-3, 2, nodes)
    inner = trees.feature != LEAF
    trees = replace(trees, threshold=np.where(inner, threshold, 0.0), value=value)
    names = tuple(f"f{number}" for number in range(features))
    return Forest(trees, names, start=np.asarray([random.choice([0.0, float(random.normal())])]))
