"""The training loop of nets and linear rankers: stochastic gradient ascent query by query (papers 002 §2.1 and §4, 004 §4.2).

Every epoch visits all queries in a new random order: scores, λ's, one step of the weights. The watched measure decides which
epoch's weights are kept, when the rate falls and when a start has come to its end. Several random starts train side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch, query_order
from rankinite.engine.kernel import INDEX, Floats, frozen
from rankinite.engine.parallel import Team, run
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer
from rankinite.gradients.lambdas import GradedPairs, Lambdas
from rankinite.gradients.pointwise import Differences
from rankinite.gradients.ranknet import PreferencePairs, RankNetPairs
from rankinite.learners.base import Callback
from rankinite.learners.descent import Descent
from rankinite.learners.monitor import Monitor, train_rounds
from rankinite.learners.training_checks import starting_scores, warn_of_calls
from rankinite.models.blend import Blend
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.nets import _net_kernels as _kernels
from rankinite.nets._net_kernels import Frame, RowArrays, Steps
from rankinite.nets.features import check_features, fit_standard
from rankinite.nets.network import add_scores, first_weights, sizes_of, weight_count

PairObjective = Lambdas | RankNetPairs | PreferencePairs | Differences
LARGEST = 1e6
"""A weight above this, on standardised features, is a sign of divergence: useful ones are of size 1."""


@dataclass(eq=False)
class _Start:
    """A net in training from one random start."""

    random: np.random.Generator
    weights: Floats
    steps: Steps
    rows: RowArrays
    kept: Floats
    """The weights of the best epoch."""
    monitor: Monitor
    epoch: int = 0
    """Epochs done."""

    @property
    def ended(self) -> bool:
        """Whether it has come to its end."""
        return self.monitor.waited_long_enough(self.epoch)


def descend(
    learner: Descent, train: Dataset, valid: Dataset | None, base: Scorer | None, callbacks: Sequence[Callback]
) -> Net | Linear | Blend:
    """Train on data that were checked; the result includes the base."""
    warn_of_calls(learner, train)
    with Team():
        trained = DescentRun(learner, train, valid, base, callbacks).train()
    return trained if base is None else Blend(((1.0, base), (1.0, trained)))


class DescentRun:
    """One training run: the state of the loop."""

    def __init__(
        self, learner: Descent, train: Dataset, valid: Dataset | None, base: Scorer | None, callbacks: Sequence[Callback]
    ) -> None:
        self.learner, self.train_data, self.valid, self.base, self.callbacks = learner, train, valid, base, callbacks
        for data in (train,) if valid is None else (train, valid):
            check_features(data.features, data.feature_names, data.source, missing=learner.nan == "mean")
        objective = learner.objective(train)
        assert isinstance(objective, PairObjective)
        self.objective = objective
        self.queries = query_order(train)
        place = np.argsort(self.queries)[train.query_of_row()[objective.pairs.rows]]
        rows = objective.pairs.rows[np.argsort(place, kind="stable")].astype(INDEX)  # must not depend on where queries stand
        standard = fit_standard(train.features, rows, train.source)
        sizes = sizes_of(len(train.feature_names), learner.hidden)
        self.frame = Frame(sizes, frozen(standard.centre), frozen(standard.scale))
        self.start_scores = frozen(starting_scores(base, train, objective)[0])
        self.valid_start = None if valid is None else frozen(starting_scores(base, valid, objective)[0])
        self.starts = [self._begin(number) for number in range(learner.restarts + 1)]
        self.done = 0
        """Epochs."""
        self.sketch = QuerySketch.of(train)

    def _begin(self, number: int) -> _Start:
        random = np.random.default_rng([self.learner.seed, number])
        weights, rows = first_weights(self.frame.sizes, random, silent=self.base is not None), self.train_data.rows
        learner = self.learner
        moments, taken = np.zeros((2, weight_count(self.frame.sizes))), np.zeros(1, np.int64)
        return _Start(
            random=random,
            weights=weights,
            steps=Steps(learner.rate, learner.l2, learner.optimiser == "adam", moments, taken),
            rows=RowArrays(self.start_scores, np.zeros(rows), np.zeros(rows), np.zeros(rows)),
            kept=weights.copy(),
            monitor=Monitor(
                learner,
                self.train_data,
                self.valid,
                rounds=learner.epochs,
                patience=learner.patience,
                based=self.base is not None,
                callbacks=self.callbacks,
                judged_by_train=True,
            ),
        )

    def train(self) -> Net | Linear:
        """The loop."""
        for start in self.starts:
            self._measure(start)  # entry 0 of the history: what training starts from
        stopped = train_rounds(self)
        return self._ranker(self._leader(), stopped)

    @property
    def most_rounds(self) -> int:
        return self.learner.epochs

    def is_over(self) -> bool:
        return all(start.ended for start in self.starts)

    def take_round(self) -> bool:
        """An epoch of every start that has not come to its end; there is always something to learn."""
        active = [start for start in self.starts if not start.ended]
        strange = run(self._climb, active)
        for start, query in zip(active, strange, strict=True):
            self._check(start, query)
            self._measure(start)
            self._judge(start)
        self.done += 1
        return True

    def _climb(self, start: _Start) -> int:
        """One epoch."""
        queries = frozen(self.queries[start.random.permutation(len(self.queries))])
        rest = (self.frame, start.steps, self.train_data.features, queries, start.rows, start.weights)
        if isinstance(self.objective, PreferencePairs):
            return _kernels.climb_preferences(self.objective.pairs, *rest)
        if isinstance(self.objective, Differences):
            return _kernels.climb_differences(self.objective.pairs, *rest)
        pairs = self.objective.pairs
        return _kernels.climb_grades(pairs._replace(order=pairs.order.copy()), *rest)  # starts must not share it

    def _check(self, start: _Start, query: int) -> None:
        """Refuse to go on with weights that have left all bounds."""
        if np.abs(start.weights).max() <= LARGEST and query < 0:
            return
        if query >= 0 and np.isfinite(start.rows.scores).all() and isinstance(self.objective, GradedPairs):
            raise self.objective.not_finite_error(start.rows.scores, query)  # the measure is to blame
        learner = self.learner
        other = "" if learner.optimiser == "adam" else ", or choose `optimiser='adam'`, whose steps depend less on it"
        raise ArgumentError(
            f"is too high: training diverged in epoch {self.done + 1}, as the weights grow without bound",
            owner=type(learner).__name__,
            setting="rate",
            value=learner.rate,
            remedy=f"Lower it, say to a tenth{other}",
        )

    def _measure(self, start: _Start) -> None:
        """Note the watched measure as things stand."""
        start.monitor.take(
            lambda: self._scores(start, self.train_data, self.start_scores),
            lambda: self._scores(start, self.valid, self.valid_start),
        )

    def _scores(self, start: _Start, data: Dataset | None, begun: Floats | None) -> Floats:
        assert data is not None
        assert begun is not None
        scores = begun.copy()
        add_scores(self.frame, start.weights, data.features, scores)
        return scores

    def _judge(self, start: _Start) -> None:
        """Keep the weights if they are the best so far; else lower the rate."""
        if start.monitor.best(start.epoch + 1) == start.epoch + 1:
            start.kept = start.weights.copy()
        else:
            start.steps = start.steps._replace(rate=start.steps.rate * self.learner.decay)
        start.epoch += 1

    def _leader(self) -> _Start:
        """The start with the best value so far, the first of equals."""
        return max(self.starts, key=lambda start: start.monitor.worth(start.epoch))

    def tell(self) -> bool:
        """Tell the callbacks of the start that is best; whether one of them ends the training."""
        leader = self._leader()
        return leader.monitor.tell(self.done, lambda: self._ranker(leader, "unfinished"))

    def _ranker(self, start: _Start, stopped: str) -> Net | Linear:
        history = start.monitor.history(start.epoch, stopped)
        centre, scale = self.frame.centre, self.frame.scale
        made: dict[str, Any] = {
            "nan": self.learner.nan, "settings": self.learner.settings(), "history": history, "sketch": self.sketch
        }  # fmt: skip
        names, weights = self.train_data.feature_names, start.kept
        if self.learner.hidden:
            return Net(names, self.learner.hidden, weights, centre, scale, **made)
        return Linear(names, weights[:-1] * scale, float(weights[-1]), centre, **made)
