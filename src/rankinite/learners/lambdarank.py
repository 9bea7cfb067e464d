"""LambdaRank: a net or a linear ranker on λ-gradients, for any measure that says what swapping two documents changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankinite.checks import check_positive
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.base import TrainsForMeasure
from rankinite.learners.descent import Descent

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.gradients.base import Objective


@answers_foreign_names
@dataclass(frozen=True, kw_only=True)
class LambdaRank(TrainsForMeasure, Descent):
    """A net that climbs a measure such as NDCG (papers 002 §4, 004 §4.1); ``hidden=()`` makes it linear.

    >>> ranker = LambdaRank(measure="ndcg@10", hidden=(10,)).fit(train, valid)            # doctest: +SKIP
    """

    sigma: float = 1.0
    """Steepness of the pair cost: how far apart two scores must be to count as settled."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_measure()
        check_positive("LambdaRank", "sigma", self.sigma)
        object.__setattr__(self, "sigma", float(self.sigma))

    def objective(self, train: Dataset) -> Objective:
        """λ-gradients of the measure."""
        return self.lambdas(train, self.sigma)
