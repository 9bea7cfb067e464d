"""Numbers of 32 bits beside a threshold of 64, by which trees keep every decision in programs that compare in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Features

Numbers = npt.NDArray[Any]


def floor32(numbers: Numbers | float) -> Features:
    """The largest float32 that is not above each number: for a float32 x, ``x <= number`` and ``x <= floor32`` are one.

    −0.0 becomes 0.0, which compares alike and is read alike by every parser.
    """
    wide = np.asarray(numbers, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        near = wide.astype(np.float32)
        below = np.nextafter(near, np.float32(-np.inf))
    return np.where(near.astype(np.float64) > wide, below, near) + np.float32(0.0)


def above32(numbers: Numbers | float) -> Features:
    """The next float32 above ``floor32``: for a float32 x, ``x <= number`` and ``x < above32`` are one."""
    with np.errstate(over="ignore"):
        return np.nextafter(floor32(numbers), np.float32(np.inf)) + np.float32(0.0)


def shortest(number: Any) -> str:
    """The shortest decimal that a float32 or float64 is read back from, always with a point or an exponent."""
    text = str(np.format_float_positional(number, unique=True, trim="0")) if 1e-4 <= abs(number) < 1e16 or number == 0 else ""
    return text or str(np.format_float_scientific(number, unique=True, trim="0"))


def exact32(number: Any) -> str:
    """A decimal that is read back as the same float32, whether a program rounds it at once or by way of float64."""
    text = shortest(np.float32(number))
    return text if np.float32(float(text)) == number else repr(float(number))
