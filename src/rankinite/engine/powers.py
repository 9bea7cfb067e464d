"""Powers and logarithms of arrays, with the same bits on every machine.

NumPy's own ``exp2`` takes other instructions, and rounds otherwise, where the processor has AVX-512. Sums and products are
the same everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from rankinite.engine._math_kernels import binary_logarithms
from rankinite.engine.kernel import SCORE, Floats, Reals

_SERIES = tuple(math.log(2.0) ** n / math.factorial(n) for n in range(15))
"""2^r = Σ (r ln 2)ⁿ / n!; with |r| ≤ 1/2 what is left out is below one unit in the last place."""


def power_of_two(exponents: Reals) -> Floats:
    """2^x of every x: exact for whole numbers, within two units in the last place for others."""
    exponents = np.asarray(exponents, SCORE)
    whole = np.rint(exponents)
    rest = exponents - whole
    sums = np.full_like(rest, _SERIES[-1])
    for coefficient in reversed(_SERIES[:-1]):
        sums = sums * rest + coefficient
    return np.ldexp(sums, whole.astype(np.int64))


def natural_powers(exponents: Floats) -> Floats:
    """e^x of every x."""
    return power_of_two(exponents / math.log(2.0))


def natural_logarithms(values: Floats) -> Floats:
    """Ln x of every x."""
    return math.log(2.0) * binary_logarithms(values)
