"""ServingSection: what it would take to serve the ranker of each method, beside how good it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankinite.adapt.choice import Choice, size_of
from rankinite.adapt.serving_costs import COST_NOTE
from rankinite.frames import finite
from rankinite.grid import few


@dataclass(frozen=True)
class RankerCost:
    """One ranker, how good it is, and what it takes to serve it."""

    name: str
    deployed: bool
    mean: float | None
    """On the target's queries."""
    size: str
    """Its trees, weights and nets."""
    microseconds: float
    """For one document."""
    times_background: float
    """The same as a multiple of the background's."""
    bytes: int
    """The size of its model file."""
    served_by: tuple[tuple[str, str], ...]
    """The targets of exports that hold it, those of one exactness together: ``exact``, names."""


@dataclass(frozen=True)
class ServingSection:
    """What it takes to serve the rankers of all methods."""

    measure: str
    higher_is_better: bool
    decimals: int
    """Of the means, as in the table of methods."""
    rankers: tuple[RankerCost, ...]
    """The best first, as in the table of methods."""
    note: str
    """How time was taken."""


def serving_section(choice: Choice, order: Sequence[str], decimals: int) -> ServingSection | None:
    """The costs of all methods in this order; None where none were taken."""
    models, costs = choice.models, choice.costs
    if not costs:
        return None
    rankers = tuple(
        RankerCost(
            name=name,
            deployed=name == choice.verdict.recommended,
            mean=finite(choice.unseen[name][choice.measure].mean),
            size=size_of(models[name]),
            microseconds=costs[name].microseconds,
            times_background=costs[name].times_background,
            bytes=costs[name].bytes,
            served_by=_by_exactness(costs[name].served_by),
        )
        for name in order
        if name in costs
    )
    return ServingSection(str(choice.measure), choice.measure.higher_is_better, decimals, rankers, COST_NOTE)


def serving_sentence(choice: Choice) -> tuple[str, ...]:
    """What it takes to serve the ranker to deploy; nothing where that is the background, or not known."""
    cost = choice.costs.get(choice.verdict.recommended)
    if cost is None or choice.verdict.recommended == "background":
        return ()
    held = f"{few(cost.served_by, 3)} can hold it" if cost.served_by else "no other program can hold it"
    time = f"{cost.microseconds:.1f} µs per document, {cost.times_background:.1f} times what the background takes"
    return (f"It is served in {time}; {held}.",)


def _by_exactness(served_by: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Targets by how near the scores are there, the nearest first."""
    found: dict[str, list[str]] = {exactness: [] for exactness in ("exact", "last bits", "float32")}
    for target, exactness in served_by.items():
        found.setdefault(exactness, []).append(target)
    return tuple((exactness, ", ".join(names)) for exactness, names in found.items() if names)
