"""Checks of settings: each refuses a value with the name of the learner, the setting and the rule."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from rankinite.errors import ArgumentError, listed


def plain_numbers(settings: Any) -> None:
    """Make NumPy's numbers among the fields of a frozen dataclass Python's own: one from np.arange is as good."""
    numpy = sys.modules.get("numpy")  # not imported here, as help must be quick; who has such numbers has imported it
    for field in fields(settings):
        value = getattr(settings, field.name)
        if numpy is not None and isinstance(value, numpy.generic):
            object.__setattr__(settings, field.name, value.item())


MOST = 2**31 - 1
"""No count of rows, leaves, rounds, … may be larger: kernels use 64 bits, and need some of them for sums."""


def check_count(name: str, field: str, value: object, least: int = 1, most: int = MOST) -> None:
    """Refuse what is not a whole number from ``least`` on, up to ``most``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ArgumentError(f"must be a whole number from {least} on", owner=name, setting=field, value=value)
    if value > most:
        raise ArgumentError("is too large", owner=name, setting=field, value=value, remedy=f"Give at most {most}")


def check_number(
    name: str,
    field: str,
    value: object,
    low: float = -sys.float_info.max,
    high: float = sys.float_info.max,
    *,
    above: bool = False,
) -> None:
    """Refuse what is not a finite number from ``low`` (or only ``above`` it) to ``high``."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    if not number or (above and value == low):
        bounds = "a finite number"
        if high < sys.float_info.max:
            bounds = f"above {low:g} and at most {high:g}" if above else f"from {low:g} to {high:g}"
        elif low > -sys.float_info.max:
            bounds += f" above {low:g}" if above else f" from {low:g} on"
        raise ArgumentError(f"must be {bounds}", owner=name, setting=field, value=value)


def check_rate(name: str, rate: float) -> None:
    """Refuse a shrinkage outside (0, 1]."""
    check_number(name, "rate", rate, 0.0, 1.0, above=True)


def check_positive(name: str, field: str, value: object) -> None:
    """Refuse what is not a finite number above 0."""
    check_number(name, field, value, 0.0, above=True)


def check_flag(name: str, field: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise ArgumentError("must be True or False", owner=name, setting=field, value=value)


def check_choice(name: str, field: str, value: object, known: Sequence[str]) -> None:
    """Refuse what is not among the words known."""
    if value not in known:
        raise ArgumentError("is unknown", owner=name, setting=field, value=value, rule=f"Known are {listed(known)}")


def check_seed(name: str, seed: object) -> None:
    """Refuse what is not a whole number of at most 64 bits."""
    check_count(name, "seed", seed, 0, (1 << 64) - 1)
