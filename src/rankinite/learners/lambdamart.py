"""LambdaMART: boosted trees on λ-gradients, for any measure that says what swapping two documents changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from rankinite.checks import check_choice, check_count, check_flag, check_number, check_positive
from rankinite.choices import Debias
from rankinite.errors import ArgumentError
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.base import TrainsForMeasure
from rankinite.learners.boosting import Boosting, StepSettings
from rankinite.trees.settings import Shape

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.gradients.base import Objective
    from rankinite.gradients.debiased import Debiased


@answers_foreign_names
@dataclass(frozen=True, kw_only=True)
class LambdaMART(TrainsForMeasure, StepSettings, Boosting):
    """Boosted trees that climb a measure such as NDCG (papers 002 §7, 000 §3).

    >>> ranker = LambdaMART(measure="ndcg@10").fit(train, valid)                       # doctest: +SKIP

    Its trees are symmetric, slow and drawn from some of the rows, which ranked best on twelve sets (benchmarks/defaults.py);
    ``plain`` has the settings of the other learners instead: best-first trees on all rows, and λ of the measure itself.
    """

    # What these settings mean is said where all learners of trees have them.
    trees: int | None = None
    leaves: int = 64
    shape: Shape = "symmetric"
    row_share: float = 0.7
    rate: float = 0.05
    patience: int | None = 200
    sigma: float = 1.0
    """Steepness of the pair cost: how far apart two scores must be to count as settled."""
    reach: int = 3
    """How many times as far as the measure's cutoff the λ look: 3 trains for ndcg@30 where ndcg@10 is asked for and watched, as
    documents below the cutoff have something to teach too; 1 trains for the measure itself, as do all that have no cutoff."""
    truncation: int | None = None
    """Only pairs with a document above this rank are looked at; no limit but the measure's own if left out."""
    normalise: bool = True
    """Whether gradients are scaled as LightGBM does, so that no query and no settled pair dominates; no: the papers' λ.
    Additive debiasing of clicks scales nothing."""
    debias: Debias | None = None
    """For clicks as grades, with the positions at which documents were shown: pairwise first estimates how prominently each
    position is looked at, by the likelihood of clicks; additive learns a bias of each position beside the score. Both are added
    where scores meet clicks, and are no part of the ranker."""
    debias_power: float = 1.0
    """How far the estimates are trusted: biases are multiplied by this, from 0 (not at all) to 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_steps()
        self.check_measure()
        check_positive("LambdaMART", "sigma", self.sigma)
        object.__setattr__(self, "sigma", float(self.sigma))
        check_count("LambdaMART", "reach", self.reach)
        if self.truncation is not None:
            check_count("LambdaMART", "truncation", self.truncation)
        check_flag("LambdaMART", "normalise", self.normalise)
        self._check_debias()

    def _check_debias(self) -> None:
        if self.debias is not None:
            check_choice("LambdaMART", "debias", self.debias, get_args(Debias))
        check_number("LambdaMART", "debias_power", self.debias_power, 0.0, 1.0)
        object.__setattr__(self, "debias_power", float(self.debias_power))
        if self.debias is not None and (self.step != "newton" or self.reoptimise):
            raise ArgumentError(
                "cannot be combined with exact weights of trees, which would climb the clicks as they are",
                owner="LambdaMART",
                setting="debias",
                value=self.debias,
                remedy="Leave `step` and `reoptimise` out",
            )

    def settings(self) -> dict[str, Any]:
        """All settings as plain values; those of debiasing only where clicks are debiased: other models keep their bytes."""
        values = super().settings()
        return values if self.debias is not None else {n: v for n, v in values.items() if not n.startswith("debias")}

    @classmethod
    def plain_settings(cls) -> dict[str, Any]:
        """What all learners of trees share, and λ of the measure itself."""
        return {**super().plain_settings(), "reach": 1}

    @classmethod
    def paper_settings(cls) -> dict[str, Any]:
        """Where the papers differ from :meth:`plain`: splits by least squares, and λ not scaled by query or pair."""
        return {**super().paper_settings(), "normalise": False}

    def objective(self, train: Dataset) -> Objective:
        """λ-gradients of the measure; debiased, if that is asked for."""
        if self.debias is not None:
            return self.debiased(train, self.debias, self.debias_power)
        return self.lambdas(train, self.sigma, self.truncation, normalise=self.normalise, reach=self.reach)

    def debiased(self, train: Dataset, debias: Debias, power: float) -> Debiased:
        """λ-gradients of clicks, by the estimator of this name."""
        from rankinite.gradients.debiased import AdditiveDebiased, PairwiseDebiased

        measure = self.trained_measure(self.reach)
        if debias == "additive":
            return AdditiveDebiased(train, measure, self.sigma, self.truncation, power=power)
        from rankinite.learners.click_examination import estimated_examination

        found = estimated_examination(self, train)
        return PairwiseDebiased(train, measure, self.sigma, self.truncation, found, normalise=self.normalise, power=power)
