"""Selection: a student of the teacher's own trees, chosen and weighted anew by orthogonal matching pursuit.

Each step takes the tree that explains most of what is left of the teacher's scores, and then weights all trees taken anew by
least squares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch, unite_sketches
from rankinite.distillation import _pursuit_kernels as _kernels
from rankinite.distillation.teacher import centred_scores, on_scale_of, trees_of
from rankinite.engine.kernel import INDEX, SCORE, Floats, Indices, frozen
from rankinite.engine.parallel import run, thread_count
from rankinite.errors import ArgumentError
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest
from rankinite.seeds import generator
from rankinite.trees.structure import Trees, join
from rankinite.trees.walk import add_trees, walks_of

TINY = 1e-9
"""A column of whose square less than this share is new adds nothing but rounding."""


class Pursuit(NamedTuple):
    """What was chosen."""

    columns: Indices
    """The columns, in the order they were taken."""
    weights: Floats
    """The weight of each."""
    explained: Floats
    """The share of the target's square that the first 1, 2, … columns explain."""


def pursue(columns: Floats, target: Floats, most: int) -> Pursuit:
    """Choose at most ``most`` rows of ``columns`` (columns × rows of data); fewer where nothing is left to explain."""
    count = len(columns)
    squares, fit = np.empty(count), np.empty(count)
    _over(count, lambda first, last: _squares(columns, first, last, squares))
    target = np.ascontiguousarray(target, SCORE)
    whole = float(_kernels.product(target, target))
    most = min(most, count)
    factor, right, weights = np.zeros((most, most)), np.zeros(most), np.zeros(most)
    chosen, rest, explained = np.zeros(most, INDEX), target.copy(), np.zeros(most)
    free = squares > 0.0
    size = 0
    while size < most and free.any() and whole > 0.0:
        _over(count, lambda first, last: _kernels.products(columns, rest, first, last, fit))
        gains = np.where(free, fit * fit / np.where(free, squares, 1.0), -1.0)
        best = int(np.argmax(gains))
        free[best] = False
        row = np.asarray([_kernels.product(columns[one], columns[best]) for one in chosen[:size].tolist()], SCORE)
        pivot = _kernels.grow_factor(factor, size, row, squares[best])
        if pivot <= TINY * squares[best]:
            continue
        factor[size, size] = np.sqrt(pivot)
        right[size], chosen[size] = _kernels.product(columns[best], target), best
        size += 1
        _kernels.solve_factor(factor, size, right, weights)
        _kernels.subtract(target, columns, chosen, weights, size, rest)
        explained[size - 1] = 1.0 - _kernels.product(rest, rest) / whole
        if gains[best] <= TINY * whole:
            break
    return Pursuit(chosen[:size], weights[:size].copy(), explained[:size])


def centre_within_queries(columns: Floats, offsets: Indices) -> None:
    """Take from every column its mean within each query, which no ranking sees."""
    _over(len(columns), lambda first, last: _kernels.centre(columns, frozen(offsets), first, last))


def _squares(columns: Floats, first: int, last: int, out: Floats) -> None:
    for column in range(first, last):
        out[column] = _kernels.product(columns[column], columns[column])


def _over(count: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(first, last)`` on the threads in force, for pieces of the columns."""
    pieces = min(4 * thread_count(), count)
    cuts = [count * piece // pieces for piece in range(pieces + 1)]
    run(lambda piece: work(*piece), list(pairwise(cuts)))


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
        sketch=reduce(unite_sketches, (*teacher.trained_on, QuerySketch.of(data))),
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
