"""Checks of a forest before anything walks its trees, wherever it comes from."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from rankinite.errors import DataError, quoted
from rankinite.models.files.container import DAMAGED
from rankinite.models.inputs import two_features

if TYPE_CHECKING:
    from rankinite.models.forest import Forest


def check_forest(forest: Forest) -> None:
    """Refuse trees that the kernels could not walk, and sums that are not finite."""
    names, outputs = forest.feature_names, len(forest.start)
    if len(set(names)) < len(names):
        repeated = min(name for name, count in Counter(names).items() if count > 1)
        raise two_features("forest", repeated)
    forest.trees.check(len(names), "forest")
    _check_categories(forest)
    _check_outputs(forest, outputs)
    _check_numbers(forest)


def _check_categories(forest: Forest) -> None:
    """Refuse sets of features without a vocabulary, codes beyond it, and thresholds on categories."""
    sizes = np.zeros(len(forest.feature_names), np.int64)
    for name, vocabulary in forest.categories.items():
        if name not in forest.feature_names:
            raise DataError(
                f"there is a vocabulary of {quoted(name)}, which is no feature", place="forest", value=name, remedy=DAMAGED
            )
        sizes[forest.feature_names.index(name)] = max(1, len(vocabulary))
    trees, inner = forest.trees, forest.trees.feature >= 0
    asked, has_set = sizes[trees.feature[inner]], trees.set_sizes[inner] > 0
    if not np.array_equal(asked > 0, has_set):
        raise DataError(
            "a node asks for the size of a category, or for the category of a number",
            place="forest",
            rule="Nodes have sets where their feature has a vocabulary, and thresholds elsewhere",
            remedy=DAMAGED,
        )
    largest = trees.set_codes[trees.set_starts[1:][trees.set_sizes > 0] - 1] if trees.has_sets else np.zeros(0)
    if (largest >= asked[has_set]).any():
        raise DataError("a set has codes beyond its vocabulary", place="forest", value=int(largest.max()), remedy=DAMAGED)


def _check_outputs(forest: Forest, outputs: int) -> None:
    """Refuse starts, grades and trees whose numbers do not fit each other."""
    if forest.start.ndim != 1 or not outputs or (forest.grades is None and outputs != 1):
        raise DataError(
            f"the start has shape {forest.start.shape}",
            place="forest",
            value=forest.start.shape,
            remedy="Give one number, or with `grades` one per grade",
        )
    if forest.grades is not None and forest.grades.shape != forest.start.shape:
        raise DataError(
            f"the grades have shape {forest.grades.shape}, but there are {outputs} outputs",
            place="forest",
            value=forest.grades.shape,
            remedy="Give one grade per output",
        )
    if len(forest.trees) % outputs:
        raise DataError(
            f"{len(forest.trees)} trees cannot be shared by {outputs} outputs",
            place="forest",
            value=len(forest.trees),
            rule="Every round has one tree per output",
        )


def _check_numbers(forest: Forest) -> None:
    """Refuse numbers that are not finite, and sums that would not be."""
    numbers = (forest.start, forest.trees.curvature, forest.trees.gain, () if forest.grades is None else forest.grades)
    if not all(np.isfinite(array).all() for array in numbers) or (forest.trees.rows < 0).any():
        raise DataError(
            "a start, grade, curvature, gain or number of rows is infinite, NaN or negative",
            place="forest",
            rule="All must be finite, and no number of rows may be below 0",
            remedy=DAMAGED,
        )
    with np.errstate(over="ignore"):
        largest = np.abs(forest.start).max() + forest.trees.largest_sum()
    if not np.isfinite(largest):
        raise DataError(
            f"the largest leaves of its {len(forest.trees)} trees add up to a number beyond 64-bit floats, so that scores "
            "would be infinite",
            place="forest",
            value=float(largest),
            remedy="The model is damaged, or its training diverged; train it with a smaller rate",
        )
