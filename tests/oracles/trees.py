"""Random trees, and walking down them one row at a time."""

from __future__ import annotations

import math

import numpy as np

from rankinite.models.forest import Forest
from rankinite.models.history import History
from rankinite.trees.structure import LEAF, Trees, join, no_trees


def random_tree(random: np.random.Generator, features: int, leaves: int) -> Trees:
    """A tree with this many leaves (one if there are no features); thresholds repeat, so that values can equal them."""
    feature, left, right = [LEAF], [0], [0]
    while features and feature.count(LEAF) < leaves:
        node = int(random.choice(np.flatnonzero(np.asarray(feature) == LEAF)))
        feature[node] = int(random.integers(features))
        left[node], right[node] = len(feature), len(feature) + 1
        if random.random() < 0.5:
            left[node], right[node] = right[node], left[node]
        feature += [LEAF, LEAF]
        left += [0, 0]
        right += [0, 0]
    nodes = len(feature)
    inner = np.asarray(feature) != LEAF
    return Trees(
        feature=np.asarray(feature, np.int32),
        threshold=np.where(inner, np.round(random.normal(size=nodes), 1), 0.0),
        missing_left=inner & (random.random(nodes) < 0.5),
        left=np.asarray(left, np.int32),
        right=np.asarray(right, np.int32),
        value=random.normal(size=nodes),
        rows=random.integers(1, 1000, nodes),
        curvature=random.random(nodes),
        gain=np.where(inner, random.random(nodes), 0.0),
        offsets=np.asarray([0, nodes]),
    )


def symmetric_tree(random: np.random.Generator, features: int, depth: int) -> Trees:
    """A tree whose levels each ask one thing, with nodes in any order that puts children after their parents."""
    levels = [(int(random.integers(features)), np.round(random.normal(), 1), random.random() < 0.5) for _ in range(depth)]
    feature, threshold, missing_left, left, right = [LEAF], [0.0], [False], [0], [0]
    waiting = [(0, 0)]
    while waiting:
        node, level = waiting.pop(int(random.integers(len(waiting))))
        if level < depth:
            feature[node], threshold[node], missing_left[node] = levels[level]
            children = [len(feature), len(feature) + 1]
            left[node], right[node] = random.permutation(children).tolist()
            for column, empty in ((feature, LEAF), (threshold, 0.0), (missing_left, False), (left, 0), (right, 0)):
                column += [empty, empty]
            waiting += [(child, level + 1) for child in children]
    nodes, inner = len(feature), np.asarray(feature) != LEAF
    return Trees(
        feature=np.asarray(feature, np.int32),
        threshold=np.asarray(threshold),
        missing_left=np.asarray(missing_left),
        left=np.asarray(left, np.int32),
        right=np.asarray(right, np.int32),
        value=random.normal(size=nodes),
        rows=random.integers(1, 1000, nodes),
        curvature=random.random(nodes),
        gain=np.where(inner, random.random(nodes), 0.0),
        offsets=np.asarray([0, nodes]),
    )


def symmetric_trees(random: np.random.Generator, trees: int, features: int, deepest: int = 4) -> Trees:
    """Symmetric trees of 0 to ``deepest`` levels (none if there are no features)."""
    depths = random.integers(deepest + 1, size=trees) if features else np.zeros(trees, int)
    return join([symmetric_tree(random, features, int(depth)) for depth in depths]) if trees else no_trees()


def is_symmetric(trees: Trees, tree: int) -> bool:
    """Whether all nodes of each level of one tree are leaves, or ask the same."""
    root = int(trees.offsets[tree])
    level = [root]
    while True:
        asked = {(int(trees.feature[n]), float(trees.threshold[n]), bool(trees.missing_left[n])) for n in level}
        leaves = [trees.feature[n] == LEAF for n in level]
        if any(leaves):
            return all(leaves)
        if len(asked) > 1:
            return False
        level = [root + int(child[n]) for n in level for child in (trees.left, trees.right)]


def random_trees(random: np.random.Generator, trees: int, features: int, most: int = 9) -> Trees:
    """Trees of 1 to ``most`` leaves."""
    parts = [random_tree(random, features, int(random.integers(1, most + 1))) for _ in range(trees)]
    return join(parts) if parts else no_trees()


def random_forest(
    seed: int = 0, trees: int = 5, features: int = 3, most: int = 9, grades: tuple[float, ...] | None = None
) -> Forest:
    """A forest over the features f0, f1, …, those of :func:`oracles.datasets.random_dataset`."""
    random = np.random.default_rng(seed)
    outputs = 1 if grades is None else len(grades)
    return Forest(
        trees=random_trees(random, trees * outputs, features, most),
        feature_names=tuple(f"f{number}" for number in range(features)),
        start=random.normal(size=outputs),
        grades=None if grades is None else np.asarray(grades),
        settings={"learner": "Random", "seed": seed, "shape": [trees, features]},
        history=History("ndcg@10", random.random(trees + 1), np.asarray([]), trees, "finished"),
    )


def random_matrix(seed: int, rows: int, features: int, dtype: type = np.float32) -> np.ndarray:
    """Values that often equal a threshold, and some that are missing or infinite."""
    random = np.random.default_rng(seed)
    matrix = np.round(random.normal(size=(rows, features)), 1)
    matrix[random.random(matrix.shape) < 0.15] = np.nan
    matrix[random.random(matrix.shape) < 0.03] = np.inf
    matrix[random.random(matrix.shape) < 0.03] = -np.inf
    return matrix.astype(dtype)


def leaf_value(trees: Trees, tree: int, row: list[float]) -> float:
    """The value of one row in one tree."""
    root = int(trees.offsets[tree])
    node = root
    while trees.feature[node] != LEAF:
        x = row[trees.feature[node]]
        goes_left = bool(trees.missing_left[node]) if math.isnan(x) else x <= trees.threshold[node].item()
        node = root + int(trees.left[node] if goes_left else trees.right[node])
    return trees.value[node].item()


def sums(forest: Forest, row: list[float]) -> list[float]:
    """The outputs of one row, added in order."""
    totals = forest.start.tolist()
    for tree in range(len(forest.trees)):
        totals[tree % len(totals)] += leaf_value(forest.trees, tree, row)
    return totals


def scores(forest: Forest, matrix: np.ndarray) -> list[float]:
    """The score of every row."""
    every = [sums(forest, row) for row in matrix.astype(np.float64).tolist()]
    if forest.grades is None:
        return [total for (total,) in every]
    means = []
    for totals in every:
        shares = [math.exp(total - max(totals)) for total in totals]
        means.append(sum(s * g for s, g in zip(shares, forest.grades.tolist(), strict=True)) / sum(shares))
    return means
