"""Checks of a forest before anything walks its trees, wherever it comes from."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from rankinite.errors import DataError
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
    _check_outputs(forest, outputs)
    _check_numbers(forest)


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
