"""Shift: how far the target's rows are from those that the background was trained on, 0 (alike) to 1 (surely told apart).

With the background's data, by how well a small forest tells the two apart: 2·AUC − 1, on queries held out. Without them, by
what the background remembers: a forest, how many training rows reached each leaf; a net or a linear ranker, the mean of each
feature. Their distances are brought to the same scale by constants that fit problems on which both are known (ADR 33).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rankinite.adapt.held_out import PREFIX
from rankinite.data.dataset import Dataset
from rankinite.data.folds import holdouts, split
from rankinite.data.joining import concat
from rankinite.engine.kernel import GRADE, SCORE, Floats
from rankinite.errors import DataError
from rankinite.learners.mart import MART
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net

ROWS = 4000
"""About how many rows of each domain are looked at."""
PARTS = 3
TREES = 50
"""The first trees of a forest are looked at, which ask for what matters everywhere."""
OCCUPANCY, CENTRES = 0.04, 0.15
"""The mean distance of leaf shares, and that of means in standard deviations, at which a shift is 1 − 1/e."""
ABSOLUTE = math.sqrt(2.0 / math.pi)
"""The mean distance of a normal number from its mean, in its standard deviations."""


def seen_shift(background: Fitted, source: Dataset | None, target: Dataset, seed: int) -> float | None:
    """The shift between the background's domain and the target's; None where nothing tells."""
    if source is not None and source.categories.keys() == target.categories.keys():  # else their rows cannot be joined
        return max(0.0, 2.0 * told_apart(source, target, seed) - 1.0)
    for ranker in (background, *(part.ranker for part in background.inside())):
        if isinstance(ranker, Forest) and ranker.outputs == 1 and len(counted := _counted_trees(ranker)):
            return 1.0 - math.exp(-max(0.0, _leaf_distance(ranker, counted, target)) / OCCUPANCY)
        if isinstance(ranker, Net | Linear) and ranker.centre is not None and np.any(ranker.centre):
            return 1.0 - math.exp(-max(0.0, _centre_distance(ranker, ranker.centre, target)) / CENTRES)
    return None


def told_apart(source: Dataset, target: Dataset, seed: int) -> float:
    """The area under the curve (AUC) of a forest that tells unseen target rows from background rows; 0.5 if they are alike.

    Whole queries are held out, as the rows of a query resemble each other.
    """
    marked = [
        replace(one, grades=np.full(one.rows, place, GRADE), weights=None, preferences=None, positions=None)
        for place, one in enumerate(_some_queries(domain, seed) for domain in (source, target))
    ]
    parts = min(PARTS, *(one.queries for one in marked))
    if parts < 2:
        return 0.5
    total = 0.0
    for others, own in zip(*(holdouts(one, parts, seed=seed) for one in marked), strict=True):
        both = concat((others.rest, own.rest), prefixes=(PREFIX, ""))
        try:
            forest = MART.plain(trees=30, leaves=6, rate=0.15, min_rows=5, seed=seed).fit(both, allow_overlap=True)
        except DataError:  # no feature tells them apart
            total += 0.5 * own.held.rows
            continue
        scores, above = np.sort(forest.score(others.held)), forest.score(own.held)
        below = np.searchsorted(scores, above, "left") + np.searchsorted(scores, above, "right")  # ties count half
        total += float(below.sum()) / (2 * len(scores))
    return total / marked[1].rows


def _some_queries(domain: Dataset, seed: int) -> Dataset:
    """About ``ROWS`` rows, but no fewer queries than can be held out in turn."""
    least = min(PARTS, domain.queries) / domain.queries
    return domain if domain.rows <= ROWS else split(domain, (max(least, ROWS / domain.rows),), seed=seed)[0]


def _counted_trees(forest: Forest) -> list[int]:
    """The first trees that know how many training rows reached their nodes; imported ones may not."""
    roots = forest.trees.offsets[:-1]
    return np.flatnonzero(forest.trees.rows[roots] > 0)[:TREES].tolist()


def _leaf_distance(forest: Forest, counted: list[int], target: Dataset) -> float:
    """The mean total variation between the shares of training and target rows in the leaves, less what chance makes of it."""
    distances: list[float] = []
    for tree in (forest.trees.take(number, number + 1) for number in counted):
        leaves = np.flatnonzero(tree.feature < 0)
        places = np.zeros(len(tree.feature))
        places[leaves] = np.arange(len(leaves))
        leaf_of_row = replace(forest, trees=replace(tree, value=places), start=np.zeros(1)).score(target).astype(np.int64)
        reached = np.zeros((target.queries, len(leaves)))
        np.add.at(reached, (target.query_of_row(), leaf_of_row), 1.0)
        before, sizes = tree.rows[leaves] / tree.rows[0], np.diff(target.offsets)[:, None]
        now = reached.sum(axis=0) / target.rows
        variance = before * (1.0 - before) / tree.rows[0] + _variance_of_share(reached, sizes, before)
        distances.append(0.5 * float((np.abs(before - now) - ABSOLUTE * np.sqrt(variance)).sum()))
    return float(np.mean(distances))


def _variance_of_share(reached: Floats, sizes: Floats, expected: Floats) -> Floats:
    """The variance of each leaf's share of rows, whole queries being drawn: rows of a query go the same ways."""
    away = reached - sizes * reached.sum(axis=0) / sizes.sum()
    clustered = (away**2).sum(axis=0) / sizes.sum() ** 2
    return np.maximum(clustered, expected * (1.0 - expected) / sizes.sum())


def _centre_distance(ranker: Net | Linear, centre: Floats, target: Dataset) -> float:
    """The mean distance of the features' means from those in training, in standard deviations, less what chance makes."""
    columns = [target.feature_names.index(name) for name in ranker.feature_names]
    matrix = target.features[:, columns].astype(SCORE)
    matrix = np.where(np.isnan(matrix), centre, matrix)
    of_queries = np.add.reduceat(matrix, target.offsets[:-1]) / np.diff(target.offsets)[:, None]
    spread, errors = matrix.std(axis=0), of_queries.std(axis=0) / math.sqrt(target.queries)
    varied = spread > 0.0
    if not varied.any():
        return 0.0
    away = (np.abs(matrix.mean(axis=0) - centre) - ABSOLUTE * errors)[varied] / spread[varied]
    return float(away.mean())
