"""LambdaBoost: λ-gradients followed one feature at a time (paper 001 §4.1).

Every round asks the objective for the push y' of every row, takes the feature h that explains the pushes best by least squares,
and adds the rate times β = Σ y'h / Σ h² to its weight: the largest (Σ y'h)² / Σ h² wins, as in the paper's equation 9. (Its
equation 8 lacks the square below the line and the prime above it; this is what least squares gives.) A query of weight w counts
w times in both sums.

Here h is the feature less its mean over the training rows, as if a constant were fitted along with β. A constant changes no
ranking, and the pushes sum to 0 in every query, so that Σ y'h is the same with and without the mean; Σ h² is not: were h taken
as it stands, a feature far from 0 would hardly ever be chosen, however well it ranks. The unit of a feature does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch, unite_sketches
from rankinite.engine.parallel import Team
from rankinite.errors import DataError
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.base import Callback
from rankinite.learners.lambdaboost import LambdaBoost
from rankinite.learners.monitor import Monitor, train_rounds
from rankinite.learners.training_checks import starting_scores, warn_of_calls
from rankinite.models.blend import Blend
from rankinite.models.linear import Linear
from rankinite.nets.features import Columns, check_features
from rankinite.sweep.sweep import Sweep


def boost_features(
    learner: LambdaBoost, train: Dataset, valid: Dataset | None, base: Scorer | None, callbacks: Sequence[Callback]
) -> Linear | Blend:
    """Train on data that were checked; the result includes the base."""
    warn_of_calls(learner, train)
    with Team():
        trained = LambdaBoostRun(learner, train, valid, base, callbacks).boost()
    if base is None:
        return trained
    gaps = any(np.isnan(data.features).any() for data in (train, valid) if data is not None)
    return _with_base(base, trained, gaps=gaps)


def _with_base(base: Scorer, trained: Linear, *, gaps: bool) -> Linear | Blend:
    """The complete ranker: one where both are linear, unless missing values (``gaps``) have had a meaning for each."""
    if not isinstance(base, Linear) or base.feature_names != trained.feature_names or gaps:
        return Blend(((1.0, base), (1.0, trained)))
    moved = float((trained.weights * (base.centre_of_features - trained.centre_of_features)).sum())
    return Linear(
        feature_names=base.feature_names,
        weights=base.weights + trained.weights,
        bias=base.bias + moved,  # so that the centre stays the base's
        centre=base.centre,
        nan="mean" if base.nan == trained.nan == "mean" else "refuse",
        settings={**trained.settings, "base": base.settings},
        history=trained.history,
        before=base.weights,
        sketch=unite_sketches(base.sketch, trained.sketch),
    )


class LambdaBoostRun:
    """One training run: the state of the loop."""

    def __init__(
        self, learner: LambdaBoost, train: Dataset, valid: Dataset | None, base: Scorer | None, callbacks: Sequence[Callback]
    ) -> None:
        self.learner, self.train, self.valid, self.base = learner, train, valid, base
        for data in (train,) if valid is None else (train, valid):
            check_features(data.features, data.feature_names, data.source, missing=learner.nan == "mean")
        self.watch = Monitor(
            learner, train, valid,
            rounds=learner.rounds, patience=learner.patience, based=base is not None, callbacks=callbacks,
        )  # fmt: skip
        self.objective = learner.objective(train)
        self.columns = Columns(train)
        self.scores = starting_scores(base, train, self.objective)
        self.valid_scores = np.empty(0) if valid is None else starting_scores(base, valid, self.objective)[0]
        self.sweep = Sweep(train, self.watch.measure) if learner.step == "exact" else None
        self.steps: list[float] = []
        """The exact weights, one per round."""
        self.weights = np.zeros(len(train.feature_names))
        self.kept = self.weights
        """The weights of the best round."""
        self.done = 0
        self.push, self.curvature = np.empty_like(self.scores), np.empty_like(self.scores)
        self.sketch = QuerySketch.of(train)

    def boost(self) -> Linear:
        """The loop."""
        self._measure()  # entry 0 of the history: what training starts from
        stopped = train_rounds(self)
        if self.base is None and not self.done:
            raise DataError(
                "no feature has anything to do with the grades, so there is nothing to rank by",
                place=self.train.source,
                value=len(self.train.feature_names),
                remedy="Give other features, or more queries",
            )
        return self._ranker(stopped)

    @property
    def most_rounds(self) -> int:
        return self.learner.rounds

    def is_over(self) -> bool:
        return self.watch.waited_long_enough(self.done)

    def tell(self) -> bool:
        return self.watch.tell(self.done, lambda: self._ranker("unfinished"))

    def take_round(self) -> bool:
        """The feature that explains the pushes best; whether there is one."""
        self.objective.gradients(self.scores, self.push, self.curvature)
        feature, factor = self.columns.best(self.push[0])
        if factor == 0.0:
            return False
        self._take(feature, self.learner.rate * self._weight(feature, factor) * factor)
        return True

    def _weight(self, feature: int, factor: float) -> float:
        """How many steps of least squares to take."""
        if self.sweep is None:
            return 1.0
        added = np.zeros(self.train.rows)
        self.columns.add(feature, factor, self.train.features, added)
        curve = self.sweep.curve(self.scores[0], added, self.learner.step_low, self.learner.step_high)
        self.steps.append(curve.best()[0])
        return self.steps[-1]

    def _take(self, feature: int, step: float) -> None:
        """Change the weight of a feature."""
        self.columns.add(feature, step, self.train.features, self.scores[0])
        if self.valid is not None:
            self.columns.add(feature, step, self.valid.features, self.valid_scores)
        self._measure()  # before the round is done: one that is interrupted here is not counted at all
        weights = self.weights.copy()
        weights[feature] += step
        if self.watch.best(self.done + 1) == self.done + 1:
            self.kept = weights
        self.weights, self.done = weights, self.done + 1

    def _measure(self) -> None:
        """Note the watched measure as things stand."""
        self.watch.take(lambda: self.scores[0], lambda: self.valid_scores)

    def _ranker(self, stopped: str) -> Linear:
        return Linear(
            feature_names=self.train.feature_names,
            weights=self.kept,
            centre=self.columns.centre,
            nan=self.learner.nan,
            settings=self.learner.settings(),
            history=self.watch.history(self.done, stopped, self.steps),
            sketch=self.sketch,
        )
