"""Parts of rankers: how their training went, which features matter, and what adaptation moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from rankinite.adapt.forest_changes import moved
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.models.base import Fitted, trained_of
from rankinite.models.forest import Forest
from rankinite.models.history import History
from rankinite.models.linear import Linear
from rankinite.report.document import Importance, MovedFeature, MovedTrees, MovedWeights, Number, Training
from rankinite.trees.structure import DTYPES, LEAF, SET_DTYPES

POINTS = 600
"""Points of a curve at most: of longer trainings, every n-th round is shown."""
FEATURES = 20
"""Features that are listed."""
MOST_FORESTS = 4
"""Forests that are set side by side."""


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


def trainings(rankers: Mapping[str, Any]) -> tuple[Training, ...]:
    """How the training of each went, where it was watched; of a blend, that of its last part. Each is listed once."""
    found: list[Training] = []
    seen: set[tuple[Any, ...]] = set()
    for name, ranker in rankers.items():
        trained = trained_of(ranker)
        history = None if trained is None else trained.history
        if trained is None or history is None or max(len(history.train), len(history.valid)) < 2:
            continue
        key = (history.measure, history.best, history.train.tobytes(), history.valid.tobytes())
        if key not in seen:
            seen.add(key)
            found.append(_training(name, trained.unit, history))
    return tuple(found)


def importance_of(forests: Mapping[str, Forest]) -> Importance | None:
    """Shares of gain, or of splits unless all forests know their gains; the largest share in any forest first."""
    kind = "gain" if all(_knows_gains(forest) for forest in forests.values()) else "count"
    known = {name: _shares(forest, kind) for name, forest in forests.items()}
    merged = _merged({name: shares for name, shares in known.items() if shares})
    if not merged:
        return None
    shares = dict(list(merged.items())[:MOST_FORESTS])
    features = list(dict.fromkeys(feature for shared in shares.values() for feature in shared))
    largest = {feature: max(shared.get(feature, 0.0) for shared in shares.values()) for feature in features}
    ranked = sorted(features, key=lambda feature: -largest[feature])
    used = [feature for feature in ranked if largest[feature] > 0.0]
    return Importance(
        kind=kind,
        forests=tuple(shares),
        other_forests=tuple(merged)[MOST_FORESTS:],
        features=tuple(used[:FEATURES]),
        shares=tuple(tuple(round(shared.get(feature, 0.0), 5) for shared in shares.values()) for feature in used[:FEATURES]),
        others=len(used[FEATURES:]),
        unused=len(ranked) - len(used),
    )


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


def _training(name: str, unit: str, history: History) -> Training:
    rounds = max(len(history.train), len(history.valid)) - 1
    every = max(1, -(-rounds // POINTS))
    judged = history.valid if len(history.valid) else history.train
    best = float(judged[history.best]) if history.best < len(judged) else float("nan")
    return Training(
        name=name,
        unit=unit,
        measure=history.measure,
        every=every,
        rounds=rounds,
        train=_thinned(history.train, every),
        valid=_thinned(history.valid, every),
        best=history.best,
        best_value=None if np.isnan(best) else round(best, 5),
        stopped=history.stopped,
        examination=() if history.examination is None else tuple(history.examination.rows()),
    )


def _thinned(values: Floats, every: int) -> tuple[Number, ...]:
    if not len(values):
        return ()
    kept = np.append(values[:-1:every], values[-1])
    return tuple(None if np.isnan(value) else round(value, 5) for value in kept.tolist())


def _knows_gains(forest: Forest) -> bool:
    """Whether every tree that splits knows its gains: foreign trees may not, and those added to them would count alone."""
    trees = forest.trees
    tree_of_node = np.repeat(np.arange(len(trees)), np.diff(trees.offsets))
    splitting = np.unique(tree_of_node[trees.feature != LEAF])
    return bool(np.isin(splitting, tree_of_node[trees.gain > 0.0]).all())


def _shares(forest: Forest, kind: Literal["gain", "count"]) -> dict[str, float]:
    known = forest.importance(kind)
    total = sum(known.values())
    return {name: value / total for name, value in known.items()} if total > 0.0 else {}


def _merged(shares: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Forests with equal shares under one name: tuning the values of trees changes neither gains nor splits."""
    groups: list[tuple[list[str], dict[str, float]]] = []
    for name, by_feature in shares.items():
        for names, other in groups:
            if by_feature == other:
                names.append(name)
                break
        else:
            groups.append(([name], by_feature))
    return {" = ".join(names): by_feature for names, by_feature in groups}


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
