"""Checks of a forest before anything walks it, whoever has made it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from rankinite.errors import DataError, quoted

if TYPE_CHECKING:
    from rankinite.models.forest import Forest


def check_forest(forest: Forest) -> None:
    """Refuse what the kernels could not walk, and sums that are no numbers."""
    names, outputs = forest.feature_names, len(forest.start)
    if len(set(names)) < len(names):
        repeated = min(name for name, count in Counter(names).items() if count > 1)
        raise DataError(f"forest: two features are called {quoted(repeated)}. Names must differ; rename one.")
    forest.trees.check(len(names), "forest")
    if forest.start.ndim != 1 or not outputs or (forest.grades is None and outputs != 1):
        raise DataError(f"forest: start has shape {forest.start.shape}. Give one number, or with grades one for each.")
    if forest.grades is not None and forest.grades.shape != forest.start.shape:
        raise DataError(f"forest: there are grades of shape {forest.grades.shape} for {outputs} outputs. Give one an output.")
    if len(forest.trees) % outputs:
        raise DataError(
            f"forest: {len(forest.trees)} trees cannot be shared by {outputs} outputs. Every round has one for each."
        )
    numbers = (forest.start, forest.trees.curvature, forest.trees.gain, () if forest.grades is None else forest.grades)
    if not all(np.isfinite(array).all() for array in numbers) or (forest.trees.rows < 0).any():
        raise DataError("forest: a start, grade, curvature, gain or number of rows is no number that could be one.")
    with np.errstate(over="ignore"):
        largest = np.abs(forest.start).max() + forest.trees.largest_sum()
    if not np.isfinite(largest):
        raise DataError(
            f"forest: the largest leaves of its {len(forest.trees)} trees add up to a number beyond 64-bit floats, so that "
            "scores would be infinite. The model is damaged, or its training diverged; train it with a smaller rate."
        )
