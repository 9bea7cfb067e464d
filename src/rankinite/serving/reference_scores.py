"""Reference scores: a flat ranker computed by its own parts, which is what twins of nets and mixed sums are compared with."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, Reals
from rankinite.gradients.pointwise import probability
from rankinite.models.base import names_of
from rankinite.models.feature import Feature
from rankinite.models.normalised import LARGEST
from rankinite.serving.flattening import Flat, Leaf, NetOfSums, Probability


def flat_scores(flat: Flat, matrix: Reals, names: tuple[str, ...]) -> Floats:
    """``start`` + the sum of weight × score over the terms, for rows whose columns have these names."""
    total = np.full(len(matrix), flat.start, SCORE)
    for term in flat.terms:
        with np.errstate(over="ignore"):  # beyond all floats is the largest of them, as in blends
            summand = bounded(term.weight * leaf_scores(term.leaf, matrix, names))
            total = bounded(total + summand)
    return total


def bounded(numbers: Floats) -> Floats:
    """Numbers between the lowest and the highest float."""
    return np.clip(numbers, -LARGEST, LARGEST)


def leaf_scores(leaf: Leaf, matrix: Reals, names: tuple[str, ...]) -> Floats:
    """The scores of one summand. A feature that the rows do not have is one that nothing depends on."""
    if isinstance(leaf, Probability):
        return probability(flat_scores(leaf.inner, matrix, names), 1.0)
    if isinstance(leaf, NetOfSums):
        return leaf.top.score(np.column_stack([flat_scores(flat, matrix, names) for flat in leaf.inputs]))
    if isinstance(leaf, Feature):
        return Feature(names.index(str(leaf.feature)), leaf.ascending).score(matrix)
    return leaf.score(matching_columns(names_of(leaf), matrix, names))


def matching_columns(wanted: tuple[str, ...], matrix: Reals, names: tuple[str, ...]) -> Reals:
    """The columns of the features wanted, from rows whose columns have these names; 0 for features that are not there."""
    place = {name: number for number, name in enumerate(names)}
    columns = np.zeros((len(matrix), len(wanted)), matrix.dtype)
    for number, name in enumerate(wanted):
        if name in place:
            columns[:, number] = matrix[:, place[name]]
    return columns
