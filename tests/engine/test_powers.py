"""2^x, against Python's own arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankinite.engine.powers import _SERIES, power_of_two


def test_whole_numbers_are_exact():
    assert power_of_two(np.arange(-40.0, 1000.0)).tolist() == [2.0**n for n in range(-40, 1000)]


@given(st.floats(0.0, 31.0))
def test_fractions_are_right_to_two_units_in_the_last_place(x):
    with localcontext(prec=40):
        exact = Decimal(2) ** Decimal(x)
        assert abs(Decimal(float(power_of_two(np.asarray([x]))[0])) - exact) <= 2 * Decimal(math.ulp(float(exact)))


@given(st.lists(st.floats(0.0, 31.0), min_size=1, max_size=40))
def test_bits_are_those_of_plain_sums_and_products(exponents):
    """Python's floats know no vector instructions: whatever NumPy uses must agree with them to the bit."""
    slow = []
    for x in exponents:
        whole, total = round(x), _SERIES[-1]
        for coefficient in reversed(_SERIES[:-1]):
            total = total * (x - whole) + coefficient
        slow.append(math.ldexp(total, whole))
    assert power_of_two(np.asarray(exponents)).tolist() == slow
