"""exp, tanh and log by sums, products and quotients alone, which give the same bits on every machine.

Those of the C library and of NumPy take other instructions, and round otherwise, on processors with FMA or AVX-512. Loops
over ``exponential`` and ``hyperbolic_tangent`` also run in SIMD.
"""

from __future__ import annotations

import math

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, frozen, kernel

_PER_LN2, _WHOLE = float.fromhex("0x1.71547652b82fep+0"), 1.5 * 2.0**52
_HALF_ROOT = math.sqrt(0.5)
_LN2 = float.fromhex("0x1.62e42fefa39efp-1")
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")  # so short that its product with n is exact
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # ln 2 minus the former
_PER_LN2_LOW = float.fromhex("0x1.777d0ffda0d24p-56")  # 1/ln 2 minus _PER_LN2
_SPLIT = 2.0**27 + 1.0
LARGEST = 700.0
"""exp of more nears the ends of float64."""


@kernel
def exponential(x: float) -> float:
    """exp(x) for |x| ≤ LARGEST, to about one unit in the last place.

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


@kernel
def whole_power(base: float, exponent: int) -> float:
    """``base`` to a whole power from 0 on, by squaring."""
    power = 1.0
    while exponent > 0:
        if exponent & 1:
            power *= base
        base *= base
        exponent >>= 1
    return power


@kernel
def product_error(a: float, b: float, product: float) -> float:
    """a·b − product, exactly, where ``product`` is a·b rounded (Dekker's way: halves of a factor have exact products)."""
    big = _SPLIT * a
    a_high = big - (big - a)
    big = _SPLIT * b
    b_high = big - (big - b)
    a_low, b_low = a - a_high, b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@kernel
def binary_logarithm(x: float) -> float:
    """log₂ of a positive number, nearly always rounded correctly.

    x = m · 2ⁿ with m near 1, and log m = 2 artanh s with s = (m − 1)/(m + 1), |s| < 0.172. What a float leaves over of s, of
    1/ln 2 and of their product is carried in a second one.
    """
    m, n = math.frexp(x)
    if m < _HALF_ROOT:
        m, n = 2.0 * m, n - 1
    above, below = m - 1.0, m + 1.0
    lost = 1.0 - (below - m)  # of m + 1, by rounding
    s = above / below
    product = s * below
    rest = ((above - product) - product_error(s, below, product) - s * lost) / below
    square = s * s
    series = 1.0 / 21.0
    for odd in range(19, 1, -2):
        series = series * square + 1.0 / odd
    main = 2.0 * s * _PER_LN2
    small = product_error(2.0 * s, _PER_LN2, main) + 2.0 * s * _PER_LN2_LOW + 2.0 * (rest + s * square * series) * _PER_LN2
    if n == 0:
        return main + small
    total = n + main
    return total + ((main - (total - n)) + small)


@kernel
def logarithm(x: float) -> float:
    """The natural logarithm of a positive number, to about one unit in the last place."""
    return binary_logarithm(x) * _LN2


@kernel
def logarithm_of_one_more(x: float) -> float:
    """log(1 + x) for x ≥ 0, also where x is next to nothing."""
    more = 1.0 + x
    return x if more == 1.0 else logarithm(more) * (x / (more - 1.0))


@kernel
def fill_binary_logarithms(values: Floats, out: Floats) -> None:
    """log₂ of every value."""
    for k in range(len(values)):
        out[k] = binary_logarithm(values[k])


def binary_logarithms(values: Floats) -> Floats:
    """log₂ of every value of a (n,) array."""
    found = np.empty(len(values), SCORE)
    fill_binary_logarithms(frozen(values), found)
    return found
