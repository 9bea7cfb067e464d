"""Weight space: rankers as functions of their weights, on features of one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import SCORE, Features, Flags, Floats, frozen
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer
from rankinite.models.inputs import columns_of
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.nets._state import Frame
from rankinite.nets.network import add_scores, layers_of
from rankinite.nets.standard import check_features, fit_standard


@dataclass(frozen=True, eq=False)
class Moves:
    """The weights of a ranker that make a difference to a ranking, and its scores when they are moved."""

    names: tuple[str, ...]
    """The feature or unit that each weight belongs to."""
    frame: Frame
    every: Floats
    """All weights."""
    free: Flags
    """Those that make a difference: not the last bias, which all scores share, nor those of features that never vary."""
    features: Features
    factor: float

    @property
    def weights(self) -> Floats:
        """The weights that make a difference."""
        return self.every[self.free]

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.free.sum())

    @property
    def length(self) -> float:
        """√Σ weight²."""
        return float(np.linalg.norm(self.weights))

    def scores(self, move: Floats) -> Floats:
        """The scores of all rows after adding ``move`` to the weights that make a difference."""
        moved = self.every.copy()
        moved[self.free] += move
        scores = np.zeros(len(self.features), SCORE)
        add_scores(self.frame, moved, self.features, scores)
        scores *= self.factor
        return scores


def moves_of(ranker: Scorer, data: Dataset, factor: float) -> Moves:
    """The weights of a ranker, whose scores are multiplied by ``factor``."""
    if not isinstance(ranker, Net | Linear):
        kind = type(ranker).__name__
        raise ArgumentError(
            f"a {kind} has no weights to move",
            value=kind,
            remedy="Give a Net or a Linear ranker, or a blend that ends in one",
        )
    columns = columns_of(data.feature_names, ranker.feature_names, data.source)
    features = data.features if columns is None else frozen(np.ascontiguousarray(data.features[:, columns]))
    check_features(features, ranker.feature_names, data.source, missing=ranker.nan == "mean")
    frame, weights = ranker.frame, ranker.weights
    if isinstance(ranker, Linear):
        spread = fit_standard(features, np.arange(data.rows), data.source).scale
        inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        weights = np.append(ranker.weights * inverse, ranker.bias)
        frame = Frame(frame.sizes, frame.centre, frozen(spread))
    counts = np.ones(len(weights))
    counts[-1] = 0.0
    layers_of(frame.sizes, counts)[0][0][:, frame.scale == 0.0] = 0.0
    free = counts > 0.0
    if not weights[free].any():
        raise ArgumentError(
            "all weights are 0, so that there is no length to measure steps by", place=repr(ranker), remedy="Train it first"
        )
    names = np.asarray(_names(ranker, frame), object)[free]
    return Moves(tuple(names.tolist()), frame, weights, free, features, factor)


def _names(ranker: Net | Linear, frame: Frame) -> list[str]:
    """One name per weight, in the order of the weights."""
    if isinstance(ranker, Linear):
        return [*ranker.feature_names, "bias"]
    names: list[str] = []
    for number in range(len(frame.sizes) - 1):
        inputs, outputs = int(frame.sizes[number]), int(frame.sizes[number + 1])
        below = ranker.feature_names if number == 0 else [f"unit {number}.{k}" for k in range(inputs)]
        above = ["score"] if number == len(frame.sizes) - 2 else [f"unit {number + 1}.{k}" for k in range(outputs)]
        names += [f"{one} → {unit}" for unit in above for one in below]
        names += [f"bias → {unit}" for unit in above]
    return names
