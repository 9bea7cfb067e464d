"""Trainings: how the measure went while rankers were trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankinite.engine.kernel import Floats
from rankinite.models.base import trained_of
from rankinite.models.history import History
from rankinite.report.document import Number, Training

POINTS = 600
"""Points of a curve at most: of longer trainings, every n-th round is shown."""


def trainings(rankers: Mapping[str, Any]) -> tuple[Training, ...]:
    """How the training of each went, where it was watched; of a blend, that of its last part. Each is listed once."""
    found: list[Training] = []
    seen: set[tuple[Any, ...]] = set()
    for name, ranker in rankers.items():
        trained = trained_of(ranker)
        history = None if trained is None else trained.history
        if trained is None or history is None or max(len(history.train), len(history.valid), len(history.held_out)) < 2:
            continue
        curves = (history.train, history.valid, history.held_out)
        key = (history.measure, history.best, *(curve.tobytes() for curve in curves))
        if key not in seen:
            seen.add(key)
            found.append(_training(name, trained.unit, history))
    return tuple(found)


def _training(name: str, unit: str, history: History) -> Training:
    rounds = max(len(history.train), len(history.valid), 1) - 1
    every = max(1, -(-max(rounds, len(history.held_out) - 1) // POINTS))
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
        held_out=_thinned(history.held_out, every),
        held_out_rounds=max(len(history.held_out), 1) - 1,
        held_out_parts=history.held_out_parts,
    )


def _thinned(values: Floats, every: int) -> tuple[Number, ...]:
    if not len(values):
        return ()
    kept = np.append(values[:-1:every], values[-1])
    return tuple(None if np.isnan(value) else round(value, 5) for value in kept.tolist())
