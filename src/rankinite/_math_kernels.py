"""exp and tanh on single numbers, such that loops over them run in SIMD and give the same bits on every machine."""

from __future__ import annotations

import numpy as np

from rankinite.kernel import kernel

_PER_LN2, _WHOLE = float(1.0 / np.log(2.0)), 1.5 * 2.0**52
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # so short that its product with n is exact
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # ln 2 minus the former


@kernel
def exponential(x: float) -> float:
    """exp(x) for |x| < 700, to about one unit in the last place.

    exp(x) = 2ⁿ exp(r) with n the whole number next to x/ln 2, found in the last bits of a sum with a large float, and the
    series of exp(r), |r| ≤ ln 2 / 2.
    """
    shifted = x * _PER_LN2 + _WHOLE
    n = shifted - _WHOLE
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    series = 1.0 / 6227020800.0
    series = series * r + 1.0 / 479001600.0
    series = series * r + 1.0 / 39916800.0
    series = series * r + 1.0 / 3628800.0
    series = series * r + 1.0 / 362880.0
    series = series * r + 1.0 / 40320.0
    series = series * r + 1.0 / 5040.0
    series = series * r + 1.0 / 720.0
    series = series * r + 1.0 / 120.0
    series = series * r + 1.0 / 24.0
    series = series * r + 1.0 / 6.0
    series = series * r + 0.5
    power = (np.float64(shifted).view(np.uint64) + np.uint64(1023)) << np.uint64(52)
    return (1.0 + (r + r * r * series)) * np.uint64(power).view(np.float64)


@kernel
def hyperbolic_tangent(x: float) -> float:
    """tanh(x) to 1e-15 absolutely, for any x that is a number."""
    size = abs(x)
    small = exponential(-2.0 * (min(20.0, size)))
    value = (1.0 - small) / (1.0 + small)
    return value if x >= 0.0 else -value
