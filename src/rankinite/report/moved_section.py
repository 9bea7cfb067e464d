"""MovedTrees and MovedWeights: what adaptation changed in the background."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankinite.adapt.forest_diff import moved
from rankinite.errors import ArgumentError
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.report.parts import parts_of

FEATURES = 20
"""Features that are listed."""


@dataclass(frozen=True)
class MovedFeature:
    """What happened to the thresholds of one feature."""

    name: str
    splits: int
    moved: int
    total: float


@dataclass(frozen=True)
class MovedTrees:
    """What adaptation changed in the trees of the background."""

    name: str
    trees: int
    added: int
    leaves: int
    leaves_changed: int
    thresholds: int
    thresholds_changed: int
    trimmed: int
    mean_change: tuple[float, ...]
    """The mean change of a leaf, tree by tree."""
    features: tuple[MovedFeature, ...]
    """Those whose thresholds moved furthest."""
    others: int
    """How many features are not listed whose thresholds moved less."""


@dataclass(frozen=True)
class MovedWeights:
    """What training added to the weights of a linear ranker."""

    name: str
    features: tuple[str, ...]
    changes: tuple[float, ...]
    others: int
    """How many features are not listed whose weights changed less."""


def moved_sections(background: Any, name: str, rankers: Mapping[str, Any]) -> dict[str, Any]:
    """What adaptation moved in the ranker of this name, which is deployed, or in its parts."""
    parts = parts_of(name, rankers)
    trees, weights = moved_trees(background, parts), moved_weights(parts)
    made_of = len(parts) > 1 and (trees or weights)
    note = f"In the parts of {name} that were made of the background's trees, or on top of it." if made_of else ""
    return {"moved_trees": trees, "moved_weights": weights, "moved_note": note}


def moved_trees(background: Any, rankers: Mapping[str, Any]) -> tuple[MovedTrees, ...]:
    """What changed in the background's trees, for every forest that was made of them."""
    if not isinstance(background, Forest):
        return ()
    found = [_moved(name, background, ranker) for name, ranker in rankers.items() if isinstance(ranker, Forest)]
    return tuple(change for change in found if change is not None)


def moved_weights(rankers: Mapping[str, Any]) -> tuple[MovedWeights, ...]:
    """The changes of every linear ranker's weights, the largest first."""
    found: list[MovedWeights] = []
    for name, ranker in rankers.items():
        changes = ranker.changes() if isinstance(ranker, Linear) else {}
        if changes:
            shown = list(changes.items())[:FEATURES]
            names, values = tuple(feature for feature, _ in shown), tuple(_digits(value) for _, value in shown)
            found.append(MovedWeights(name, names, values, len(changes) - len(shown)))
    return tuple(found)


def _moved(name: str, background: Forest, adapted: Forest) -> MovedTrees | None:
    try:
        change = moved(background, adapted)
    except ArgumentError:  # its trees were not made from the background's
        return None
    if not (change.leaves_changed.any() or change.thresholds_changed.any() or change.trimmed.any() or change.added):
        return None
    shown = change.by_feature(FEATURES)
    return MovedTrees(
        name=name,
        trees=len(background),
        added=change.added,
        leaves=int(change.leaves.sum()),
        leaves_changed=int(change.leaves_changed.sum()),
        thresholds=int(change.thresholds.sum()),
        thresholds_changed=int(change.thresholds_changed.sum()),
        trimmed=int(change.trimmed.sum()),
        mean_change=tuple(_digits(value) for value in change.mean_change.tolist()),
        features=tuple(
            MovedFeature(feature, shift.splits, shift.moved, _digits(shift.total)) for feature, shift in shown.items()
        ),
        others=len(change.by_feature()) - len(shown),
    )


def _digits(value: float) -> float:
    """Five digits, which is more than is shown."""
    return float(f"{value:.5g}")
