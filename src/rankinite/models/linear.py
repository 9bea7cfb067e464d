"""Linear: a ranker that is a weighted sum of features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.choices import MissingValues
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.engine.kernel import Floats, frozen
from rankinite.errors import DataError
from rankinite.grid import Grid
from rankinite.models.base import Trained
from rankinite.models.explanations.contributions import Contributions, Response, Sampling
from rankinite.models.files.container import Stored
from rankinite.models.history import History, by_learner
from rankinite.models.text import linear_text
from rankinite.models.views import MISSING, more_note
from rankinite.models.weighted import Weighted, stored_fields
from rankinite.nets._net_kernels import Frame
from rankinite.nets.network import sizes_of
from rankinite.plurals import counted


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Weighted):
    """A weighted sum of features: bias + Σ weight · (feature − centre), a feature counting in its own unit."""

    feature_names: tuple[str, ...]
    """The features."""
    weights: Floats
    """One per feature."""
    bias: float = 0.0
    """The score of a row whose features all have their centre."""
    centre: Floats | None = None
    """What each feature is compared with, and what a missing one counts as; 0 if left out."""
    nan: MissingValues = "refuse"
    """What a missing value (NaN) counts as."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How the weights were found, as JSON has it."""
    history: History | None = None
    """How training went."""
    before: Floats | None = None
    """The weights that training began with, where it went on from another linear ranker."""
    sketch: QuerySketch | None = None
    """Which queries it was trained on; None: that is not known, or it was not trained."""

    @property
    def kind(self) -> str:
        """What it is called in a sentence."""
        return "linear ranker"

    @property
    def unit(self) -> str:
        """The steps of its training: epochs, or rounds of boosting."""
        return "round" if "rounds" in self.settings else "epoch"

    def trained(self) -> Trained:
        """How it was trained; boosting on top of a base makes a correction."""
        return replace(super().trained(), correction=self.unit == "round")

    def summary(self) -> list[tuple[str, str]]:
        """Features, weights, and what missing values are."""
        return [
            ("features", f"{len(self.feature_names):,} ({int(np.count_nonzero(self.weights)):,} used)"),
            ("weights", f"{len(self.weights):,} and a bias"),
            ("missing values", MISSING[self.nan]),
        ]

    def tables(self, most: int | None) -> list[Grid]:
        """The largest weights, and what training has changed most."""
        weights = self.by_feature()
        used = sorted((name for name in weights if weights[name]), key=lambda name: -abs(weights[name]))
        rows = tuple((name, f"{weights[name]:+.6g}") for name in used[:most])
        unit = "A weight is in its feature's own unit: what it does to the score depends on how much the feature varies."
        grids = [Grid(("feature", "weight"), rows, notes=(unit, *more_note(len(used) - len(rows))))]
        if self.before is not None:
            changes, before = self.changes(), dict(zip(self.feature_names, self.before.tolist(), strict=True))
            rows = tuple((name, f"{before[name]:+.6g}", f"{weights[name]:+.6g}", f"{changes[name]:+.6g}") for name in changes)
            title = f"{len(changes):,} of {len(weights):,} weights changed"
            notes = more_note(len(changes) - len(rows[:most]))
            grids.append(Grid(("feature", "before", "weight", "change"), rows[:most], title=title, notes=notes))
        return grids

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it: all it takes to compute the scores elsewhere."""
        centre = dict(zip(self.feature_names, self.centre_of_features.tolist(), strict=True))
        facts = {**super().facts(), "nan": self.nan, "bias": self.bias, "weights": self.by_feature(), "centre": centre}
        return facts if self.before is None else {**facts, "changes": self.changes()}

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        inputs = len(self.feature_names)
        if self.centre is None:
            object.__setattr__(self, "centre", np.zeros(inputs))
        self._take(dict.fromkeys(self._arrays(), inputs))
        bias: Any = self.bias
        if not isinstance(bias, Real) or not math.isfinite(bias):
            raise DataError("must be a finite number", owner="Linear", setting="bias", value=bias)
        object.__setattr__(self, "bias", float(bias))

    def __repr__(self) -> str:
        return f"<Linear{by_learner(self.settings)}: {counted(len(self.feature_names), 'feature')}>"

    def score(self, features: Dataset | npt.ArrayLike) -> Floats:
        """One score per row of a Dataset, a data frame (features found by name) or a matrix (columns in order)."""
        return self._scores(self.frame, np.append(self.weights, self.bias), features)

    def by_feature(self) -> dict[str, float]:
        """The weight of each feature."""
        return dict(zip(self.feature_names, self.weights.tolist(), strict=True))

    def changes(self) -> dict[str, float]:
        """What training added to the weight of each feature that it changed, the largest change first.

        It is counted from ``before``, or from 0 where training began without weights.
        """
        changed = self.weights if self.before is None else self.weights - self.before
        order = np.argsort(-np.abs(changed), kind="stable")
        return {self.feature_names[f]: float(changed[f]) for f in order.tolist() if changed[f] != 0.0}

    def text(self) -> str:
        """All weights as text, without losing a digit."""
        return linear_text(self)

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

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """Weight × (value − centre); a missing value has the centre, and adds nothing."""
        away = self.filled_matrix(features, self.centre_of_features) - self.centre_of_features
        return Contributions(self.weights * away, self.bias, self.feature_names)

    def response(self) -> Response | None:
        """Lines."""
        return Response(slopes=self.by_feature())

    def stored(self) -> Stored:
        """Its content in a model file."""
        return self._stored("linear", {"bias": self.bias}, *self._arrays())

    @classmethod
    def from_stored(cls, stored: Stored) -> Linear:
        """The ranker of a model file."""
        names = ("weights", "centre", *(("before",) if f"{stored.prefix}before" in stored.arrays else ()))
        return cls(bias=stored.fact("bias", float), **stored_fields(stored, *names))

    def _arrays(self) -> tuple[str, ...]:
        return ("weights", "centre") if self.before is None else ("weights", "centre", "before")
