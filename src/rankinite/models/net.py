"""The rankers that gradient ascent makes: a net of tanh units, and a weighted sum of features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from rankinite.checks import check_count
from rankinite.data.dataset import Dataset
from rankinite.data.sketch import QuerySketch
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.models.base import Fitted, drawn_history, plain_settings
from rankinite.models.files.container import Stored
from rankinite.models.files.sketches import stored_sketch, with_sketch
from rankinite.models.history import History
from rankinite.models.inputs import located
from rankinite.models.text import linear_text, net_text
from rankinite.nets._state import Frame
from rankinite.nets.network import add_scores, layers_of, sizes_of, weight_count
from rankinite.nets.standard import check_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Missing = Literal["refuse", "mean"]
"""What a missing value (NaN) is: refused, or taken for the feature's mean in the training data."""

MOST_UNITS = 1_000_000
"""Of a layer: far more than is of use, and few enough to count all weights of a net."""


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "hidden", checked_hidden("net", self.hidden))
        object.__setattr__(self, "settings", plain_settings(self.settings, "net"))
        inputs = len(self.feature_names)
        wanted = {"weights": weight_count(sizes_of(inputs, self.hidden)), "centre": inputs, "scale": inputs}
        _take_arrays(self, "net", wanted)

    def __repr__(self) -> str:
        hidden = ", ".join(map(str, self.hidden)) or "no"
        return f"<Net{_maker(self.settings)}: {len(self.feature_names)} features, {hidden} hidden units>"

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries it was trained on."""
        return (self.sketch,)

    def layers(self) -> list[tuple[Floats, Floats]]:
        """Weights, shape (outputs, inputs), and biases, shape (outputs,), of each layer: all it takes to rebuild the net."""
        return layers_of(self.frame.sizes, self.weights)

    def score(self, features: Dataset | npt.ArrayLike) -> Floats:
        """One score a row of a Dataset, a data frame (features found by name) or a matrix (columns in order)."""
        return _scores(self, self.frame, self.weights, features)

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
        arrays = _arrays(self, "weights", "centre", "scale")
        return with_sketch(Stored("net", {**_facts(self), "hidden": list(self.hidden)}, arrays), self.sketch)

    @classmethod
    def from_stored(cls, stored: Stored) -> Net:
        """The net that a model file holds."""
        hidden = stored.fact("hidden", list)
        arrays = {name: stored.array(name, SCORE) for name in ("weights", "centre", "scale")}
        return cls(hidden=tuple(hidden), **arrays, **_told(stored))


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "settings", plain_settings(self.settings, "linear ranker"))
        if self.centre is None:
            object.__setattr__(self, "centre", np.zeros(len(self.feature_names)))
        inputs = len(self.feature_names)
        begun = {} if self.before is None else {"before": inputs}
        _take_arrays(self, "linear ranker", {"weights": inputs, "centre": inputs, **begun})
        bias: Any = self.bias
        if not isinstance(bias, Real) or not math.isfinite(bias):
            raise DataError(f"linear ranker: bias={bias!r} must be a finite number.")
        object.__setattr__(self, "bias", float(bias))

    def __repr__(self) -> str:
        return f"<Linear{_maker(self.settings)}: {len(self.feature_names)} features>"

    def score(self, features: Dataset | npt.ArrayLike) -> Floats:
        """One score a row of a Dataset, a data frame (features found by name) or a matrix (columns in order)."""
        return _scores(self, self.frame, np.append(self.weights, self.bias), features)

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
        return with_sketch(Stored("linear", {**_facts(self), "bias": self.bias}, _arrays(self, *names)), self.sketch)

    @classmethod
    def from_stored(cls, stored: Stored) -> Linear:
        """The ranker that a model file holds."""
        names = ("weights", "centre", *(("before",) if f"{stored.prefix}before" in stored.arrays else ()))
        arrays = {name: stored.array(name, SCORE) for name in names}
        return cls(bias=stored.fact("bias", float), **arrays, **_told(stored))


def _scores(ranker: Net | Linear, frame: Frame, weights: Floats, features: Dataset | npt.ArrayLike) -> Floats:
    matrix, columns = located(features, ranker.feature_names)
    if columns is not None:
        matrix = frozen(np.ascontiguousarray(matrix[:, columns]))
    place = features.source if isinstance(features, Dataset) else "the features"
    check_features(matrix, ranker.feature_names, place, missing=ranker.nan == "mean")
    scores = np.zeros(len(matrix), SCORE)
    add_scores(frame, weights, matrix, scores)
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise DataError(f"{place}: the score of row {row} is beyond all floats. Give features like those of the training data.")
    return scores


def _take_arrays(ranker: Any, kind: str, lengths: Mapping[str, int]) -> None:
    """Freeze the arrays; refuse those that are not of the length wanted, or hold what is no number."""
    if ranker.nan not in get_args(Missing):
        raise DataError(f"{kind}: nan={ranker.nan!r} is unknown. Known are {', '.join(get_args(Missing))}.")
    names = ranker.feature_names
    if not names:
        raise DataError(f"{kind}: there are no features to score by. Give their names.")
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{kind}: two features are called {quoted(repeated)}. Names must differ; rename one.")
    for name, length in lengths.items():
        try:
            array = np.ascontiguousarray(getattr(ranker, name), SCORE)
        except (TypeError, ValueError) as error:
            raise DataError(f"{kind}: {name} are no numbers ({error}). Give {length} finite ones.") from error
        if array.shape != (length,) or not np.isfinite(array).all():
            odd = f"an array of shape {array.shape}" if array.shape != (length,) else array[~np.isfinite(array)][0]
            raise DataError(f"{kind}: {name} must be {length} finite numbers, but {odd} was given.")
        object.__setattr__(ranker, name, frozen(array))


def checked_hidden(name: str, hidden: Any) -> tuple[int, ...]:
    """The units of each hidden layer; refuses what is no such list."""
    sizes = (hidden,) if isinstance(hidden, int) and not isinstance(hidden, bool) else hidden
    if not isinstance(sizes, Sequence | np.ndarray) or isinstance(sizes, str):
        raise ArgumentError(f"{name}: hidden={hidden!r} must list the units of each hidden layer, as in (10,); () is linear.")
    plain: list[Any] = [units.item() if isinstance(units, np.generic) else units for units in sizes]
    for units in plain:
        check_count(name, "hidden", units)
        if units > MOST_UNITS:
            raise ArgumentError(
                f"{name}: hidden={units} is more than a net may have in a layer, which is {MOST_UNITS:,} units."
            )
    return tuple(plain)


def _maker(settings: Mapping[str, Any]) -> str:
    learner = settings.get("learner")
    return f" by {learner}" if isinstance(learner, str) else ""


def _facts(ranker: Net | Linear) -> dict[str, Any]:
    return {
        "feature_names": list(ranker.feature_names),
        "nan": ranker.nan,
        "settings": ranker.settings,
        "history": None if ranker.history is None else ranker.history.to_dict(),
    }


def _arrays(ranker: Net | Linear, *names: str) -> dict[str, npt.NDArray[Any]]:
    return {name: getattr(ranker, name) for name in names}


def _told(stored: Stored) -> dict[str, Any]:
    return {
        "feature_names": stored.texts("feature_names"),
        "nan": stored.fact("nan", str),
        "settings": stored.fact("settings", dict),
        "history": None if stored.facts.get("history") is None else History.from_dict(stored.fact("history", dict)),
        "sketch": stored_sketch(stored),
    }
