"""Members: fits that are independent of each other, and the mean of their rankers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rankinite.data.dataset import Dataset
from rankinite.engine.parallel import run
from rankinite.evaluation.inputs import Scorer
from rankinite.learners.base import Callback, Progress, Trainer
from rankinite.learners.start import refuse_checkpoints
from rankinite.models.base import Fitted
from rankinite.models.blend import Blend


@dataclass(frozen=True, eq=False)
class Member:
    """One fit: who trains, on what, and what says when to stop."""

    trainer: Trainer
    train: Dataset
    valid: Dataset | None


def mean_of_fits(
    members: Sequence[Member], owner: str, base: Scorer | None, callbacks: Sequence[Callback], *, allow_overlap: bool
) -> Fitted:
    """Train all members, side by side, each on one thread, and average their scores.

    Callbacks are given a round for each member that is done; none of them can end the training, whose result is about all.
    """
    refuse_checkpoints(owner, callbacks)
    done, lock = [0], threading.Lock()

    def fit(member: Member) -> Fitted:
        ranker = member.trainer.fit(member.train, member.valid, base=base, allow_overlap=allow_overlap)
        with lock:
            done[0] += 1
            tell(callbacks, done[0], len(members), ranker)
        return ranker

    return mean(run(fit, members))


def mean(rankers: Sequence[Fitted]) -> Fitted:
    """The mean of the scores of rankers that share a scale; a single one is its own mean."""
    return rankers[0] if len(rankers) == 1 else Blend(tuple((1.0 / len(rankers), ranker) for ranker in rankers))


def tell(callbacks: Sequence[Callback], done: int, members: int, ranker: Fitted) -> None:
    """Give the callbacks a round for a member that is done."""
    trained = ranker.trained()
    history = None if trained is None else trained.history
    best = None if history is None or not len(history.valid) else float(history.valid[history.best])
    measure = "" if history is None else history.measure
    for callback in callbacks:
        callback(Progress(done, members, measure, None, best, done, _always(ranker)))


def _always(ranker: Fitted) -> Callable[[], Fitted]:
    return lambda: ranker
