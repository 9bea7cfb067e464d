"""LambdaRank: a net or a linear ranker on λ-gradients, for any measure that says what swapping two documents changes."""

from __future__ import annotations

from dataclasses import dataclass

from rankinite.checks import check_positive
from rankinite.data.dataset import Dataset
from rankinite.evaluation.inputs import as_measures, one_measure
from rankinite.gradients.base import Objective
from rankinite.gradients.lambdas import Lambdas, trainable
from rankinite.learners.descent import Descent
from rankinite.measures.base import Measure
from rankinite.measures.dcg import NDCG


@dataclass(frozen=True, kw_only=True)
class LambdaRank(Descent):
    """A net that climbs a measure such as NDCG (papers 002 §4, 004 §4.1); ``hidden=()`` makes it linear.

    >>> ranker = LambdaRank(measure="ndcg@10", hidden=(10,)).fit(train, valid)            # doctest: +SKIP
    """

    measure: Measure | str = NDCG(10)
    """The measure to train for: ndcg@10, err, map, mrr, dcg@5, or any other that is trainable."""
    sigma: float = 1.0
    """Steepness of the pair cost: how far apart two scores must be to count as settled."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "measure", trainable(one_measure("LambdaRank", "measure", self.measure)))
        check_positive("LambdaRank", "sigma", self.sigma)
        object.__setattr__(self, "sigma", float(self.sigma))

    def objective(self, train: Dataset) -> Objective:
        """λ-gradients of the measure."""
        return Lambdas(train, trainable(as_measures(self.measure)[0]), self.sigma)

    def watched(self) -> Measure:
        """What is trained for, unless another measure is asked for."""
        return super().watched() if self.watch is not None else as_measures(self.measure)[0]
