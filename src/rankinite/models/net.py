"""Net: layers of tanh units over standardised features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.choices import MissingValues
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.engine.kernel import Floats
from rankinite.models.explanations.contributions import Contributions, Sampling
from rankinite.models.files.container import Stored
from rankinite.models.history import History, by_learner
from rankinite.models.text import net_text
from rankinite.models.views import MISSING
from rankinite.models.weighted import Weighted, checked_hidden, stored_fields
from rankinite.nets._net_kernels import Frame
from rankinite.nets.network import layers_of, sizes_of, weight_count
from rankinite.plurals import counted

_ARRAYS = ("weights", "centre", "scale")


@dataclass(frozen=True, eq=False, repr=False)
class Net(Weighted):
    """Layers of tanh units and a linear output over standardised features.

    A layer computes Wx + b; the input of the first is (feature − centre) · scale. A feature whose scale is 0 is not used.
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
    nan: MissingValues = "refuse"
    """What a missing value (NaN) counts as."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How the net was made, as JSON has it: ``{"learner": "LambdaRank", …}``."""
    history: History | None = None
    """How training went."""
    sketch: QuerySketch | None = None
    """Which queries it was trained on; None: that is not known, or it was not trained."""

    @property
    def unit(self) -> str:
        """The steps of its training."""
        return "epoch"

    def summary(self) -> list[tuple[str, str]]:
        """Features, units, weights, and what missing values are."""
        return [
            ("features", f"{len(self.feature_names):,} ({int(np.count_nonzero(self.scale)):,} used)"),
            ("hidden units", ", ".join(map(str, self.hidden)) or "none"),
            ("weights", f"{len(self.weights):,}"),
            ("missing values", MISSING[self.nan]),
        ]

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it: all it takes to compute the scores elsewhere."""
        layers = [{"weights": weights.tolist(), "bias": bias.tolist()} for weights, bias in self.layers()]
        standard = {"centre": self.centre.tolist(), "scale": self.scale.tolist()}
        return {**super().facts(), "nan": self.nan, "hidden": list(self.hidden), **standard, "layers": layers}

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "hidden", checked_hidden("Net", self.hidden))
        inputs = len(self.feature_names)
        self._take({"weights": weight_count(sizes_of(inputs, self.hidden)), "centre": inputs, "scale": inputs})

    def __repr__(self) -> str:
        hidden = ", ".join(map(str, self.hidden)) or "no"
        return f"<Net{by_learner(self.settings)}: {counted(len(self.feature_names), 'feature')}, {hidden} hidden units>"

    def layers(self) -> list[tuple[Floats, Floats]]:
        """Weights, shape (outputs, inputs), and biases, shape (outputs,), of each layer: all it takes to rebuild the net."""
        return layers_of(self.frame.sizes, self.weights)

    def score(self, features: Dataset | npt.ArrayLike) -> Floats:
        """One score per row of a Dataset, a data frame (features found by name) or a matrix (columns in order)."""
        return self._scores(self.frame, self.weights, features)

    def with_weights(self, weights: Floats) -> Net:
        """The same net with other weights, and without the history of these."""
        return replace(self, weights=weights, history=None)

    def text(self) -> str:
        """All weights as text, without losing a digit."""
        return net_text(self)

    @cached_property
    def frame(self) -> Frame:
        """All but the weights, for the kernels."""
        return Frame(sizes_of(len(self.feature_names), self.hidden), self.centre, self.scale)

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """Shapley values: over all sets of features where these are few, else over some orders of them."""
        from rankinite.models.explanations.net_contributions import net_contributions

        return net_contributions(self, features, sampling)

    def stored(self) -> Stored:
        """Its content in a model file."""
        return self._stored("net", {"hidden": list(self.hidden)}, *_ARRAYS)

    @classmethod
    def from_stored(cls, stored: Stored) -> Net:
        """The net of a model file."""
        return cls(hidden=tuple(stored.fact("hidden", list)), **stored_fields(stored, *_ARRAYS))
