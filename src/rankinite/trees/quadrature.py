"""Gauss–Legendre rules with the same bits on every machine: computed with 50 digits, then rounded."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from rankinite.engine.kernel import frozen
from rankinite.trees._contribution_state import Quadrature

DIGITS = 50
STEPS = 8
"""Newton's steps, each of which doubles the digits: three are enough from the first guess, which has five or more."""


@lru_cache(maxsize=8)
def quadrature(most: int) -> Quadrature:
    """The rules of 1 to ``most`` points on [0, 1]. That of n points is exact for polynomials up to degree 2n − 1."""
    points, weights = np.zeros((most + 1, max(most, 1))), np.zeros((most + 1, max(most, 1)))
    for count in range(1, most + 1):
        for place in range(count):
            points[count, place], weights[count, place] = _point(count, place)
    return Quadrature(frozen(points), frozen(weights))


@lru_cache(maxsize=4096)
def _point(count: int, place: int) -> tuple[float, float]:
    """One point of a rule and its weight: a root x of the Legendre polynomial P, moved from [−1, 1] to [0, 1]."""
    with localcontext() as context:
        context.prec = DIGITS
        x = Decimal(math.cos(math.pi * (place + 0.75) / (count + 0.5)))
        for _ in range(STEPS):
            value, slope = _legendre(count, x)
            x -= value / slope
        slope = _legendre(count, x)[1]
        return float((1 - x) / 2), float(1 / ((1 - x * x) * slope * slope))


def _legendre(degree: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """The Legendre polynomial of a degree and its derivative, by Bonnet's recursion."""
    before, value = Decimal(1), x
    for k in range(2, degree + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, degree * (x * value - before) / (x * x - 1)
