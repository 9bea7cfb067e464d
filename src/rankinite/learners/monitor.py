"""Monitor: the loop of rounds, the watched measure after each of them, which round is kept, and when training ends.

All learners train through it: trees, nets and LambdaBoost differ in what a round is, not in how it is judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import GRADE, INDEX, Floats, frozen
from rankinite.engine.over_members import largest
from rankinite.evaluation.values import mean_value
from rankinite.gradients.base import query_weights
from rankinite.gradients.examination import Examination, shown_positions
from rankinite.learners.base import Callback, Learner, Progress
from rankinite.measures.base import Measure, sign_of
from rankinite.measures.ranking import rank_checked
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
            end = int(self._call_back(done, ranker))
        except KeyboardInterrupt:
            end = INTERRUPTED
        end = largest(members, end)
        if end == INTERRUPTED:
            raise KeyboardInterrupt
        return bool(end)

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


class Rounds(Protocol):
    """A training run, as its loop sees it: trees, nets and LambdaBoost differ in what a round is."""

    @property
    def most_rounds(self) -> int:
        """Rounds asked for."""
        ...

    @property
    def done(self) -> int:
        """Rounds that are finished."""
        ...

    def is_over(self) -> bool:
        """Whether patience has ended."""
        ...

    def take_round(self) -> bool:
        """Do a round; whether there was anything left to learn."""
        ...

    def tell(self) -> bool:
        """Let callbacks know; whether one of them ends the training."""
        ...


def train_rounds(run: Rounds) -> str:
    """The loop of every training; returns why it ended.

    Ctrl-C ends it too, and keeps the rounds that are done; before the first there is nothing to keep.
    """
    try:
        while run.done < run.most_rounds:
            if run.is_over():
                return "early"
            if not run.take_round():
                return "exhausted"
            if run.tell():
                return "callback"
    except KeyboardInterrupt:
        if not run.done:
            raise
        return "interrupted"
    return "finished"


class ClickValue:
    """The watched measure on clicks, debiased: what training stops by where nobody judged the validation queries.

    It is the mean, over all clicks, of what the measure is where that click alone counts.

    A click at position k counts 1/t⁺_k times the weight of its query: were the estimate right, each document would count as
    often as if everything had been shown first. The weights are divided by their sum, so that a few clicks far down do not
    decide. For NDCG this is the mean discount of the ranks that the ranker gives to clicked documents.
    """

    def __init__(self, data: Dataset, measure: Measure) -> None:
        self._measure = measure
        clicks = np.flatnonzero(data.grades > 0)
        queries = data.query_of_row()[clicks]
        sizes = np.diff(data.offsets)[queries]
        self._offsets = frozen(np.concatenate((np.zeros(1, INDEX), np.cumsum(sizes))))
        shift = np.repeat(data.offsets[:-1][queries] - self._offsets[:-1], sizes)
        self._rows = shift + np.arange(self._offsets[-1])
        """The rows of a click's query, once for each of its clicks."""
        grades = np.zeros(len(self._rows), GRADE)
        places = self._offsets[:-1] + clicks - data.offsets[:-1][queries]
        grades[places] = data.grades[clicks]
        self._grades = frozen(grades)
        self._positions, self._weights = shown_positions(data)[clicks], query_weights(data)[queries]

    def __len__(self) -> int:
        return len(self._weights)

    def __call__(self, scores: Floats, examination: Examination) -> float:
        """The mean for these scores, one per row of the data."""
        ranking = rank_checked(scores[self._rows], self._grades, self._offsets, "expected", None)
        values = self._measure.per_query(ranking)
        weights = self._weights / examination.at(self._positions)
        known = np.isfinite(values)
        total = math.fsum(weights[known].tolist())
        return math.fsum((weights * values)[known].tolist()) / total if total else math.nan
