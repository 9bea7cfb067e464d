"""How training went, round by round."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.errors import ArgumentError, DataError


@dataclass(frozen=True, eq=False)
class History:
    """The measure after every round of training: entry r is its value after r rounds, entry 0 what training began with."""

    measure: str
    """What was measured, as ``parse_measure`` reads it."""
    train: Floats
    """The values on the training data; empty when they were not taken."""
    valid: Floats
    """The values on the validation data; empty when there were none."""
    best: int
    """How many rounds were kept."""
    stopped: str
    """Why training ended: "finished", "early" (no better on the validation data), "interrupted", …."""
    steps: Floats = field(default_factory=lambda: np.empty(0))
    """The exact weight of each round's tree (the mean of several), where weights were looked for; else empty."""

    def __post_init__(self) -> None:
        for name in ("train", "valid", "steps"):
            values = frozen(np.ascontiguousarray(getattr(self, name), SCORE))
            if values.ndim != 1 or np.isinf(values).any():
                raise ArgumentError(f"History({name}=…): give one value a round, finite or NaN.")
            object.__setattr__(self, name, values)
        if self.best < 0:
            raise ArgumentError(f"History(best={self.best}): the number of rounds kept cannot be negative.")

    @property
    def rounds(self) -> int:
        """How many rounds were trained, those that were not kept included."""
        return max(len(self.train), len(self.valid), self.best + 1) - 1

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; NaN is null. :meth:`from_dict` gives the same numbers back to the bit."""
        return {
            "measure": self.measure,
            "train": _without_nan(self.train),
            "valid": _without_nan(self.valid),
            "best": int(self.best),
            "stopped": self.stopped,
            **({"steps": self.steps.tolist()} if len(self.steps) else {}),
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> History:
        """A history from what :meth:`to_dict` gave."""
        measure, best, stopped = told.get("measure"), told.get("best"), told.get("stopped")
        if not isinstance(measure, str) or type(best) is not int or not isinstance(stopped, str):
            raise DataError("the history needs a measure, a whole number of rounds and the reason why training ended.")
        train, valid, steps = (_with_nan(told.get(name, [])) for name in ("train", "valid", "steps"))
        return cls(measure, train, valid, best, stopped, steps)


def _without_nan(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _with_nan(told: Any) -> Floats:
    values: Any = cast("list[Any]", told) if isinstance(told, list) else [told]
    if not isinstance(told, list) or any(type(value) not in (int, float, type(None)) for value in values):
        raise DataError("the history must list numbers or null for every round.")
    try:
        return np.asarray([math.nan if value is None else float(value) for value in values], SCORE)
    except OverflowError as error:
        raise DataError("the history has a number too large for a float.") from error
