"""Learner: what the settings of all learners have in common, and what callbacks are given.

This module, and those of the learners, import neither NumPy nor Numba: the command line lists their fields as options, and
``--help`` must be quick. What trains is imported when training starts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from rankinite.checks import check_flag
from rankinite.engine.function_names import code_of, name_of
from rankinite.errors import ArgumentError

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.scorers import Scorer
    from rankinite.gradients.base import Objective
    from rankinite.gradients.lambdas import Lambdas
    from rankinite.measures.base import Measure, TrainableMeasure
    from rankinite.models.base import Fitted
    from rankinite.models.forest import Forest


FUNCTION_CODE = "function_code"
"""The setting under which a model file has hashes of the functions of users among the others."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What callbacks are given after every round: a tree for each output, or an epoch of a net."""

    round: int
    """Rounds done, those of a resumed checkpoint included."""
    rounds: int
    """Rounds asked for."""
    measure: str
    """What is watched."""
    train: float | None
    """Its value on the training data, where that is measured."""
    valid: float | None
    """Its value on the validation data, where there are some."""
    best: int
    """The round with the best value on the validation data so far; without them, this one."""
    ranker: Callable[[], Fitted]
    """Gives the ranker as it stands, without its base; costs a copy."""


Callback = Callable[[Progress], "bool | None"]
"""Called after every round; True ends the training."""


@dataclass(frozen=True, slots=True)
class FoldProgress:
    """How far the choice of the number of trees is, where held-out parts of the training queries make it."""

    round: int
    """Rounds done, in every part."""
    rounds: int
    """Rounds at most."""
    measure: str
    """What is watched."""
    value: float
    """Its mean over the parts."""
    best: int
    """The round with the best mean so far."""
    parts: int
    """Parts that are held out, each once."""


@runtime_checkable
class FoldCallback(Protocol):
    """A callback that also wants to know how the choice of the number of trees goes; others hear of the training alone."""

    def folds(self, progress: FoldProgress) -> None:
        """Called after every round in which each part has got one more tree."""
        ...


@runtime_checkable
class ResumableCallback(Protocol):
    """A callback that can also give back what an interrupted run had trained, such as :class:`rankinite.Checkpoint`."""

    def resume(self, settings: dict[str, Any], data: dict[str, str]) -> Forest | None:
        """The forest of the run with these settings, or None where there is none yet.

        ``data``: hashes of the data, ``train`` and perhaps ``valid``, and of the scores that training starts from.
        """
        ...


class Trainer(Protocol):
    """Anything that trains rankers: a learner, or several fits whose rankers are put together, such as a bag."""

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker."""
        ...

    def settings(self) -> dict[str, Any]:
        """All settings as plain values."""
        ...

    def reseeded(self, number: int) -> Trainer:
        """The same with other random numbers, a different one for each ``number``; refuses where nothing is random."""
        ...


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """What the settings of every learner have in common."""

    takes_preferences: ClassVar[bool] = False
    """Whether it learns from judged pairs where the data have some."""
    watch: Measure | str | None = None
    """The measure that is watched on the validation data; if left out, the one trained for, else ndcg@10."""
    train_history: bool = True
    """Whether the watched measure is taken on the training data too, every round."""

    @abstractmethod
    def objective(self, train: Dataset) -> Objective:
        """The loss, bound to the training data."""

    @abstractmethod
    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Fitted:
        """Train a ranker.

        Queries of ``train`` that are in ``valid`` too are refused: what is learnt by heart would say when to stop.
        ``allow_overlap`` takes them nevertheless.
        """

    def check_watch(self) -> None:
        """Check the settings that are common, and make a measure of a name."""
        from rankinite.measures.spelling import one_measure

        name = type(self).__name__
        if self.watch is not None:
            object.__setattr__(self, "watch", one_measure(name, "watch", self.watch))
        check_flag(name, "train_history", self.train_history)

    def watched(self) -> Measure:
        """The measure that is watched."""
        from rankinite.measures.spelling import as_measures

        return as_measures("ndcg@10" if self.watch is None else self.watch)[0]

    @property
    def unmeasured(self) -> tuple[type[Exception], ...]:
        """Errors that mean: the training data are not measured. Others end the training.

        The measure may say nothing of them, such as of preferences without grades. One that nobody asked for may also not fit
        the grades, such as those of a regression.
        """
        from rankinite.errors import DataError
        from rankinite.measures.base import GradeError

        return (DataError,) if self.watch is not None else (DataError, GradeError)

    @property
    def varies_by_seed(self) -> bool:
        """Whether training draws random numbers, so that another seed gives another ranker."""
        return False

    def reseeded(self, number: int) -> Self:
        """The same learner with another seed; 0 is the learner itself."""
        if not self.varies_by_seed:
            raise ArgumentError(
                "draws nothing at random, so that every seed gives the same ranker",
                place=type(self).__name__,
                value=number,
                remedy="Train it once, or let trees draw rows or features, as with `row_share=0.7`",
            )
        settings: Any = {"seed": (self.settings()["seed"] + number) % (1 << 64)}
        return replace(self, **settings)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values, for the model file."""
        values = {f.name: plain_setting(getattr(self, f.name)) for f in fields(self)}
        code = self._code_of_functions()
        return {"learner": type(self).__name__, **values, **({FUNCTION_CODE: code} if code else {})}

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions of users among the settings: those of measures, and losses."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        found = {name: getattr(value, "function", value) for name, value in given.items()}
        return {name: value for name, value in found.items() if callable(value)}

    def _code_of_functions(self) -> dict[str, str]:
        """A hash of each: a model file records functions by name, under which there may be another one tomorrow."""
        return {name: code_of(function) for name, function in self.functions().items()}


@dataclass(frozen=True, kw_only=True)
class TrainsForMeasure(Learner):
    """A learner of λ-gradients: what it trains for is a setting."""

    measure: Measure | str = "ndcg@10"
    """The measure to train for: ndcg@10, err, map, mrr, dcg@5, or any other that is trainable."""

    def check_measure(self) -> None:
        """Make a measure of a name, and refuse one that cannot be trained for."""
        from rankinite.measures.base import require_trainable
        from rankinite.measures.spelling import one_measure

        object.__setattr__(self, "measure", require_trainable(one_measure(type(self).__name__, "measure", self.measure)))

    def lambdas(
        self, train: Dataset, sigma: float, truncation: int | None = None, *, normalise: bool = False, reach: int = 1
    ) -> Lambdas:
        """The λ-gradients of the measure, or of the same over ``reach`` times as many ranks, bound to the training data."""
        from rankinite.gradients.lambdas import Lambdas

        return Lambdas(train, self.trained_measure(reach), sigma, truncation, normalise=normalise)

    def trained_measure(self, reach: int = 1) -> TrainableMeasure:
        """The measure that λ climb: the one trained for, over ``reach`` times as many ranks."""
        from rankinite.measures.base import over_more_ranks, require_trainable
        from rankinite.measures.spelling import as_measures

        return over_more_ranks(require_trainable(as_measures(self.measure)[0]), reach)

    def watched(self) -> Measure:
        """What is trained for, unless another measure is asked for."""
        from rankinite.measures.spelling import as_measures

        return super().watched() if self.watch is not None else as_measures(self.measure)[0]


def plain_setting(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, tuple):
        return list(value)
    if callable(value):
        return f"function {name_of(value)}"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
