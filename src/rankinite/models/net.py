"""Nets: layers of tanh units over standardised features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.sketch import QuerySketch
from rankinite.engine.kernel import SCORE, Floats
from rankinite.models import views
from rankinite.models.base import Fitted, Trained, drawn_history, plain_settings
from rankinite.models.files.container import Stored
from rankinite.models.files.sketches import with_sketch
from rankinite.models.history import History
from rankinite.models.text import net_text
from rankinite.models.weighted import (
    Missing,
    arrays_of,
    checked_hidden,
    common_facts,
    common_from,
    maker_of,
    take_arrays,
    weighted_scores,
)
from rankinite.nets._state import Frame
from rankinite.nets.network import layers_of, sizes_of, weight_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Net(Fitted):
    """Layers of tanh units and a linear output over standardised features.

    A layer gives Wx + b; the first one gets (feature − centre) · scale. A feature whose scale is 0 has no part in the score.
    """

    feature_names: tuple[str, ...]
    """The features, in the order of the first layer's inputs."""
    hidden: tuple[int, ...]
    """The units of each hidden layer."""
    weights: Floats
    """All layers, one after the other: W row by row (outputs × inputs), then b. See :meth:`layers`."""
    centre: Floats
    """The mean of each feature in the training data."""
    scale: Floats
    """One over its standard deviation there."""
    nan: Missing = "refuse"
    """What a missing value (NaN) counts as."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How the net was made, as JSON has it: ``{"learner": "LambdaRank", …}``."""
    history: History | None = None
    """How training went."""
    sketch: QuerySketch | None = None
    """Which queries it was trained on; None: that is not known, or it was not trained."""

    shows = frozenset({"weights", "history"})

    def trained(self) -> Trained:
        """How it was trained."""
        return Trained(self.settings, self.history, self.sketch, self.unit)

    def summary(self) -> list[tuple[str, str]]:
        """Features, units, weights, and what missing values are."""
        return views.net_summary(self)

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it: all it takes to compute the scores elsewhere."""
        return super().facts() | views.training_facts(self.trained()) | views.net_facts(self)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "hidden", checked_hidden("net", self.hidden))
        object.__setattr__(self, "settings", plain_settings(self.settings, "net"))
        inputs = len(self.feature_names)
        wanted = {"weights": weight_count(sizes_of(inputs, self.hidden)), "centre": inputs, "scale": inputs}
        take_arrays(self, "net", wanted)

    def __repr__(self) -> str:
        hidden = ", ".join(map(str, self.hidden)) or "no"
        return f"<Net{maker_of(self.settings)}: {len(self.feature_names)} features, {hidden} hidden units>"

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries it was trained on."""
        return (self.sketch,)

    def layers(self) -> list[tuple[Floats, Floats]]:
        """Weights, shape (outputs, inputs), and biases, shape (outputs,), of each layer: all it takes to rebuild the net."""
        return layers_of(self.frame.sizes, self.weights)

    def score(self, features: Dataset | npt.ArrayLike) -> Floats:
        """One score a row of a Dataset, a data frame (features found by name) or a matrix (columns in order)."""
        return weighted_scores(self, self.frame, self.weights, features)

    def with_weights(self, weights: Floats) -> Net:
        """The same net with other weights, and without the history of these."""
        return replace(self, weights=weights, history=None)

    def text(self) -> str:
        """All weights as text, without losing a digit."""
        return net_text(self)

    def plot_history(self, axes: Axes | None = None) -> Axes:
        """Draw the measure after every epoch of training."""
        return drawn_history(self, self.history, axes, self.unit)

    @property
    def unit(self) -> str:
        """What its training went by."""
        return "epoch"

    @cached_property
    def frame(self) -> Frame:
        """All but the weights, for the kernels."""
        return Frame(sizes_of(len(self.feature_names), self.hidden), self.centre, self.scale)

    def stored(self) -> Stored:
        """What a model file holds."""
        arrays = arrays_of(self, "weights", "centre", "scale")
        return with_sketch(Stored("net", {**common_facts(self), "hidden": list(self.hidden)}, arrays), self.sketch)

    @classmethod
    def from_stored(cls, stored: Stored) -> Net:
        """The net that a model file holds."""
        hidden = stored.fact("hidden", list)
        arrays = {name: stored.array(name, SCORE) for name in ("weights", "centre", "scale")}
        return cls(hidden=tuple(hidden), **arrays, **common_from(stored))
