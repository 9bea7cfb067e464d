"""FoldValue: what a setting is worth on the queries of one fold. Made here or by a worker, and kept."""

from __future__ import annotations

import io
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from rankinite.data.folds import Fold
from rankinite.engine.kernel import Floats
from rankinite.errors import RankiniteError
from rankinite.evaluation.evaluate import evaluate
from rankinite.learners.base import Learner
from rankinite.learners.training_bins import share_bins
from rankinite.measures.base import Measure, sign_of
from rankinite.models.base import Fitted
from rankinite.workers.orders import unless_unwanted


@dataclass(frozen=True, eq=False)
class FoldTask:
    """A learner to train and judge on one fold."""

    learner: Learner
    fold: Fold
    measure: Measure


@dataclass(frozen=True, eq=False)
class FoldValue:
    """What came of it."""

    values: Floats
    """The measure of each test query on which it is defined, higher being better."""
    rounds: int = 0
    """The round, or epoch, that was best on the validation queries."""
    size: int = 0
    """The size of the model: numbers stored in trees or weights."""
    seconds: float = 0.0
    refusal: str = ""
    """Why nothing came of it."""

    def to_bytes(self) -> bytes:
        """As they are kept and sent."""
        content = io.BytesIO()
        np.savez(
            content,
            values=self.values,
            rounds=np.asarray(self.rounds),
            size=np.asarray(self.size),
            seconds=np.asarray(self.seconds),
            refusal=np.asarray(self.refusal),
        )
        return content.getvalue()

    @classmethod
    def refused(cls, why: str, seconds: float = 0.0) -> FoldValue:
        """Nothing can be trained so."""
        return cls(np.empty(0), seconds=seconds, refusal=why)

    @classmethod
    def from_bytes(cls, content: bytes) -> FoldValue:
        """As they were kept."""
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            facts: dict[str, Any] = {name: stored[name].item() for name in ("rounds", "size", "seconds", "refusal")}
            return cls(stored["values"], **facts)


def fold_value(task: FoldTask) -> bytes:
    """Train on a fold, stop by its validation queries, and judge by its test queries. The codes of a fold are made once."""
    share_bins(task.fold.train)
    share_bins(task.fold.valid)
    start = perf_counter()
    try:
        ranker: Fitted = unless_unwanted(
            lambda look: task.learner.fit(task.fold.train, task.fold.valid, callbacks=[look], allow_overlap=True)
        )
        per_query = evaluate(ranker, task.fold.test, [task.measure])[task.measure].per_query
    except RankiniteError as problem:
        return FoldValue.refused(str(problem), perf_counter() - start).to_bytes()
    trained = ranker.trained()
    history = None if trained is None else trained.history
    if history is not None and history.stopped == "interrupted":
        raise KeyboardInterrupt
    values = sign_of(task.measure) * per_query[~np.isnan(per_query)]
    rounds = 0 if history is None else int(history.best)
    return FoldValue(values, rounds, model_size(ranker), perf_counter() - start).to_bytes()


def model_size(ranker: Fitted) -> int:
    """How many numbers a model consists of, apart from what it records of its training."""
    arrays = ranker.stored().arrays
    return sum(array.size for name, array in arrays.items() if not name.startswith(("sketch", "history")))
