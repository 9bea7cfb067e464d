"""Logarithms and powers, against Python's decimals."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankinite.engine._math_kernels import binary_logarithms, logarithm, logarithm_of_one_more, whole_power


# The first call compiles, so there are no deadlines.
def units_off(found: float, exact: Decimal) -> float:
    """How many units in the last place of the exact value lie between the two."""
    return float(abs(Decimal(found) - exact) / Decimal(math.ulp(float(exact))))


@settings(deadline=None)
@given(st.floats(1e-300, 1e300))
def test_logarithms_are_right_to_two_units_in_the_last_place(x):
    with localcontext(prec=60):
        assert units_off(logarithm(x), Decimal(x).ln()) <= 2.0


def test_the_logarithm_of_one_is_zero():
    assert logarithm(1.0) == 0.0
    assert logarithm_of_one_more(0.0) == 0.0


@settings(deadline=None)
@given(st.floats(1e-300, 1e300))
def test_one_more_than_next_to_nothing_keeps_its_digits(x):
    with localcontext(prec=700):
        exact = (1 + Decimal(x)).ln() if x > 1e-20 else Decimal(x)
    assert units_off(logarithm_of_one_more(x), exact) <= 4.0


def test_powers_of_two_have_whole_logarithms():
    assert binary_logarithms(np.ldexp(1.0, np.arange(-60, 60))).tolist() == list(range(-60, 60))


def test_discounts_of_all_ranks_are_rounded_almost_correctly():
    ranks = np.arange(2.0, 3000.0)
    with localcontext(prec=40):
        two = Decimal(2).ln()
        worst = max(
            units_off(found, Decimal(rank).ln() / two)
            for rank, found in zip(ranks.tolist(), binary_logarithms(ranks).tolist(), strict=True)
        )
    assert worst <= 0.51


@settings(deadline=None)
@given(st.floats(0.5, 1.5), st.integers(0, 200))
def test_whole_powers(base, exponent):
    assert math.isclose(whole_power(base, exponent), base**exponent, rel_tol=1e-13)
