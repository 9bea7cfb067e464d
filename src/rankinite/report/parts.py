"""Parts: the rankers that a ranker is made of, with names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rankinite.models.base import Fitted
from rankinite.models.forest import Forest
from rankinite.trees.structure import DTYPES, SET_DTYPES


def inside(name: str, ranker: Any, known: Mapping[int, str] | None = None) -> Iterator[tuple[str, Any]]:
    """The rankers that a ranker is made of, with names; ``known``: names of rankers by their identity."""
    weighted = [part.ranker for part in ranker.inside() if part.weight is not None] if isinstance(ranker, Fitted) else []
    if not weighted:
        yield name, ranker
    for number, part in enumerate(weighted, 1):
        yield from inside((known or {}).get(id(part), f"{name}, part {number}"), part, known)


def same(first: Any, second: Any) -> bool:
    """Whether two rankers are one, or forests of the same trees: one that was saved and loaded is the same."""
    if first is second:
        return True
    if not (isinstance(first, Forest) and isinstance(second, Forest)) or len(first) != len(second):
        return False
    same_features = first.feature_names == second.feature_names and first.categories == second.categories
    return same_features and all(
        np.array_equal(getattr(first.trees, name), getattr(second.trees, name)) for name in DTYPES | SET_DTYPES
    )


def parts_of(name: str, rankers: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of the ranker of this name; parts that are also rankers of their own keep their names."""
    known = {id(ranker): other for other, ranker in rankers.items() if ranker is not None}
    found: dict[str, Any] = {}
    for label, part in inside(name, rankers[name], known):
        if not any(same(part, other) for other in found.values()):
            found[label if label not in found else f"{label} ({len(found) + 1})"] = part
    return found
