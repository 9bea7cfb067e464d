"""What learners share while they train: what callbacks are told, what is checked first, and where scores start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rankinite.checks import check_flag
from rankinite.data.dataset import Dataset
from rankinite.data.joining import check_same_features
from rankinite.data.overlap import check_apart
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.evaluation.inputs import Scorer, as_measures, one_measure, scores_of
from rankinite.gradients.base import Objective
from rankinite.gradients.multiclass import Multiclass
from rankinite.measures.base import Measure
from rankinite.measures.dcg import NDCG
from rankinite.measures.grades import GradeError
from rankinite.models.base import Fitted, is_scorer
from rankinite.models.blend import Blend
from rankinite.models.forest import Forest


@dataclass(frozen=True, slots=True)
class Progress:
    """What callbacks are told after every round: a tree for each output, or an epoch of a net."""

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


@runtime_checkable
class Resuming(Protocol):
    """A callback that can also give back what an interrupted run had trained, such as :class:`rankinite.Checkpoint`."""

    def resume(self, settings: dict[str, Any], start: dict[str, Floats], data: dict[str, Dataset]) -> Forest | None:
        """The forest of the run with these settings on these data and starting scores, or None where there is none yet."""
        ...


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """What the settings of every learner have in common."""

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
        name = type(self).__name__
        if self.watch is not None:
            object.__setattr__(self, "watch", one_measure(name, "watch", self.watch))
        check_flag(name, "train_history", self.train_history)

    def watched(self) -> Measure:
        """The measure that is watched."""
        return NDCG(10) if self.watch is None else as_measures(self.watch)[0]

    @property
    def unmeasured(self) -> tuple[type[Exception], ...]:
        """Errors that mean: the training data are not measured. Others end the training.

        The measure may say nothing of them, such as of preferences without grades. One that nobody asked for may also not fit
        the grades, such as those of a regression.
        """
        return (DataError,) if self.watch is not None else (DataError, GradeError)

    def settings(self) -> dict[str, Any]:
        """All settings as plain values, for the model file."""
        values = {f.name: plain_setting(getattr(self, f.name)) for f in fields(self)}
        return {"learner": type(self).__name__, **values}


def starting_scores(base: Scorer | None, data: Dataset, objective: Objective) -> Floats:
    """The scores before the first tree, shape (outputs, rows)."""
    if base is None:
        return np.repeat(np.asarray(objective.start, np.float64)[:, None], data.rows, axis=1)
    if objective.outputs == 1:
        scores = np.array(scores_of(base, data, "base"), np.float64).reshape(1, -1)
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores[0]))[0])
            raise DataError(
                f"base: row {row} of {data.source} has score {scores[0, row]}. Training needs finite scores; choose a base "
                "that scores every document."
            )
        return scores
    known = objective.grades if isinstance(objective, Multiclass) else np.empty(0)
    same = isinstance(base, Forest) and base.feature_names == data.feature_names
    if same and isinstance(base, Forest) and base.grades is not None and np.array_equal(base.grades, known):
        return np.array(base.outputs_of(data))
    raise ArgumentError(
        f"a {type(base).__name__} cannot be the base of McRank, which has a score for each grade. Give a McRank forest of the "
        "same grades and features, or train LambdaMART or MART from this base."
    )


def check_data(
    train: Dataset,
    valid: Dataset | None,
    base: Scorer | None,
    callbacks: Sequence[Callback],
    *,
    allow_overlap: bool = False,
) -> None:
    """Refuse what no learner can train on."""
    for name, data in (("train", train), ("valid", valid)):
        if not isinstance(data, Dataset) and not (data is None and name == "valid"):
            raise DataError(f"{name} is a {type(data).__name__}. Give a Dataset, as rankinite.read returns.")
    for data in (train, valid):
        if data is not None and not data.rows:
            raise DataError(f"{data.source}: there are no rows. Give data with judged documents.")
    repeated = sorted(name for name, count in Counter(train.feature_names).items() if count > 1)
    if repeated:
        raise DataError(f"{train.source}: feature {repeated[0]!r} appears more than once. Rename one: names must differ.")
    if valid is not None:
        check_same_features(train, valid)
    if base is not None and not is_scorer(base):
        raise ArgumentError(f"base={base!r} is no ranker. Give an object with a method score(data).")
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"callbacks={callbacks!r} must be a list of functions, each called after every round.")
    check_flag("fit", "allow_overlap", allow_overlap)
    check_apart({"train": train}, {"valid": valid}, allow_overlap=allow_overlap)


def check_continues(forest: Forest, place: str, train: Dataset, valid: Dataset | None, outputs: int) -> None:
    """Refuse a forest that training cannot go on from: its trees are to walk these rows, and its history to be lengthened.

    ``outputs``: how many sums the objective has.
    """
    remedy = "Train as before, or delete it to start afresh."
    if forest.feature_names != train.feature_names:
        raise DataError(
            f"{place}: this checkpoint has {_differing(forest.feature_names, train.feature_names, train.source)}. Features "
            f"must be the same, in the same order. {remedy}"
        )
    if forest.outputs != outputs:
        raise DataError(f"{place}: this checkpoint has {forest.outputs} scores per row, not {outputs}. {remedy}")
    history, rounds = forest.history, forest.rounds
    sizes = () if history is None else (len(history.train), len(history.valid), len(history.steps))
    measured = rounds + 1  # after every round, and before the first
    whole = sizes in [(own, 0 if valid is None else measured, steps) for own in (0, measured) for steps in (0, rounds)]
    if history is None or not whole or not all(np.isfinite(values).all() for values in (history.train, history.valid)):
        raise DataError(
            f"{place}: the history of this checkpoint does not fit its {rounds} rounds of trees. It must have one finite "
            f"number for each round and one for the start. {remedy}"
        )


def _differing(names: tuple[str, ...], wanted: tuple[str, ...], source: str) -> str:
    """Where the names of features first differ, or how many there are."""
    for position, (name, other) in enumerate(zip(names, wanted, strict=False)):
        if name != other:
            return f"the feature {quoted(name)} at position {position}, where {source} has {quoted(other)}"
    return f"{len(names)} features, but {source} has {len(wanted)}"


def with_base(base: Scorer | None, forest: Forest) -> Forest | Blend:
    """The complete ranker: the base, then the trees trained from it; one forest where both are trees of a kind."""
    if base is None:
        return forest
    if isinstance(base, Forest) and base.feature_names == forest.feature_names and base.outputs == forest.outputs:
        return base.extended(forest)
    return Blend(((1.0, base), (1.0, forest)))


def plain_setting(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, tuple):
        return list(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
