"""Task and SharedFits: what one adaptation is given, and what several methods need of it, made once.

The best background, its forest, a ranker of the target alone and the tuned forest are fitted when the first method asks for
them. :meth:`SharedFits.on` is the same without some of the target's queries, which then judge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from rankinite.adapt.background_settings import LAMBDA, Loss, last_recorded, loss_of, recorded_measure, with_loss_of
from rankinite.adapt.held_out import TargetRanker, fit_target_ranker
from rankinite.adapt.methods.interpolate import target_learner
from rankinite.adapt.methods.trada import Trada
from rankinite.choices import Batches
from rankinite.data.dataset import Dataset
from rankinite.evaluation.scorers import scores_of
from rankinite.evaluation.values import mean_value
from rankinite.learners.boosting import Boosting
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures.base import TrainableMeasure, sign_of
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest

T = TypeVar("T")
R = TypeVar("R", bound=Fitted)

TUNING = 3
"""Parts in which queries are held out to tune a method: that is done anew for each part that judges, so it must be quick."""


class remembered(Generic[T]):  # noqa: N801 - as functools.cached_property
    """A property that is computed once. Python 3.11's own makes all instances wait for each other, as they share a lock."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name = make, make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: Any, _kind: Any = None) -> T:
        made = owner.__dict__[self._name] = self._make(owner)
        return made


@dataclass(frozen=True, eq=False)
class Task:
    """Background rankers and target data, perhaps with validation data and the background's own."""

    backgrounds: Mapping[str, Fitted]
    target: Dataset
    measure: TrainableMeasure
    valid: Dataset | None = None
    background_data: Dataset | None = None
    folds: int | Batches = 5
    """Parts in which the target's queries are held out to judge methods; or its batches."""
    seed: int = 0

    def on(self, target: Dataset) -> Task:
        """The same with other target data."""
        return replace(self, target=target)


@dataclass(frozen=True, eq=False)
class SharedFits:
    """The rankers and learners that methods share on one task."""

    task: Task
    tuning: Trada = Trada()  # noqa: RUF009 - frozen
    """How forests are tuned, apart from β, and the loss and rate of the background where its model does not record them."""

    def on(self, target: Dataset) -> SharedFits:
        """The same for other target data."""
        return replace(self, task=self.task.on(target))

    @remembered
    def background(self) -> Fitted:
        """The background that ranks the target best, the first of equals: the one adapted by methods that adapt only one."""
        return self._best(list(self.task.backgrounds.values()))

    @remembered
    def forest(self) -> Forest | None:
        """The best of the backgrounds that are forests with one score; others cannot be adapted tree by tree."""
        every = self.task.backgrounds.values()
        forests = [ranker for ranker in every if isinstance(ranker, Forest) and ranker.grades is None]
        return self._best(forests) if forests else None

    def _best(self, rankers: Sequence[R]) -> R:
        if len(rankers) == 1:
            return rankers[0]
        target, measure = self.task.target, self.task.measure
        return max(rankers, key=lambda ranker: sign_of(measure) * mean_value(scores_of(ranker, target), target, measure))

    @remembered
    def loss(self) -> Loss:
        """What the forest was trained for; λ-gradients where there is no forest or no single loss is known."""
        return loss_of(self.forest, self.tuning.loss)

    @remembered
    def target_ranker(self) -> TargetRanker:
        """The ranker of the target alone, trained for the measure."""
        return self._trained(self._target_learner())

    @remembered
    def baseline(self) -> TargetRanker:
        """The ranker of the target alone, trained for the background's loss: what adapting must beat (003 §5.3)."""
        return self.target_ranker if self.loss == LAMBDA else self._trained(self._with_loss(self._target_learner()))

    def _target_learner(self) -> LambdaMART:
        return target_learner(self.task.measure, self.task.seed, self.task.target.rows)

    def _trained(self, learner: Boosting) -> TargetRanker:
        return fit_target_ranker(learner, self.task.target, self.task.valid, folds=TUNING, seed=self.task.seed)

    @remembered
    def tuned(self) -> Forest:
        """The forest with its values tuned."""
        return self.tuned_as(self.tuning)

    def tuned_as(self, tuning: Trada) -> Forest:
        """The forest, tuned with the β that is good on queries held out."""
        assert self.forest is not None
        task = self.task
        tuning = replace(tuning, same_scale=True)  # all of the target decides which methods are refused, not a part of it
        if tuning.measure is None and recorded_measure(self.forest) is None:  # a function, say, that a file cannot contain
            tuning = replace(tuning, measure=task.measure)
        held_out: dict[str, Any] = {"folds": TUNING, "seed": task.seed}
        return tuning.adapt_tuned(self.forest, task.target, task.valid, measure=task.measure, **held_out)

    @property
    def size(self) -> int:
        """Trees of the background and a tenth more: what models trained anew may have."""
        return self.added + (300 if self.forest is None else len(self.forest))

    @property
    def added(self) -> int:
        """A tenth of the background's trees: 30 for the paper's 300."""
        return 30 if self.forest is None else max(1, len(self.forest) // 10)

    def learner(self, trees: int) -> Boosting:
        """A learner with the loss, shape and rate that the background was trained with, where these are recorded."""
        return self._with_loss(self.lambda_learner(trees))

    def lambda_learner(self, trees: int) -> LambdaMART:
        """LambdaMART with the shape and rate that the background was trained with, where these are recorded."""
        task, leaves = self.task, last_recorded(self.forest, "leaves", 12)
        rate = self.tuning.rate or last_recorded(self.forest, "rate", 0.1)
        return LambdaMART.plain(measure=task.measure, trees=trees, leaves=leaves, rate=rate, patience=None, seed=task.seed)

    def _with_loss(self, learner: LambdaMART) -> Boosting:
        return learner if self.forest is None else with_loss_of(self.forest, learner, self.loss)
