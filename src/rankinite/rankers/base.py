"""What a ranker is: an immutable fitted model that scores rows, can be saved, and can be weighted and added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.text_files import AnyPath
from rankinite.evaluation.evaluate import Scorer
from rankinite.kernel import Floats
from rankinite.storage import Stored, write_model

if TYPE_CHECKING:
    from rankinite.rankers.blend import Blend


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

    def save(self, path: AnyPath) -> None:
        """Write a model file that :func:`rankinite.load` reads; the same model gives the same bytes.

        A name that ends in .gz, .zst or .xz is compressed.
        """
        write_model(path, self.stored())

    def __mul__(self, weight: float) -> Blend:
        from rankinite.rankers.blend import weighted

        number: Any = weight
        return weighted(self, weight) if isinstance(number, Real) else NotImplemented

    __rmul__ = __mul__

    def __add__(self, other: Scorer) -> Fitted:
        from rankinite.rankers.blend import added

        return added(self, other) if is_scorer(other) else NotImplemented

    def __radd__(self, other: Scorer | int) -> Fitted:
        from rankinite.rankers.blend import added

        if isinstance(other, int):
            return self if other == 0 else NotImplemented  # sum(rankers) begins with 0
        return added(other, self) if is_scorer(other) else NotImplemented


def is_scorer(value: Any) -> bool:
    """Whether this scores data: an object with ``score``, not a class."""
    return isinstance(value, Scorer) and not isinstance(value, type)
