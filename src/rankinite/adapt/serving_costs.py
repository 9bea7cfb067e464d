"""Serving costs: where the ranker of each method can be served, and how long it takes for a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.adapt.trials import MethodTrial
from rankinite.choices import Exactness
from rankinite.data.dataset import Dataset
from rankinite.grid import Grid
from rankinite.models.files.container import model_bytes
from rankinite.serving.offers import targets
from rankinite.serving.scoring_time import seconds_to_score
from rankinite.serving.target import target_named

DOCUMENTS = 100
"""Rows that are scored together for the time of one, if there are as many."""
COST_NOTE = f"µs: one of {DOCUMENTS} documents scored together, in this library on this machine; features come on top."
"""How the time is taken."""


@dataclass(frozen=True)
class ServingCost:
    """What it takes to serve the ranker of a method."""

    microseconds: float
    """For one of a hundred documents, on this machine and in this library."""
    times_background: float
    """The same as a multiple of the background's."""
    served_by: Mapping[str, Exactness]
    """The targets that hold it, and how near its scores are there."""
    bytes: int
    """The size of its model file."""

    def to_dict(self) -> dict[str, Any]:
        """The cost as JSON has it."""
        times = {"microseconds": self.microseconds, "times_background": self.times_background}
        return {**times, "bytes": self.bytes, "served_by": dict(self.served_by)}


def serving_costs(trials: Sequence[MethodTrial], target: Dataset) -> dict[str, ServingCost]:
    """The costs of every method, by name."""
    few, names = np.ascontiguousarray(target.features[:DOCUMENTS]), target.feature_names
    taken = {trial.method.name: seconds_to_score(trial.ranker, names, few) / len(few) for trial in trials}
    return {
        trial.method.name: ServingCost(
            microseconds=taken[trial.method.name] * 1e6,
            times_background=taken[trial.method.name] / taken["background"],
            served_by={offer.target: offer.exactness for offer in targets(trial.ranker) if offer.exactness is not None},
            bytes=len(model_bytes(trial.ranker.stored())),
        )
        for trial in trials
    }


def lost_engines(costs: Mapping[str, ServingCost], method: str) -> list[str]:
    """The engines that hold the background, but not the ranker of a method."""
    held = costs[method].served_by
    return [name for name in costs["background"].served_by if name not in held and target_named(name).is_engine]


def costs_grid(costs: Mapping[str, ServingCost]) -> Grid:
    """The costs as a table."""
    rows = tuple(
        (
            name,
            f"{cost.microseconds:.1f}",
            f"{cost.times_background:.1f}×",
            f"{cost.bytes / 1000:,.0f}",
            ", ".join(cost.served_by) or "none",
        )
        for name, cost in costs.items()
    )
    return Grid(("method", "µs", "background", "kB", "can be served by"), rows, "lrrrl", notes=(COST_NOTE,))
