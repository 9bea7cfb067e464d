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


AVERAGED = Prior(
    pairs=1206,
    weights=np.asarray(
        [
            [0.000, 0.000, 0.000, 0.000, 0.000],
            [0.439, 0.486, 0.617, -0.914, -1.354],
            [1.332, 0.530, 1.561, 0.200, -0.119],
        ]
    ),
    locations=np.asarray(
        [
            [0.045, 0.000, 0.000, 0.000, 0.000],
            [0.115, 0.233, 0.011, 0.090, -0.121],
            [0.765, 0.278, -0.221, 0.222, 0.082],
        ]
    ),
    scales=np.asarray([0.041, 0.098, 0.473]),
    widening=0.346,
    noise=1.541,
    lag=0.269,
)
"""Where the average of unlike methods is among the candidates."""

PICKED = Prior(
    pairs=1163,
    weights=np.asarray(
        [
            [0.000, 0.000, 0.000, 0.000, 0.000],
            [0.935, 0.557, 0.878, -0.370, -0.471],
            [0.066, 0.370, 0.993, 0.581, 0.676],
        ]
    ),
    locations=np.asarray(
        [
            [-0.001, 0.000, 0.000, 0.000, 0.000],
            [0.058, 0.276, 0.094, 0.364, -0.151],
            [1.123, 0.133, -0.400, 0.208, -0.133],
        ]
    ),
    scales=np.asarray([0.015, 0.286, 0.513]),
    widening=0.259,
    noise=1.711,
    lag=0.328,
)
"""Where it is not, and the method was picked as the best."""
