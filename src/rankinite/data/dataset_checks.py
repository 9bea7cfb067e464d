"""What the arrays of a data set must be, whoever made them: kernels write where offsets and row numbers point, unchecked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankinite.errors import DataError

LEAST_WEIGHT, MOST_WEIGHT = 1e-100, 1e100
"""Of a query that counts: gradients are multiplied by its weight, squared and added up, in 64-bit floats."""

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset


def check_dataset(data: Dataset) -> None:
    """Refuse arrays that do not fit together, or hold values that nothing can be computed from."""
    _check_shapes(data)
    _check_offsets(data)
    names, counts = np.unique(data.qids, return_counts=True)
    if len(names) < data.queries:
        raise DataError(f"{data.source}: query {str(names[counts > 1][0])!r} appears twice. Query ids must differ.")
    _check_weights(data)
    if data.preferences is not None:
        data.preferences.check(data.query_of_row())
    bad = np.flatnonzero(~np.isfinite(data.grades))
    if len(bad):
        raise DataError(f"{data.source}: row {bad[0]} has grade {data.grades[bad[0]]}. Grades must be finite numbers.")


def _check_shapes(data: Dataset) -> None:
    rows, queries = data.grades.size, data.qids.size
    expected = {
        "grades": (data.grades, (rows,)),
        "qids": (data.qids, (queries,)),
        "features": (data.features, (rows, len(data.feature_names))),
        "offsets": (data.offsets, (queries + 1,)),
        "doc_ids": (data.doc_ids, (rows,)),
        "weights": (data.weights, (queries,)),
        "batches": (data.batches, (queries,)),
        "input_row": (data.input_row, (rows,)),
    }
    for name, (array, shape) in expected.items():
        if array is not None and array.shape != shape:
            raise DataError(f"{data.source}: {name} has shape {array.shape} but must have {shape}.")


def _check_offsets(data: Dataset) -> None:
    """Neighbours are compared, not subtracted: the difference of two huge numbers wraps round."""
    offsets, rows = data.offsets, data.rows
    inside = bool(((offsets >= 0) & (offsets <= rows)).all())
    if offsets[0] != 0 or offsets[-1] != rows or not inside or not (offsets[:-1] < offsets[1:]).all():
        raise DataError(f"{data.source}: offsets must rise from 0 to {rows}, the number of rows, without an empty query.")


def _check_weights(data: Dataset) -> None:
    if data.weights is None:
        return
    inside = (data.weights == 0) | ((data.weights >= LEAST_WEIGHT) & (data.weights <= MOST_WEIGHT))
    bad = np.flatnonzero(~inside)
    if len(bad):
        raise DataError(
            f"{data.source}: query {str(data.qids[bad[0]])!r} has weight {data.weights[bad[0]]:g}. Weights must be finite and "
            f"not negative: 0, or from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, so that sums and squares of them are numbers too. "
            "Divide all of them by one number."
        )
