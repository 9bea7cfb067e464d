"""What there is to adapt with, and what several methods need of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from rankinite.adapt.background_settings import LAMBDA, Loss, last_told, loss_of, with_loss_of
from rankinite.adapt.held_out import Own, fit_own
from rankinite.adapt.methods.interpolate import own_learner
from rankinite.adapt.methods.trada import Trada
from rankinite.data.dataset import Dataset
from rankinite.evaluation.evaluate import evaluate
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
    """A property that is computed once. Python 3.11's own lets all tasks wait for each other, as they share a lock."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name = make, make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: Any, _kind: Any = None) -> T:
        found = owner.__dict__[self._name] = self._make(owner)
        return found


@dataclass(frozen=True, eq=False)
class Task:
    """Background rankers and target data, perhaps with validation data and the background's own."""

    backgrounds: Mapping[str, Fitted]
    target: Dataset
    measure: TrainableMeasure
    valid: Dataset | None = None
    background_data: Dataset | None = None
    folds: int = 5
    """Parts in which the target's queries are held out to judge methods."""
    seed: int = 0
    how: Trada = Trada()  # noqa: RUF009 - frozen
    """How forests are tuned, apart from β."""

    def on(self, target: Dataset) -> Task:
        """The same with other target data."""
        return replace(self, target=target)

    @remembered
    def background(self) -> Fitted:
        """The background that ranks the target best, the first of equals: the one that is adapted where one is."""
        return self._best(list(self.backgrounds.values()))

    @remembered
    def forest(self) -> Forest | None:
        """The best of the backgrounds that are forests with one score; others cannot be adapted tree by tree."""
        forests = [own for own in self.backgrounds.values() if isinstance(own, Forest) and own.grades is None]
        return self._best(forests) if forests else None

    def _best(self, rankers: Sequence[R]) -> R:
        if len(rankers) == 1:
            return rankers[0]
        sign = sign_of(self.measure)
        return max(rankers, key=lambda own: sign * evaluate(own, self.target, [self.measure])[self.measure].mean)

    @remembered
    def loss(self) -> Loss:
        """What the forest was trained for; λ-gradients where there is none, it does not say so, or it had several losses."""
        return loss_of(self.forest, self.how.loss)

    @remembered
    def own(self) -> Own:
        """The ranker of the target alone, trained for the measure."""
        return self._alone(own_learner(self.measure, self.seed, self.target.rows))

    @remembered
    def alone(self) -> Own:
        """The ranker of the target alone, trained as the background was: what adapting must beat (003 §5.3)."""
        if self.loss == LAMBDA:
            return self.own
        return self._alone(self._with_loss(own_learner(self.measure, self.seed, self.target.rows)))

    def _alone(self, learner: Boosting) -> Own:
        return fit_own(learner, self.target, self.valid, folds=TUNING, seed=self.seed)

    @remembered
    def tuned(self) -> Forest:
        """The forest, its values tuned."""
        return self.tuned_as(self.how)

    def tuned_as(self, how: Trada) -> Forest:
        """The forest, tuned with the β that is good on queries held out."""
        assert self.forest is not None
        how = replace(how, same_scale=True)  # methods are refused by what all of the target says, not by a part of it
        return how.adapt_tuned(
            self.forest, self.target, self.valid, measure=self.measure, folds=TUNING, seed=self.seed
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Trees of a model as large as the background with a tenth more: what models trained anew may have."""
        return self.added + (300 if self.forest is None else len(self.forest))

    @property
    def added(self) -> int:
        """A tenth of the background's trees: 30 for the paper's 300."""
        return 30 if self.forest is None else max(1, len(self.forest) // 10)

    def learner(self, trees: int) -> Boosting:
        """A learner with the loss, shape and rate that the background was trained with, where it says so."""
        return self._with_loss(self.lambda_learner(trees))

    def lambda_learner(self, trees: int) -> LambdaMART:
        """LambdaMART with the shape and rate that the background was trained with, where it says so."""
        leaves, rate = last_told(self.forest, "leaves", 12), self.how.rate or last_told(self.forest, "rate", 0.1)
        return LambdaMART(measure=self.measure, trees=trees, leaves=leaves, rate=rate, patience=None, seed=self.seed)

    def _with_loss(self, learner: LambdaMART) -> Boosting:
        return learner if self.forest is None else with_loss_of(self.forest, learner, self.loss)
