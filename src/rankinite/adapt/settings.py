"""What a forest says of how it was trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankinite.rankers.forest import Forest

LOSSES = {"LambdaMART": "lambda", "RankNetTrees": "pairs"}
"""The loss of learners that have but one."""


def told(forest: Forest | None, name: str) -> list[Any]:
    """What the trainings of a forest say of a setting, the last one first: without what is unsaid or said before."""
    found: list[Any] = []
    settings: Any = None if forest is None else forest.settings
    while isinstance(settings, Mapping):
        level: Mapping[str, Any] = settings
        value = level.get(name, LOSSES.get(str(level.get("learner"))) if name == "loss" else None)
        if value is not None and value not in found:
            found.append(value)
        settings = level.get("base")
    return found


def last_told(forest: Forest | None, name: str, otherwise: Any = None) -> Any:
    """What the last training that says something of a setting says."""
    return next(iter(told(forest, name)), otherwise)
