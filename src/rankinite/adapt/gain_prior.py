"""Prior: what adapting has brought on pairs of domains whose true gain is known, as coefficients of the mixture in ``gain``.

Estimated by ``benchmarks/gain_prior.py``, which prints what stands below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.kernel import Floats


@dataclass(frozen=True, eq=False)
class Prior:
    """One row of coefficients for each kind of domain pair; one column for each of ``gain.Signs``, after a constant."""

    pairs: int
    """How many pairs of domains it is estimated from."""
    weights: Floats
    """aₖ: how likely each kind is."""
    locations: Floats
    """bₖ: what it brings, in standard deviations between queries."""
    scales: Floats
    """sₖ: how unlike the pairs of a kind are."""
    widening: float
    """c: how much more unlike they are where the shift is large."""
    noise: float
    """κ: the variance of the mean difference, in that of the mean of independent differences."""
    lag: float
    """l: how far the mean difference of folds lags behind the gain, in standard errors of independent differences."""


PRIOR = Prior(
    pairs=609,
    weights=np.asarray(
        [
            [0.000, 0.000, 0.000, 0.000, 0.000, 0.000],
            [1.149, 0.178, 0.164, -0.066, -0.634, -0.996],
            [1.604, 0.633, 1.185, 0.499, -0.027, -0.173],
        ]
    ),
    locations=np.asarray(
        [
            [0.003, 0.000, 0.000, 0.000, 0.000, 0.000],
            [0.101, 0.208, 0.007, 0.060, -0.110, -0.125],
            [0.650, 0.145, -0.366, 0.417, 0.052, -0.350],
        ]
    ),
    scales=np.asarray([0.018, 0.090, 0.646]),
    widening=0.304,
    noise=1.617,
    lag=0.336,
)
