"""Probabilities that the scores of a forest stand for, where it was trained on a logistic loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, listed, quoted
from rankinite.gradients.logistic import LOSSES, probability

if TYPE_CHECKING:
    from rankinite.models.forest import Forest


def probabilities_of(forest: Forest, features: Dataset | npt.ArrayLike) -> Floats:
    """One probability per row, or one per row and grade."""
    if forest.grades is None:
        sigma = _sigma(forest)
        return probability(forest.outputs_of(features)[0], sigma)
    sums = forest.outputs_of(features)
    shares = np.exp(sums - sums.max(axis=0))
    return np.ascontiguousarray((shares / shares.sum(axis=0)).T)


def _sigma(forest: Forest) -> float:
    """The σ of the logistic loss that the forest was trained on; refuses forests that were not."""
    learner, loss, sigma = (forest.settings.get(name) for name in ("learner", "loss", "sigma"))
    if learner == "MART" and loss in LOSSES and isinstance(sigma, int | float):
        return sigma
    trained = f"was trained by {learner}" if learner else "does not say how it was trained"
    on = f" with loss={quoted(loss)}" if learner and loss else ""
    raise ArgumentError(
        f"this forest {trained}{on}, so that its scores are not those of probabilities",
        place=repr(forest),
        value=(learner, loss),
        rule=f"Those of MART with loss {listed(LOSSES)} are, and those of McRank",
        remedy="Train one of these",
    )
