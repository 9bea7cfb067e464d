"""Linear rankers: a weighted sum of features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.sketch import QuerySketch
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.errors import DataError
from rankinite.grid import Grid
from rankinite.models import views
from rankinite.models.base import Fitted, Trained, drawn_history, plain_settings
from rankinite.models.files.container import Stored
from rankinite.models.files.sketches import with_sketch
from rankinite.models.history import History
from rankinite.models.text import linear_text
from rankinite.models.weighted import (
    Missing,
    arrays_of,
    common_facts,
    common_from,
    maker_of,
    take_arrays,
    weighted_scores,
)
from rankinite.nets._state import Frame
from rankinite.nets.network import sizes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Fitted):
    """A weighted sum of features: bias + Σ weight · (feature − centre), a feature counting in its own unit."""

    feature_names: tuple[str, ...]
    """The features."""
    weights: Floats
    """One a feature."""
    bias: float = 0.0
    """The score of a row whose features all have their centre."""
    centre: Floats | None = None
    """What each feature is compared with, and what a missing one counts as; 0 if left out."""
    nan: Missing = "refuse"
    """What a missing value (NaN) counts as."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How the weights were found, as JSON has it."""
    history: History | None = None
    """How training went."""
    before: Floats | None = None
    """The weights that training began with, where it went on from another linear ranker."""
    sketch: QuerySketch | None = None
    """Which queries it was trained on; None: that is not known, or it was not trained."""

    shows = frozenset({"weights", "history"})

    @property
    def kind(self) -> str:
        """What it is called in a sentence."""
        return "linear ranker"

    def trained(self) -> Trained:
        """How it was trained."""
        return Trained(self.settings, self.history, self.sketch, self.unit)

    def summary(self) -> list[tuple[str, str]]:
        """Features, weights, and what missing values are."""
        return views.linear_summary(self)

    def tables(self, most: int | None) -> list[Grid]:
        """The largest weights, and what training has changed most."""
        return [views.weights_grid(self, most), *([] if self.before is None else [views.changes_grid(self, most)])]

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it: all it takes to compute the scores elsewhere."""
        return super().facts() | views.training_facts(self.trained()) | views.linear_facts(self)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "settings", plain_settings(self.settings, "linear ranker"))
        if self.centre is None:
            object.__setattr__(self, "centre", np.zeros(len(self.feature_names)))
        inputs = len(self.feature_names)
        begun = {} if self.before is None else {"before": inputs}
        take_arrays(self, "linear ranker", {"weights": inputs, "centre": inputs, **begun})
        bias: Any = self.bias
        if not isinstance(bias, Real) or not math.isfinite(bias):
            raise DataError(f"linear ranker: bias={bias!r} must be a finite number.")
        object.__setattr__(self, "bias", float(bias))

    def __repr__(self) -> str:
        return f"<Linear{maker_of(self.settings)}: {len(self.feature_names)} features>"

    def score(self, features: Dataset | npt.ArrayLike) -> Floats:
        """One score a row of a Dataset, a data frame (features found by name) or a matrix (columns in order)."""
        return weighted_scores(self, self.frame, np.append(self.weights, self.bias), features)

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries it was trained on."""
        return (self.sketch,)

    def by_feature(self) -> dict[str, float]:
        """The weight of each feature."""
        return dict(zip(self.feature_names, self.weights.tolist(), strict=True))

    def changes(self) -> dict[str, float]:
        """What training has added to the weight of each feature that it changed, the largest change first.

        It is counted from ``before``, or from 0 where training began with nothing.
        """
        changed = self.weights if self.before is None else self.weights - self.before
        order = np.argsort(-np.abs(changed), kind="stable")
        return {self.feature_names[f]: float(changed[f]) for f in order.tolist() if changed[f] != 0.0}

    def text(self) -> str:
        """All weights as text, without losing a digit."""
        return linear_text(self)

    def plot_history(self, axes: Axes | None = None) -> Axes:
        """Draw the measure after every epoch, or round of boosting, of training."""
        return drawn_history(self, self.history, axes, self.unit)

    @property
    def unit(self) -> str:
        """What its training went by: epochs, or rounds of boosting."""
        return "round" if "rounds" in self.settings else "epoch"

    @cached_property
    def frame(self) -> Frame:
        """All but the weights, for the kernels: a net without hidden units."""
        inputs = len(self.feature_names)
        return Frame(sizes_of(inputs, ()), self.centre_of_features, frozen(np.ones(inputs)))

    @property
    def centre_of_features(self) -> Floats:
        """The centre, known to be there."""
        assert self.centre is not None
        return self.centre

    def stored(self) -> Stored:
        """What a model file holds."""
        names = ("weights", "centre", *(() if self.before is None else ("before",)))
        return with_sketch(Stored("linear", {**common_facts(self), "bias": self.bias}, arrays_of(self, *names)), self.sketch)

    @classmethod
    def from_stored(cls, stored: Stored) -> Linear:
        """The ranker that a model file holds."""
        names = ("weights", "centre", *(("before",) if f"{stored.prefix}before" in stored.arrays else ()))
        arrays = {name: stored.array(name, SCORE) for name in names}
        return cls(bias=stored.fact("bias", float), **arrays, **common_from(stored))
