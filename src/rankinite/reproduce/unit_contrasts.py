"""Contrasts that no pair of systems on one test gives, such as closed against open tests: settled unit by unit."""

from __future__ import annotations

from collections.abc import Callable

from rankinite.reproduce.claims import SURE
from rankinite.reproduce.differences import FEWEST_UNITS, Difference, of_units
from rankinite.reproduce.experiment import Outcomes

Value = Callable[[Outcomes], float | None]
"""What a unit says: above 0 if the claim holds for it; None where it says nothing."""


def contrast(results: Outcomes, value: Value) -> tuple[str, bool | None]:
    """Whether the units' mean lies above 0: asked of real data first, and where these decide nothing of artificial ones."""
    seen = {kind: unit_mean(results.where(real=kind == "real"), value) for kind in ("real", "artificial")}
    known = {kind: one for kind, one in seen.items() if one is not None}
    settled = [one.mean > 0.0 for one in known.values() if one.p_either() <= SURE]
    return "; ".join(f"{kind} {one}" for kind, one in known.items()) or "too few units", settled[0] if settled else None


def unit_mean(results: Outcomes, value: Value) -> Difference | None:
    """The mean over units; None where they are too few to be a sample."""
    found = [value(results.where(unit=unit)) for unit in results.units]
    known = [one for one in found if one is not None]
    return of_units(known) if len(known) >= FEWEST_UNITS else None
