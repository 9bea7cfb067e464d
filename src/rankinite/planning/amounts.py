"""Numbers as people write them: ``1e9`` or ``100M`` rows, a network of ``10Gb``."""

from __future__ import annotations

import math
import re

from rankinite.errors import ArgumentError

_POWERS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}
_RATES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NUMBER = r"([0-9][0-9,_]*\.?[0-9]*(?:[eE]\+?[0-9]+)?|\.[0-9]+(?:[eE]\+?[0-9]+)?)"
MOST_ROWS = 10**15
"""More are a slip of the keyboard."""


def count_of(setting: str, value: object, most: int = MOST_ROWS) -> int:
    """A whole number from 1 on, given as a number or as text.

    >>> count_of("rows", "1e9"), count_of("rows", "1.5M"), count_of("rows", 20), count_of("features", "136")
    (1000000000, 1500000, 20, 136)
    """
    number = _number(value)
    if number is None or number < 1 or number != int(number):
        raise ArgumentError(
            "is not understood",
            owner="plan",
            setting=setting,
            value=value,
            rule="It must be a whole number from 1 on",
            remedy="Write it as 1000000, 1e6, or 1M (k, M, G)",
        )
    if number > most:
        raise ArgumentError("is too large", owner="plan", setting=setting, value=value, remedy=f"Give at most {most}")
    return int(number)


def _number(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if math.isfinite(value) else None
    found = re.fullmatch(rf"{_NUMBER}\s*([kKMGBT]?)", value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    plain, power = re.sub("[,_]", "", found[1]), _POWERS[found[2]]
    exact = int(plain) * power if plain.isdecimal() else round(float(plain) * power, 6)
    return exact if math.isfinite(exact) else None


def bandwidth_of(text: object) -> float:
    """Bytes that a network carries in a second; a small b is a bit, a large B a byte.

    >>> bandwidth_of("10Gb"), bandwidth_of("1.25 GB/s"), bandwidth_of("100 Mbit")
    (1250000000.0, 1250000000.0, 12500000.0)
    """
    found = None
    if isinstance(text, str):
        found = re.fullmatch(rf"{_NUMBER}\s*([kMGT])(b|B|bit|bps|byte)(?:/s|ps)?", text.strip())
    rate = 0.0
    if found is not None:
        rate = float(re.sub("[,_]", "", found[1])) * _RATES[found[2]] / (1.0 if found[3] in ("B", "byte") else 8.0)
    if not 0.0 < rate < math.inf:
        raise ArgumentError(
            "is not understood",
            owner="plan",
            setting="network",
            value=text,
            rule="It is what one machine can send in a second",
            remedy="Write it as 10Gb or 25Gb (gigabits), or as 1.2GB (gigabytes)",
        )
    return rate
