"""Weighted: what nets and linear rankers share, which is scoring rows, checking arrays, and the facts that files hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt

from rankinite.checks import check_count
from rankinite.choices import MissingValues
from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.errors import ArgumentError, DataError, cut, listed
from rankinite.models.base import Fitted, Trained
from rankinite.models.files.container import Stored
from rankinite.models.files.sketches import stored_sketch, with_sketch
from rankinite.models.history import History, drawn_history, plain_settings, stored_history
from rankinite.models.inputs import feature_matrix, two_features
from rankinite.models.views import training_facts
from rankinite.nets._net_kernels import Frame
from rankinite.nets.features import check_features
from rankinite.nets.network import add_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_UNITS = 1_000_000
"""Of a layer: far more than is of use, and few enough to count all weights of a net."""


class Weighted(Fitted):
    """A ranker that consists of weights: a net or a linear ranker. Its fields are those that both kinds have."""

    feature_names: tuple[str, ...]
    weights: Floats
    nan: MissingValues
    settings: Mapping[str, Any]
    history: History | None
    sketch: QuerySketch | None

    shows = frozenset({"weights", "history"})

    @property
    @abstractmethod
    def unit(self) -> str:
        """The steps of its training: epochs, or rounds of boosting."""

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries it was trained on."""
        return (self.sketch,)

    def trained(self) -> Trained:
        """How it was trained."""
        return Trained(self.settings, self.history, self.sketch, self.unit)

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it: all it takes to compute the scores elsewhere."""
        return super().facts() | training_facts(self.trained())

    def plot_history(self, axes: Axes | None = None) -> Axes:
        """Draw the measure after every epoch, or round of boosting, of training."""
        return drawn_history(self, self.history, axes, self.unit)

    def _scores(self, frame: Frame, weights: Floats, features: Dataset | npt.ArrayLike) -> Floats:
        """The scores of rows; refuses features that are missing, and scores beyond all floats."""
        matrix, columns = feature_matrix(features, self.feature_names)
        if columns is not None:
            matrix = frozen(np.ascontiguousarray(matrix[:, columns]))
        place = features.source if isinstance(features, Dataset) else "the features"
        check_features(matrix, self.feature_names, place, missing=self.nan == "mean")
        scores = np.zeros(len(matrix), SCORE)
        add_scores(frame, weights, matrix, scores)
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise DataError(
                "the score is beyond all floats",
                place=f"{place}, row {row}",
                value=row,
                remedy="Give features like those of the training data",
            )
        return scores

    def filled_matrix(self, features: Dataset | npt.ArrayLike, centre: Floats) -> Floats:
        """The features in float64, missing values replaced; refuses what the ranker would not score."""
        self.score(features)
        matrix, columns = feature_matrix(features, self.feature_names)
        wide = (matrix if columns is None else matrix[:, columns]).astype(SCORE)
        return np.where(np.isnan(wide), centre, wide)

    def _take(self, lengths: Mapping[str, int]) -> None:
        """Check the names, settings and arrays, and keep copies that nobody can change; ``lengths``: those of the arrays."""
        owner = type(self).__name__
        object.__setattr__(self, "settings", plain_settings(self.settings, owner))
        if self.nan not in get_args(MissingValues):
            known = listed(get_args(MissingValues))
            raise DataError("is unknown", owner=owner, setting="nan", value=self.nan, remedy=f"Give one of {known}")
        if not self.feature_names:
            raise DataError("there are no features to score by", place=self.kind, value=(), remedy="Give their names")
        if len(set(self.feature_names)) < len(self.feature_names):
            raise two_features(self.kind, next(name for name in self.feature_names if self.feature_names.count(name) > 1))
        for name, length in lengths.items():
            object.__setattr__(self, name, frozen(_numbers(getattr(self, name), length, f"{self.kind}: {name}")))

    def _stored(self, kind: str, facts: Mapping[str, Any], *arrays: str) -> Stored:
        """The content of a model file: what both kinds have, then facts and arrays of one of them."""
        common = {
            "feature_names": list(self.feature_names),
            "nan": self.nan,
            "settings": self.settings,
            "history": None if self.history is None else self.history.to_dict(),
        }
        return with_sketch(Stored(kind, {**common, **facts}, {name: getattr(self, name) for name in arrays}), self.sketch)


def stored_fields(stored: Stored, *arrays: str) -> dict[str, Any]:
    """The fields of a ranker in a model file: those that both kinds have, and these arrays."""
    return {
        "feature_names": stored.texts("feature_names"),
        "nan": stored.fact("nan", str),
        "settings": stored.fact("settings", dict),
        "history": stored_history(stored),
        "sketch": stored_sketch(stored),
        **{name: stored.array(name, SCORE) for name in arrays},
    }


def checked_hidden(owner: str, hidden: Any) -> tuple[int, ...]:
    """The units of each hidden layer; refuses anything else."""
    sizes = (hidden,) if isinstance(hidden, int) and not isinstance(hidden, bool) else hidden
    if not isinstance(sizes, Sequence | np.ndarray) or isinstance(sizes, str):
        raise ArgumentError(
            "must list the units of each hidden layer",
            owner=owner,
            setting="hidden",
            value=hidden,
            remedy="Give for example (10,), or () for a linear net",
            shell_remedy="Give for example --hidden 10",
        )
    plain: list[Any] = [units.item() if isinstance(units, np.generic) else units for units in sizes]
    for units in plain:
        check_count(owner, "hidden", units, most=MOST_UNITS)
    return tuple(plain)


def _numbers(values: Any, length: int, place: str) -> Floats:
    """An array of finite numbers; refuses anything else."""
    rule = f"There must be {length} finite numbers"
    try:
        array = np.ascontiguousarray(values, SCORE)
    except (TypeError, ValueError) as error:
        raise DataError(f"these are not numbers ({cut(error)})", place=place, value=values, rule=rule) from error
    if array.shape != (length,):
        raise DataError(f"the array has shape {array.shape}", place=place, value=array.shape, rule=rule)
    if not np.isfinite(array).all():
        odd = float(array[~np.isfinite(array)][0])
        raise DataError(f"one of the numbers is {odd}", place=place, value=odd, rule=rule)
    return array
