"""The error for gradients that are not finite, which names the first row that has one."""

from __future__ import annotations

import pickle

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.engine.reducer import Members
from rankinite.errors import DataError, quoted
from rankinite.gradients.base import Objective


def not_finite(push: Floats, curvature: Floats, train: Dataset, objective: Objective, members: Members | None) -> DataError:
    """The error of the first row whose gradient is not finite: that of the first member who has one."""
    rows = np.flatnonzero(~(np.isfinite(push) & np.isfinite(curvature) & (curvature >= 0.0)))
    found: tuple[str, str, float, float] | None = None
    if len(rows):
        row = int(rows[0])
        qid = str(train.qids[np.searchsorted(train.offsets, row, side="right") - 1])
        found = train.source, f"row {row} (query {quoted(qid)})", float(push[row]), float(curvature[row])
    every = [found] if members is None else map(pickle.loads, members.gather(pickle.dumps(found)))
    source, place, pushed, curved = next(one for one in every if one is not None)
    return DataError(
        f"{objective} gives the gradient {pushed:g} and the curvature {curved:g}",
        place=f"{source}, {place}",
        value=(pushed, curved),
        rule="Both must be finite and the curvature not negative",
        remedy="Check the measure's changes, or lower `rate`",
    )
