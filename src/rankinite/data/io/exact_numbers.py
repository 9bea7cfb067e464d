"""Exact rounding of decimal numbers to float32, and the error for whole grades that float32 cannot hold."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from rankinite.errors import DataError, quoted

LARGEST_FLOAT32, FLOAT32_END = float(np.finfo(np.float32).max), 2.0**128
"""The largest float32, and the number that would follow it: from the middle of the two on, numbers round to infinity."""


def nearest_float32(token: str) -> np.float32:
    """The float32 nearest to a decimal number, ties to even, found without rounding on the way."""
    exact = Decimal(token).copy_abs()
    guess = np.float32(min(float(exact), LARGEST_FLOAT32))
    if Decimal(float(guess)) > exact:
        guess = np.nextafter(guess, np.float32(0))
    with np.errstate(over="ignore"):
        above = np.nextafter(guess, np.float32(np.inf))
    middle = Decimal((float(guess) + min(float(above), FLOAT32_END)) / 2)
    rounds_up = exact > middle or (exact == middle and int(guess.view(np.uint32)) % 2 == 1)
    nearest = above if rounds_up else guess
    return -nearest if token.startswith("-") else nearest


def is_another_number(token: str, grade: np.float32) -> bool:
    """Whether a grade that is written as a whole number has become another one, as 16777217 becomes 16777216."""
    exact = Decimal(token)
    return exact == exact.to_integral_value() and exact != Decimal(float(grade))


def inexact_grade(place: str, grade: str | int) -> DataError:
    """The error for a whole grade that becomes another number; ``grade`` as it is written."""
    return DataError(
        f"the whole grade {quoted(grade)} becomes another number as a 32-bit float",
        place=place,
        value=grade,
        rule="Such floats hold all whole numbers up to 16777216",
        remedy="Map the grades to smaller ones",
    )
