"""LambdaMART: boosted trees on λ-gradients, for any measure that says what swapping two documents changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankinite.checks import check_count, check_flag, check_positive
from rankinite.data.dataset import Dataset
from rankinite.evaluation.inputs import as_measures, one_measure
from rankinite.gradients.base import Objective
from rankinite.gradients.lambdas import Lambdas, trainable
from rankinite.learners.boosting import Boosting
from rankinite.learners.exact_steps import StepSettings
from rankinite.measures.base import Measure
from rankinite.measures.dcg import NDCG


@dataclass(frozen=True, kw_only=True)
class LambdaMART(StepSettings, Boosting):
    """Boosted trees that climb a measure such as NDCG (papers 002 §7, 000 §3).

    >>> ranker = LambdaMART(measure="ndcg@10", trees=300).fit(train, valid)            # doctest: +SKIP
    """

    measure: Measure | str = NDCG(10)
    """The measure to train for: ndcg@10, err, map, mrr, dcg@5, or any other that is trainable."""
    sigma: float = 1.0
    """Steepness of the pair cost: how far apart two scores must be to count as settled."""
    truncation: int | None = None
    """Only pairs with a document above this rank are looked at; no limit but the measure's own if left out."""
    normalise: bool = True
    """Whether gradients are scaled as LightGBM does, so that no query and no settled pair dominates; no: the papers' λ."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_steps()
        object.__setattr__(self, "measure", trainable(one_measure("LambdaMART", "measure", self.measure)))
        check_positive("LambdaMART", "sigma", self.sigma)
        object.__setattr__(self, "sigma", float(self.sigma))
        if self.truncation is not None:
            check_count("LambdaMART", "truncation", self.truncation)
        check_flag("LambdaMART", "normalise", self.normalise)

    @classmethod
    def paper_settings(cls) -> dict[str, Any]:
        """Where the papers differ from our defaults: splits by least squares, and λ not scaled by query or pair."""
        return {**super().paper_settings(), "normalise": False}

    def objective(self, train: Dataset) -> Objective:
        """λ-gradients of the measure."""
        return Lambdas(train, trainable(as_measures(self.measure)[0]), self.sigma, self.truncation, normalise=self.normalise)

    def watched(self) -> Measure:
        """What is trained for, unless another measure is asked for."""
        return super().watched() if self.watch is not None else as_measures(self.measure)[0]
