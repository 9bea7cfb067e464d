"""What a ranker is: an immutable fitted model that scores rows, can be saved, and can be weighted and added."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.io.text_files import AnyPath
from rankinite.data.sketch import QuerySketch
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import Scorer
from rankinite.models.files.container import Stored, write_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.models.blend import Blend
    from rankinite.models.history import History


@runtime_checkable
class Ranker(Protocol):
    """A complete model: whatever it was boosted from or made of is inside it."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it needs; empty when it takes them by position alone."""
        ...

    def score(self, features: Dataset | npt.ArrayLike, /) -> Floats:
        """One score a row of a Dataset, a data frame or a matrix; the highest comes first."""
        ...

    def save(self, path: AnyPath, /) -> None:
        """Write a model file that :func:`rankinite.load` reads."""
        ...

    def __mul__(self, weight: float, /) -> Ranker: ...

    def __rmul__(self, weight: float, /) -> Ranker: ...

    def __add__(self, other: Scorer, /) -> Ranker: ...


class Fitted(ABC):
    """What every ranker of ours can do besides scoring: be saved, weighted and added."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's numbers leave 0.3 * ranker to the ranker

    @abstractmethod
    def score(self, features: Dataset | npt.ArrayLike, /) -> Floats:
        """One score a row."""

    @abstractmethod
    def stored(self) -> Stored:
        """What a model file holds of it."""

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries it was trained on: a sketch for each part that learnt; None for one that does not say."""
        return (None,)

    def save(self, path: AnyPath) -> None:
        """Write a model file that :func:`rankinite.load` reads; the same model gives the same bytes.

        A name that ends in .gz, .zst or .xz is compressed.
        """
        write_model(path, self.stored())

    def _repr_html_(self) -> str:
        from rankinite.models.notebook import card

        return card(self).html()

    def __mul__(self, weight: float) -> Blend:
        from rankinite.models.blend import weighted

        number: Any = weight
        return weighted(self, weight) if isinstance(number, Real) else NotImplemented

    __rmul__ = __mul__

    def __add__(self, other: Scorer) -> Fitted:
        from rankinite.models.blend import added

        return added(self, other) if is_scorer(other) else NotImplemented

    def __radd__(self, other: Scorer | int) -> Fitted:
        from rankinite.models.blend import added

        if isinstance(other, int):
            return self if other == 0 else NotImplemented  # sum(rankers) begins with 0
        return added(other, self) if is_scorer(other) else NotImplemented


def part_scores(part: Scorer, features: Any, qid: npt.ArrayLike | None) -> npt.NDArray[Any]:
    """The scores of a ranker inside another; the queries are told to those that need them."""
    told: dict[str, Any] = {"qid": qid} if getattr(part, "needs_queries", False) else {}
    return np.asarray(part.score(features, **told))


def sketches_of(part: object) -> tuple[QuerySketch | None, ...]:
    """Which queries a part was trained on; nothing of what is no ranker of rankinite."""
    return part.trained_on if isinstance(part, Fitted) else ()


def stored_part(ranker: Scorer, place: str) -> Stored:
    """What a model file holds of a ranker inside another; refuses what no file can hold."""
    if not isinstance(ranker, Fitted):
        raise ArgumentError(
            f"{place} is a {type(ranker).__name__}, which no model file can hold. Only rankers of rankinite can be saved; save "
            "the others your own way and add them after loading."
        )
    return ranker.stored()


def plain_settings(settings: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """A copy of a ranker's settings as they will come back from a file."""
    try:
        return json.loads(json.dumps(dict(settings), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"a {kind}'s settings must be plain values that JSON can hold ({error}).") from error


def drawn_history(ranker: object, history: History | None, axes: Axes | None, unit: str) -> Axes:
    """The measure after every round, or whatever the unit is called, of training, drawn."""
    from rankinite.models.plots import plot_history

    if history is None:
        raise ArgumentError(f"{ranker!r} has no history to draw: only what was trained has one.")
    return plot_history(history, axes, unit)


def is_scorer(value: Any) -> bool:
    """Whether this scores data: an object with ``score``, not a class."""
    return isinstance(value, Scorer) and not isinstance(value, type)
