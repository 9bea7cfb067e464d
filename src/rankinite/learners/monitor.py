"""Monitor: the watched measure after every round of training, which round is kept, and when training ends.

All learners train through it: trees, nets and LambdaBoost differ in what a round is, not in how it is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.engine.over_members import largest
from rankinite.evaluation.values import mean_value
from rankinite.gradients.examination import Examination
from rankinite.learners.base import Callback, Learner, Progress
from rankinite.measures.base import sign_of
from rankinite.models.base import Fitted
from rankinite.models.history import History

INTERRUPTED = 2
"""What the first member tells the others when it was interrupted; 1 when a callback ends the training, 0 otherwise."""


class Monitor:
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
        judged_by_train: bool = False,
        value: Callable[[Floats, Dataset], float] | None = None,
    ) -> None:
        """``judged_by_train``: without validation data, the training data say which round is best; else it is the last.

        ``value``: how scores of data are judged, if not by the mean of the watched measure.
        """
        self._judged_by = value
        self.measure, self._train, self._valid = learner.watched(), train, valid
        self._sign = sign_of(self.measure)
        self._rounds, self._patience, self._callbacks = rounds, patience, callbacks
        self._first = 0 if based else 1  # nothing at all is a choice only where there is a base
        self._measures_train = learner.train_history
        self._unmeasured = learner.unmeasured
        self._train_values: list[float] = []
        self._valid_values: list[float] = []
        no_judge: list[float] = []
        self._judge = self._valid_values if valid is not None else self._train_values if judged_by_train else no_judge

    def take_up(self, history: History, rounds: int) -> None:
        """Go on from the first rounds of an interrupted run."""
        self._train_values[:] = history.train[: rounds + 1].tolist()
        self._measures_train = len(self._train_values) > 0
        self._valid_values[:] = history.valid[: rounds + 1].tolist()

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
        return mean_value(scores, data, self.measure) if self._judged_by is None else self._judged_by(scores, data)

    @property
    def latest(self) -> float:
        """The last value on the validation data."""
        return self._valid_values[-1]

    def best(self, done: int) -> int:
        """The round with the best value, the first of equals; where nothing judges, the last one."""
        values = self._sign * np.asarray(self._judge[self._first : done + 1])
        return self._first + int(np.argmax(values)) if len(values) else done

    def worth(self, done: int) -> float:
        """The best value so far, the higher the better; 0 where nothing judges."""
        return self._sign * self._judge[self.best(done)] if self._judge else 0.0

    def waited_long_enough(self, done: int) -> bool:
        """Whether patience has come to its end."""
        return self._patience is not None and done > 0 and done - self.best(done) >= self._patience

    def tell(self, done: int, ranker: Callable[[], Fitted]) -> bool:
        """Tell the callbacks; whether one of them ends the training. Of several members the first alone has any."""
        members = self._train.members
        if members is None:
            return self._call_back(done, ranker)
        try:
            said = int(self._call_back(done, ranker))
        except KeyboardInterrupt:
            said = INTERRUPTED
        said = largest(members, said)
        if said == INTERRUPTED:
            raise KeyboardInterrupt
        return bool(said)

    def _call_back(self, done: int, ranker: Callable[[], Fitted]) -> bool:
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

    def history(self, done: int, stopped: str, steps: Sequence[float] = (), examination: Examination | None = None) -> History:
        """How training went in the rounds that are done."""
        return History(
            measure=str(self.measure),
            train=np.asarray(self._train_values[: done + 1]),
            valid=np.asarray(self._valid_values[: done + 1]),
            best=self.best(done),
            stopped=stopped,
            steps=np.asarray(steps[:done]),
            examination=examination,
        )


def train_rounds(
    rounds: int,
    done: Callable[[], int],
    *,
    is_over: Callable[[], bool],
    take: Callable[[], bool],
    tell: Callable[[], bool],
) -> str:
    """The loop of every training; returns why it ended.

    ``done`` counts the rounds that are finished, ``is_over`` says whether patience has ended, ``take`` does a round and says
    whether there was anything left to learn, ``tell`` lets callbacks know and says whether one of them ends the training.
    Ctrl-C ends it too, and keeps the rounds that are done; before the first there is nothing to keep.
    """
    try:
        while done() < rounds:
            if is_over():
                return "early"
            if not take():
                return "exhausted"
            if tell():
                return "callback"
    except KeyboardInterrupt:
        if not done():
            raise
        return "interrupted"
    return "finished"
