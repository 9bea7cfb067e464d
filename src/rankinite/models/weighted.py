"""What nets and linear rankers share: scoring rows, checking arrays, and the facts that files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt

from rankinite.checks import check_count
from rankinite.choices import MissingValues
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.models.files.container import Stored
from rankinite.models.files.sketches import stored_sketch
from rankinite.models.history import History
from rankinite.models.inputs import located
from rankinite.nets._state import Frame
from rankinite.nets.network import add_scores
from rankinite.nets.standard import check_features

if TYPE_CHECKING:
    from rankinite.models.linear import Linear
    from rankinite.models.net import Net

MOST_UNITS = 1_000_000
"""Of a layer: far more than is of use, and few enough to count all weights of a net."""


def weighted_scores(ranker: Net | Linear, frame: Frame, weights: Floats, features: Dataset | npt.ArrayLike) -> Floats:
    """The scores of rows; refuses features that are missing or lead beyond all floats."""
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


def take_arrays(ranker: Any, kind: str, lengths: Mapping[str, int]) -> None:
    """Freeze the arrays; refuse those that are not of the length wanted, or hold what is no number."""
    if ranker.nan not in get_args(MissingValues):
        raise DataError(f"{kind}: nan={ranker.nan!r} is unknown. Known are {', '.join(get_args(MissingValues))}.")
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


def maker_of(settings: Mapping[str, Any]) -> str:
    """Who trained it, for a line on the ranker."""
    learner = settings.get("learner")
    return f" by {learner}" if isinstance(learner, str) else ""


def common_facts(ranker: Net | Linear) -> dict[str, Any]:
    """What a model file says of both kinds."""
    return {
        "feature_names": list(ranker.feature_names),
        "nan": ranker.nan,
        "settings": ranker.settings,
        "history": None if ranker.history is None else ranker.history.to_dict(),
    }


def arrays_of(ranker: Net | Linear, *names: str) -> dict[str, npt.NDArray[Any]]:
    """Arrays by their names."""
    return {name: getattr(ranker, name) for name in names}


def common_from(stored: Stored) -> dict[str, Any]:
    """The same facts, taken from a model file."""
    return {
        "feature_names": stored.texts("feature_names"),
        "nan": stored.fact("nan", str),
        "settings": stored.fact("settings", dict),
        "history": None if stored.facts.get("history") is None else History.from_dict(stored.fact("history", dict)),
        "sketch": stored_sketch(stored),
    }
