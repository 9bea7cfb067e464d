"""What holds for the data of all members together, where each has some of them; with no members it is one's own.

Every member calls the same functions in the same order, and all get the same answer to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rankinite.engine.reducer import MAX, SUM, Members

Number = TypeVar("Number", bound=np.generic)


def gathered(members: Members | None, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """The numbers of all, those of the first member first."""
    if members is None:
        return values
    return np.concatenate([np.frombuffer(part, values.dtype) for part in members.gather(values.tobytes())])


def total(members: Members | None, count: int) -> int:
    """The sum of whole numbers."""
    return _combined(members, SUM, count)


def largest(members: Members | None, number: int) -> int:
    """The largest of whole numbers from 0 on."""
    return _combined(members, MAX, number)


def is_any(members: Members | None, flag: Any) -> bool:
    """Whether it is so for one of them."""
    return bool(_combined(members, MAX, int(bool(flag))))


def exact_sum(members: Members | None, values: Sequence[float]) -> float:
    """The sum, rounded once: exact before that, so it does not matter who has which numbers."""
    if members is None:
        return math.fsum(values)
    return math.fsum(gathered(members, np.asarray(exact_terms(values))).tolist())


def exact_terms(values: Sequence[float]) -> list[float]:
    """A few numbers with exactly the same sum."""
    terms: list[float] = []
    while rest := math.fsum([*values, *(-term for term in terms)]):
        terms.append(rest)
        if not math.isfinite(rest):
            break
    return terms


def _combined(members: Members | None, operation: int, number: int) -> int:
    if members is None:
        return number
    numbers = np.asarray([number], np.int64)
    members.combine(operation, numbers)
    return int(numbers[0])
