"""Contrasts that no pair of systems on one test gives, such as closed against open tests: settled unit by unit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankinite.reproduce.claims import SURE
from rankinite.reproduce.differences import FEWEST_UNITS, Difference
from rankinite.reproduce.experiment import Outcomes

Value = Callable[[Outcomes], float | None]
"""What a unit says: above 0 if the claim holds for it; None where it says nothing."""


def contrast(results: Outcomes, value: Value) -> tuple[str, bool | None]:
    """Whether the units' mean lies above 0: asked of real data first, and where these decide nothing of artificial ones."""
    told: list[str] = []
    settled: list[bool] = []
    for kind, own in (("real", results.where(real=True)), ("artificial", results.where(real=False))):
        found = [value(own.where(unit=unit)) for unit in own.units]
        known = np.asarray([one for one in found if one is not None])
        if len(known) >= FEWEST_UNITS:
            seen = Difference(
                float(known.mean()), float(known.std(ddof=1)) / len(known) ** 0.5, len(known) - 1, len(known), of_units=True
            )
            told.append(f"{kind} {seen}")
            settled += [seen.mean > 0.0] if 2.0 * min(seen.p_above(), seen.p_below()) <= SURE else []
    return "; ".join(told) or "too few units", settled[0] if settled else None
