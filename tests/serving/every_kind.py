"""One ranker of every kind, with random numbers in it: those that score one document at a time, and those that need queries."""

from __future__ import annotations

import numpy as np

from oracles.trees import random_forest
from rankinite.models.feature import Feature
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.models.normalised import Normalised
from rankinite.models.query_summaries import QuerySummaries, summary_names
from rankinite.models.stack import Stack
from rankinite.nets.network import sizes_of, weight_count
from rankinite.trees.structure import LEAF, Trees
from serving.random_rankers import forest_of

NAMES = ("f0", "f1", "f2")


def linear_of(seed, names=NAMES, nan="mean"):
    """A linear ranker over some features, in their order."""
    random = np.random.default_rng([seed, 1])
    weights, centre = random.normal(size=(2, len(names)))
    return Linear(names, weights, float(random.normal()), centre, nan)


def net_of(seed, names=NAMES, nan="mean", hidden=(4, 3)):
    """A net; its second feature has scale 0, which leaves it out."""
    random = np.random.default_rng([seed, 2])
    scale = random.uniform(0.1, 3.0, len(names))
    scale[1] = 0.0
    weights = random.normal(size=weight_count(sizes_of(len(names), hidden)))
    return Net(names, hidden, weights, random.normal(size=len(names)), scale, nan)


def one_by_one(seed=0):
    """Rankers that score one document at a time, by what they are."""
    forest, other, grades = random_forest(seed), random_forest(seed + 100), random_forest(seed, grades=(0.0, 1.0, 3.0))
    linear, net = linear_of(seed), net_of(seed, ("f2", "f0"))
    feature, low = Feature("f1"), Feature("f2", ascending=True)
    scaled, chance = Normalised(forest, "all", 0.3, 1.7), Normalised(net, "probability", -0.2, 0.7)
    return {
        "forest": forest,
        "another forest": forest_of(seed),
        "forest of grades": grades,
        "linear": linear,
        "linear that refuses": linear_of(seed, ("f2", "f0"), "refuse"),
        "net": net,
        "net that refuses": net_of(seed, NAMES, "refuse", (5,)),
        "net without hidden units": net_of(seed, NAMES, "mean", ()),
        "feature": feature,
        "ascending feature": low,
        "blend of forests": 0.3 * forest + 0.7 * other + 0.1 * forest,
        "blend of features": 2.5 * feature + low,
        "blend of all": 0.3 * forest + 0.7 * other + 2.0 * grades + 0.5 * linear + -1.5 * net + 0.01 * feature + low,
        "normalised": scaled,
        "normalised feature": Normalised(low, "all", 0.3, 1.7),
        "probability": chance,
        "blend of normalised": 0.5 * scaled + 0.25 * chance + Normalised(other, "probability"),
        "linear stack": Stack((forest, net, chance), linear_of(seed, ("a", "b", "c"))),
        "stack": Stack((other, grades, scaled), net_of(seed, ("a", "b", "c"))),
        "stack in a blend": 0.5 * Stack((other, linear, chance), net_of(seed, ("a", "b", "c"), hidden=())) + forest,
    }


def query_by_query(seed=0):
    """Rankers whose scores depend on the other documents of a query in another way than by a last scaling."""
    forest, linear, feature = random_forest(seed), linear_of(seed), Feature("f1")
    top = linear_of(seed, (*NAMES, *summary_names(2)))
    return {
        "blend by query": 0.4 * Normalised(forest, "query") + 0.6 * Normalised(linear, "query"),
        "blend by rank": Normalised(forest, "rank") + 0.5 * Normalised(feature, "rank"),
        "peak": Normalised(forest, "peak"),
        "stack by query": Stack((Normalised(forest, "query"), linear), linear_of(seed, ("a", "b"))),
        "summaries": QuerySummaries((forest, linear), top),
        "blend with summaries": 0.5 * QuerySummaries((forest, linear), top) + Normalised(linear, "rank"),
    }


def stumps(thresholds, missing_left, values=None, names=("a",), start=0.0):
    """A forest of trees with one split of the first feature; ``values``: of the left and the right leaf of each."""
    count = len(thresholds)
    leaves = np.asarray([(number + 1.0, -number - 1.0) for number in range(count)] if values is None else values, np.float64)
    feature, nothing = np.tile(np.asarray([0, LEAF, LEAF], np.int32), count), np.zeros(3 * count)
    trees = Trees(
        feature=feature,
        threshold=np.where(feature == LEAF, 0.0, np.repeat(thresholds, 3)),
        missing_left=(feature != LEAF) & np.repeat(missing_left, 3),
        left=np.where(feature == LEAF, 0, 1),
        right=np.where(feature == LEAF, 0, 2),
        value=np.column_stack((np.zeros(count), leaves)).ravel(),
        rows=nothing,
        curvature=nothing,
        gain=nothing,
        offsets=np.arange(count + 1) * 3,
    )
    return Forest(trees, names, start=np.asarray([start]))


def beside(threshold):
    """One column: a threshold, the numbers just below and above it in float64, and none."""
    return np.asarray([[threshold], [np.nextafter(threshold, -np.inf)], [np.nextafter(threshold, np.inf)], [np.nan]])


ODD_NAMES = ("a b", "é<\"&>'", "x,y:{z}[0]", "特徴", "1", "score", "features", "tab\tstop")
"""Names that formats may stumble over."""
