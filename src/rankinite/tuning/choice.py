"""Choice of settings, and what the best of many is worth.

The best value of many trials is too good: among equals, the luckiest leads. Bootstrap bias-corrected cross-validation
(Tsamardinos and others, 2018) asks what the choice is worth on queries that had no part in it: queries are drawn with
repetition, the choice is made on those drawn, and judged on the others. It needs no further fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import Floats
from rankinite.seeds import generator

RESAMPLES = 1000


@dataclass(frozen=True)
class Estimate:
    """A mean over queries with its 95 % interval."""

    mean: float
    low: float
    high: float


def choose_setting(values: Floats, sizes: Sequence[float], weights: Floats | None = None) -> int:
    """The smallest model that is within one standard error of the best, the better of equals, else the first.

    ``values``: settings × queries, higher being better. ``weights``: how often each query counts.
    """
    counts = np.ones(values.shape[1]) if weights is None else weights
    means = values @ counts / counts.sum()
    behind = values[int(np.argmax(means))] - values
    short = behind @ counts / counts.sum()
    spread = np.sqrt(np.maximum((behind**2) @ counts / counts.sum() - short**2, 0.0))
    near: list[int] = np.flatnonzero(short <= spread / np.sqrt(max(counts.sum() - 1.0, 1.0))).tolist()
    return min(near, key=lambda number: (sizes[number], -float(means[number]), number))


def corrected_estimate(values: Floats, sizes: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate | None:
    """What the setting chosen is worth on queries that had no part in the choice; None with a single query."""
    queries, drawing = values.shape[1], generator(seed)
    found: list[float] = []
    for _ in range(resamples):
        counts = np.bincount(drawing.integers(0, queries, queries), minlength=queries).astype(float)
        left = counts == 0.0
        if left.any():
            found.append(float(values[choose_setting(values, sizes, counts), left].mean()))
    if not found:
        return None
    low, high = np.quantile(found, (0.025, 0.975)).tolist()
    return Estimate(float(np.mean(found)), low, high)
