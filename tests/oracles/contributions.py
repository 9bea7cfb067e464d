"""Shapley values by their definition: over all sets of features."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np

import rankinite as rk
from rankinite.trees.structure import LEAF


def shapley(value: Callable[[frozenset[int]], float], features: int) -> np.ndarray:
    """The Shapley value of each of some features in a game on sets of them."""
    found = np.zeros(features)
    for feature in range(features):
        others = [one for one in range(features) if one != feature]
        for size in range(features):
            weight = math.factorial(size) * math.factorial(features - size - 1) / math.factorial(features)
            for chosen in combinations(others, size):
                found[feature] += weight * (value(frozenset({*chosen, feature})) - value(frozenset(chosen)))
    return found


def expected_score(forest: rk.Forest, row: np.ndarray, known: frozenset[int]) -> float:
    """A forest's score where only some features are known: at the others, rows go both ways by the nodes' counts."""
    trees = forest.trees
    return float(forest.start[0]) + sum(_expected(trees, int(root), 0, row, known) for root in trees.offsets[:-1])


def _expected(trees, root: int, node: int, row: np.ndarray, known: frozenset[int]) -> float:
    at = root + node
    if trees.feature[at] == LEAF:
        return float(trees.value[at])
    left, right = int(trees.left[at]), int(trees.right[at])
    if int(trees.feature[at]) in known:
        x = float(row[trees.feature[at]])
        goes_left = bool(trees.missing_left[at]) if math.isnan(x) else x <= trees.threshold[at]
        return _expected(trees, root, left if goes_left else right, row, known)
    counts = trees.rows if trees.rows[root] > 0 else trees.curvature
    a, b = float(counts[root + left]), float(counts[root + right])
    share = a / (a + b) if a + b else 0.5
    return share * _expected(trees, root, left, row, known) + (1 - share) * _expected(trees, root, right, row, known)


def forest_contributions(forest: rk.Forest, matrix: np.ndarray) -> np.ndarray:
    """Rows × features."""
    count = len(forest.feature_names)
    return np.asarray([shapley(lambda known, row=row: expected_score(forest, row, known), count) for row in matrix])


def net_contributions(net: rk.Net, matrix: np.ndarray) -> np.ndarray:
    """Rows × features; a feature that is not known has its centre."""

    def score(row: np.ndarray, known: frozenset[int]) -> float:
        mixed = [row[f] if f in known and not math.isnan(row[f]) else net.centre[f] for f in range(len(row))]
        return float(net.score(np.asarray([mixed], np.float64))[0])

    count = len(net.feature_names)
    return np.asarray([shapley(lambda known, row=row: score(row, known), count) for row in matrix])


def swapping_values(ranker: rk.Forest, query: rk.Dataset, row: int, feature: int, goal: float) -> list[float]:
    """All float32 values beside a threshold of the forest with which a document scores above a goal."""
    inner = ranker.trees.feature == feature
    cuts = ranker.trees.threshold[inner].astype(np.float32)
    sides = [np.nextafter(cuts, np.float32(end)) for end in (-np.inf, np.inf)]
    found = []
    for value in np.unique(np.concatenate((cuts, *sides))):
        changed = query.features[row].copy()
        changed[feature] = value
        if ranker.score(changed[None])[0] > goal:
            found.append(float(value))
    return found
