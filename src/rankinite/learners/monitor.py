"""The watched measure while a ranker is boosted: taken every round, told to callbacks, the judge of which round is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.evaluation.evaluate import evaluate
from rankinite.learners.base import Callback, Learner, Progress
from rankinite.models.base import Fitted
from rankinite.models.history import History


class Watch:
    """The values of the watched measure, entry r after r rounds. A round counts once the caller says that it is done."""

    def __init__(
        self,
        learner: Learner,
        train: Dataset,
        valid: Dataset | None,
        *,
        rounds: int,
        patience: int | None,
        based: bool,
        callbacks: Sequence[Callback],
    ) -> None:
        self.measure, self._train, self._valid = learner.watched(), train, valid
        self._rounds, self._patience, self._callbacks = rounds, patience, callbacks
        self._first = 0 if based else 1  # nothing at all is a choice only where there is a base
        self._measures_train = learner.train_history
        self._unmeasured = learner.unmeasured
        self._train_values: list[float] = []
        self._valid_values: list[float] = []

    def take_up(self, history: History, rounds: int) -> None:
        """Go on from the first rounds of an interrupted run."""
        self._train_values = history.train[: rounds + 1].tolist()
        self._measures_train = len(self._train_values) > 0
        self._valid_values = history.valid[: rounds + 1].tolist()

    def take(self, train: Callable[[], Floats], valid: Callable[[], Floats]) -> None:
        """Measure the scores as they stand; each is asked for only where there is something to measure."""
        if self._measures_train:
            try:
                self._train_values.append(self._value(train(), self._train))
            except self._unmeasured:
                self._measures_train = False
        if self._valid is not None:
            self._valid_values.append(self._value(valid(), self._valid))

    def _value(self, scores: Floats, data: Dataset) -> float:
        return evaluate(scores, data, [self.measure])[self.measure].mean

    def best(self, done: int) -> int:
        """The round with the best validation value, the first of equals; without validation data, the last one."""
        if self._valid is None or done < self._first:
            return done
        values = np.asarray(self._valid_values[self._first : done + 1])
        return self._first + int(np.argmax(values if self.measure.higher_is_better else -values))

    def waited_long_enough(self, done: int) -> bool:
        """Whether patience has come to its end."""
        return self._valid is not None and self._patience is not None and done > 0 and done - self.best(done) >= self._patience

    def tell(self, done: int, ranker: Callable[[], Fitted]) -> bool:
        """Tell the callbacks; whether one of them ends the training."""
        if not self._callbacks:
            return False
        progress = Progress(
            round=done,
            rounds=self._rounds,
            measure=str(self.measure),
            train=self._train_values[-1] if self._train_values else None,
            valid=self._valid_values[-1] if self._valid_values else None,
            best=self.best(done),
            ranker=ranker,
        )
        ends = [callback(progress) for callback in self._callbacks]  # every one of them is called
        return any(ends)

    def history(self, done: int, stopped: str, steps: Sequence[float] = ()) -> History:
        """How training went in the rounds that are done."""
        return History(
            measure=str(self.measure),
            train=np.asarray(self._train_values[: done + 1]),
            valid=np.asarray(self._valid_values[: done + 1]),
            best=self.best(done),
            stopped=stopped,
            steps=np.asarray(steps[:done]),
        )
