"""The number of trees, where none is given: as many as are best on queries that training has not seen.

With validation data these say when to stop. Without, some of the training queries are held out in turn: all parts are boosted
side by side, a round at a time, and the number of rounds with the best mean on what each has not seen is the number of trees
that all queries are then trained with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankinite.binned.data import Binned
from rankinite.data.dataset import Dataset
from rankinite.data.folds import Holdout, holdouts, holdouts_by_content
from rankinite.engine.kernel import Floats
from rankinite.engine.parallel import Team, run
from rankinite.errors import RankiniteError
from rankinite.evaluation.scorers import Scorer
from rankinite.evaluation.values import mean_value
from rankinite.learners.base import Callback, FoldCallback, FoldProgress
from rankinite.learners.boosting import MOST_TREES, Boosting
from rankinite.learners.boosting_run import BoostingRun, HeldOut
from rankinite.measures.base import sign_of

PARTS = 5
"""Parts of the training queries, each held out once."""
MANY_ROWS = 100_000
"""More rows are boosted once, with a single part held out: that part is then large enough to say how many trees are best."""
UNJUDGED = 300
"""Trees where nothing can be held out: coded data, preferences without grades, fewer queries than parts."""


def with_tree_count(
    learner: Boosting, train: Dataset, valid: Dataset | None, base: Scorer | None, callbacks: Sequence[Callback]
) -> tuple[Boosting, HeldOut | None]:
    """The same learner, with a number of trees in any case; where held-out queries chose it, what they said."""
    if learner.trees is not None:
        return learner, None
    if valid is not None:
        return replace(learner, trees=MOST_TREES), None
    parts = _parts(learner, train)
    if not parts:
        return replace(learner, trees=UNJUDGED), None
    count, means = _best_count(learner, parts, base, callbacks)
    return replace(learner, trees=count), HeldOut(means, len(parts))


def _parts(learner: Boosting, train: Dataset) -> list[Holdout]:
    """What is held out in turn; nothing where that says nothing."""
    if isinstance(train, Binned) or train.queries < PARTS:
        return []
    hold_out = holdouts if train.positions is None else holdouts_by_content  # of a log: not some sessions of a query alone
    parts = hold_out(train, PARTS)[: 1 if train.rows > MANY_ROWS else PARTS]
    return [part for part in parts if _can_judge(learner, part.held)]


def _can_judge(learner: Boosting, held: Dataset) -> bool:
    """Whether the watched measure says anything of these queries: not of preferences alone, or where all grades are equal."""
    try:
        return bool(np.isfinite(mean_value(np.zeros(held.rows), held, learner.watched())))
    except RankiniteError:
        return False


def _best_count(
    learner: Boosting, parts: Sequence[Holdout], base: Scorer | None, callbacks: Sequence[Callback]
) -> tuple[int, Floats]:
    """The number of rounds with the best mean over the parts, and the means; training ends when patience with them does."""
    quiet = replace(learner, trees=MOST_TREES, train_history=False)
    tell = [callback.folds for callback in callbacks if isinstance(callback, FoldCallback)]
    sign, patience = sign_of(learner.watched()), learner.patience or MOST_TREES
    best, count = -np.inf, 1
    with Team() as team:

        def start(part: Holdout) -> BoostingRun:
            own_team = Team() if len(parts) > 1 else team  # beside each other, each on one thread
            one = BoostingRun(quiet, part.rest, part.held, base, (), own_team)
            one.begin()
            return one

        runs = run(start, parts)
        means = [float(np.mean([one.watch.latest for one in runs]))]
        for done in range(1, MOST_TREES + 1):
            value = float(np.mean(run(_next_value, runs)))
            means.append(value)
            if sign * value > best:
                best, count = sign * value, done
            for show in tell:
                show(FoldProgress(done, MOST_TREES, str(learner.watched()), value, count, len(parts)))
            if done - count >= patience:
                break
    return count, np.asarray(means)


def _next_value(one: BoostingRun) -> float:
    """One more round; the watched measure of what was held out, after it."""
    one.take_round()
    return one.watch.latest
