"""Selection: a student of the teacher's own trees, chosen and weighed anew."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.sketch import QuerySketch, united
from rankinite.distillation.pursuit import centre_within_queries, pursue
from rankinite.distillation.teacher import centred_scores, on_scale_of, trees_of
from rankinite.errors import ArgumentError
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest
from rankinite.seeds import generator
from rankinite.trees.structure import Trees, join
from rankinite.trees.walk import add_trees, walks_of

MOST_NUMBERS = 1 << 27
"""Rows × trees that are looked at, at most: a gigabyte. Of larger data, whole queries are drawn."""


def select(teacher: Fitted, data: Dataset, trees: int, *, seed: int = 0) -> Forest:
    """A forest of at most ``trees`` trees of the teacher, whose weighted sum comes nearest its scores within queries."""
    found = trees_of(teacher, data.feature_names).forest
    if not len(found.trees):
        raise ArgumentError(
            "the teacher has no trees over the features of the data to choose from",
            place=repr(teacher),
            value=0,
            remedy="Grow new trees instead: `how='grow'`",
        )
    rows = _drawn(data, MOST_NUMBERS // len(found.trees), seed)
    columns = np.zeros((len(found.trees), rows.rows))
    matrix, places = found.located(rows)
    add_trees(walks_of(found.trees), matrix, 0, len(found.trees), columns, places)
    centre_within_queries(columns, rows.offsets)
    pursuit = pursue(columns, centred_scores(teacher, rows), trees)
    chosen = [_weighed(found.trees, tree, weight) for tree, weight in zip(pursuit.columns, pursuit.weights, strict=True)]
    forest = Forest(
        trees=join(chosen),
        feature_names=data.feature_names,
        settings={"learner": "distil", "method": "select", "trees": trees, "seed": seed, "of": len(found.trees)},
        sketch=reduce(united, (*teacher.trained_on, QuerySketch.of(data))),
        categories=found.categories,
    )
    return on_scale_of(teacher, forest, [rows])


def _weighed(trees: Trees, number: int, weight: float) -> Trees:
    tree = trees.take(number, number + 1)
    return replace(tree, value=weight * tree.value)


def _drawn(data: Dataset, rows: int, seed: int) -> Dataset:
    """All queries, or as many drawn at random as have about so many rows."""
    if data.rows <= rows:
        return data
    order = generator(seed).permutation(data.queries)
    sizes = np.cumsum(np.diff(data.offsets)[order])
    return data.select_queries(np.sort(order[: max(int(np.searchsorted(sizes, rows, side="right")), 1)]))
