"""The estimate of examination that LambdaMART makes of clicks before it learns from them: by a short forest of its own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from rankinite.data.dataset import Dataset
from rankinite.gradients.examination import Examination
from rankinite.gradients.pair_balance import PairBalance
from rankinite.learners.boosting_run import boost
from rankinite.learners.lambdamart import LambdaMART
from rankinite.models.forest import Forest

ROUNDS, RATE = 50, 0.1
"""Three times as many rounds moved the curve little on the three logs tried."""


@dataclass(frozen=True, kw_only=True)
class Pilot(LambdaMART):
    """A forest that is trained for the curve it leaves behind."""

    def objective(self, train: Dataset) -> PairBalance:
        """λ beside which the curve is estimated."""
        return PairBalance(train, self.trained_measure(self.reach), self.sigma, self.truncation)


def estimated_examination(learner: LambdaMART, train: Dataset) -> Examination:
    """How prominently positions of a click log are looked at; by trees as the learner's, whatever its number of them."""
    settings: dict[str, Any] = {field.name: getattr(learner, field.name) for field in fields(learner)}
    settings.update(trees=ROUNDS, rate=RATE, train_history=False)
    forest = boost(Pilot(**settings), train, None, None, ())
    assert isinstance(forest, Forest)
    assert forest.history is not None
    if forest.history.stopped == "interrupted":  # Ctrl-C ends what the estimate is for too
        raise KeyboardInterrupt
    assert forest.history.examination is not None
    return forest.history.examination
