"""Contributions to the scores of forests: path-dependent TreeSHAP, from the counts of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.engine.kernel import SCORE
from rankinite.errors import ArgumentError
from rankinite.models.explanations.contributions import OWNER, Contributions, Sampling, not_split
from rankinite.models.explanations.response import Response
from rankinite.trees.contributions import add_contributions, covered_trees, trees_without_cover
from rankinite.trees.structure import LEAF

if TYPE_CHECKING:
    from rankinite.models.forest import Forest


def contributions(forest: Forest, features: Any, _sampling: Sampling) -> Contributions:
    """What every feature adds to the sum of the trees."""
    if forest.grades is not None:
        raise not_split(
            "a McRank forest", "They are mean grades under probabilities, no sums of trees", "Distil it into a forest first"
        )
    without = np.flatnonzero(trees_without_cover(forest.trees))
    if len(without):
        raise ArgumentError(
            f"{len(without)} of the {len(forest)} trees, from tree {without[0]} on, have neither counts of rows nor curvatures",
            place=OWNER,
            value=int(without[0]),
            rule="Contributions are means over the training rows that came by each node",
            remedy="Load the file of a library that writes them (LightGBM, XGBoost, CatBoost, rankinite), or train or distil a "
            "forest with rankinite",
        )
    matrix, columns = forest.located(features)
    trees = covered_trees(forest.trees)
    values = np.zeros((len(matrix), len(forest.feature_names)), SCORE)
    add_contributions(trees, matrix, values, columns)
    return Contributions(values, float(forest.start[0] + trees.means.sum()), forest.feature_names)


def response(forest: Forest) -> Response:
    """Steps at the thresholds, and the categories of the features that splits ask for."""
    names, trees = forest.feature_names, forest.trees
    has_set = trees.set_sizes > 0
    inner = (trees.feature != LEAF) & ~has_set
    feature, threshold = trees.feature[inner], trees.threshold[inner]
    return Response(
        thresholds={names[one]: np.unique(threshold[feature == one]) for one in np.unique(feature).tolist()},
        categories={names[one]: forest.categories[names[one]] for one in np.unique(trees.feature[has_set]).tolist()},
    )
