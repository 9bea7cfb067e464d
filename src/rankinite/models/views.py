"""Views of models: summaries, tables and plain facts, from which notebooks, ``inspect`` and reports are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.grid import Grid
from rankinite.plurals import counted
from rankinite.trees.structure import LEAF

if TYPE_CHECKING:
    from rankinite.models.base import Trained
    from rankinite.models.forest import Forest
    from rankinite.models.linear import Linear
    from rankinite.models.net import Net

MISSING = {"refuse": "refused", "mean": "taken for the feature's mean"}
"""What is done with a missing value, in words."""


def training_facts(trained: Trained) -> dict[str, Any]:
    """How a model was trained, as JSON has it."""
    return {
        "settings": dict(trained.settings),
        "history": None if trained.history is None else trained.history.to_dict(),
        "training_queries": None if trained.sketch is None else trained.sketch.queries,
    }


def forest_summary(forest: Forest) -> list[tuple[str, str]]:
    """Trees, leaves and features."""
    leaves = int((forest.trees.feature == LEAF).sum())
    used = len(np.unique(forest.trees.feature[forest.trees.feature != LEAF]))
    return [
        ("trees", f"{len(forest):,}" + (f" ({forest.rounds:,} rounds of {forest.outputs})" if forest.outputs > 1 else "")),
        ("leaves", f"{leaves:,}" + (f" ({leaves / len(forest):.1f} per tree)" if len(forest) else "")),
        ("features", f"{len(forest.feature_names):,} ({used:,} used)"),
    ]


def forest_facts(forest: Forest) -> dict[str, Any]:
    """Sizes, and the importance of features."""
    return {
        "trees": len(forest),
        "rounds": forest.rounds,
        "leaves": int((forest.trees.feature == LEAF).sum()),
        "importance": {"gain": forest.importance("gain"), "count": forest.importance("count")},
    }


def importance_grid(forest: Forest, most: int | None) -> Grid:
    """The features with the largest gains; ``most`` of them."""
    gains, counts = forest.importance("gain"), forest.importance("count")
    used = [name for name in gains if counts[name]]
    total = sum(gains.values()) or 1.0
    rows = tuple((name, f"{gains[name]:.6g}", f"{gains[name] / total:.1%}", f"{counts[name]:.0f}") for name in used[:most])
    return Grid(("feature", "gain", "share", "splits"), rows, notes=_more(len(used) - len(rows)))


def net_summary(net: Net) -> list[tuple[str, str]]:
    """Features, units, weights, and what missing values are."""
    return [
        ("features", f"{len(net.feature_names):,} ({int(np.count_nonzero(net.scale)):,} used)"),
        ("hidden units", ", ".join(map(str, net.hidden)) or "none"),
        ("weights", f"{len(net.weights):,}"),
        ("missing values", MISSING[net.nan]),
    ]


def net_facts(net: Net) -> dict[str, Any]:
    """All it takes to compute the scores elsewhere."""
    layers = [{"weights": weights.tolist(), "bias": bias.tolist()} for weights, bias in net.layers()]
    standard = {"centre": net.centre.tolist(), "scale": net.scale.tolist()}
    return {"nan": net.nan, "hidden": list(net.hidden), **standard, "layers": layers}


def linear_summary(ranker: Linear) -> list[tuple[str, str]]:
    """Features, weights, and what missing values are."""
    return [
        ("features", f"{len(ranker.feature_names):,} ({int(np.count_nonzero(ranker.weights)):,} used)"),
        ("weights", f"{len(ranker.weights):,} and a bias"),
        ("missing values", MISSING[ranker.nan]),
    ]


def linear_facts(ranker: Linear) -> dict[str, Any]:
    """All it takes to compute the scores elsewhere."""
    centre = dict(zip(ranker.feature_names, ranker.centre_of_features.tolist(), strict=True))
    facts = {"nan": ranker.nan, "bias": ranker.bias, "weights": ranker.by_feature(), "centre": centre}
    return facts if ranker.before is None else facts | {"changes": ranker.changes()}


def weights_grid(ranker: Linear, most: int | None) -> Grid:
    """The features with the largest weights, whatever their sign; ``most`` of them."""
    weights = ranker.by_feature()
    used = sorted((name for name in weights if weights[name]), key=lambda name: -abs(weights[name]))
    rows = tuple((name, f"{weights[name]:+.6g}") for name in used[:most])
    unit = "A weight is in its feature's own unit: what it does to the score depends on how much the feature varies."
    return Grid(("feature", "weight"), rows, notes=(unit, *_more(len(used) - len(rows))))


def changes_grid(ranker: Linear, most: int | None) -> Grid:
    """The features whose weights training has changed most; ``most`` of them."""
    assert ranker.before is not None
    changes, weights = ranker.changes(), ranker.by_feature()
    before = dict(zip(ranker.feature_names, ranker.before.tolist(), strict=True))
    rows = tuple((name, f"{before[name]:+.6g}", f"{weights[name]:+.6g}", f"{changes[name]:+.6g}") for name in changes)[:most]
    title = f"{len(changes):,} of {len(weights):,} weights changed"
    return Grid(("feature", "before", "weight", "change"), rows, title=title, notes=_more(len(changes) - len(rows)))


def history_rows(trained: Trained) -> Iterable[tuple[str, str]]:
    """How training went."""
    history = trained.history
    if history is None:
        return
    yield "training", f"{history.stopped} after {counted(history.rounds, trained.unit)}, {trained.unit} {history.best:,} kept"
    for name, values in (("train", history.train), ("valid", history.valid)):
        if history.best < len(values):
            went = f"{values[0]:.4f} before, {values[history.best]:.4f} kept, {values[-1]:.4f} last"
            yield f"{history.measure} on {name}", went
    held_out = history.held_out
    if history.best < len(held_out):
        went = f"{held_out[0]:.4f} before, {held_out[history.best]:.4f} after as many {trained.unit}s, {held_out[-1]:.4f} last"
        whose = f"the mean of {counted(history.held_out_parts, 'smaller training')} on held-out queries, not of this model"
        yield f"{history.measure} held out", f"{went}: {whose}"


def queries_row(trained: Trained) -> Iterable[tuple[str, str]]:
    """How many queries it was trained on."""
    sketch = trained.sketch
    if sketch is not None:
        about, more = "about " if sketch.level else "", "" if sketch.complete else ", and others that are not known"
        yield "trained on", f"{about}{counted(sketch.queries, 'query')}{more}"


def _more(hidden: int) -> tuple[str, ...]:
    return (f"… and {hidden} more (--importance 0 lists all)",) if hidden else ()
