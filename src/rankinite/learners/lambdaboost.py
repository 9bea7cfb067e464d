"""LambdaBoost: λ-gradients followed one feature at a time (paper 001 §4.1). The loop itself is in ``lambdaboost_run``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from rankinite.checks import check_choice, check_count, check_positive, check_rate, plain_numbers
from rankinite.choices import MissingValues
from rankinite.errors import ArgumentError
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.base import Callback, TrainsForMeasure

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.scorers import Scorer
    from rankinite.gradients.base import Objective
    from rankinite.models.blend import Blend
    from rankinite.models.linear import Linear

LineStep = Literal["least-squares", "exact"]


@answers_foreign_names
@dataclass(frozen=True, kw_only=True)
class LambdaBoost(TrainsForMeasure):
    """A linear ranker, or a linear correction of ``base``, found one feature a round.

    >>> ranker = LambdaBoost(measure="ndcg@10").fit(train, valid, base=background)            # doctest: +SKIP
    """

    rounds: int = 500
    """Rounds of boosting, at most; each changes the weight of one feature."""
    rate: float = 0.5
    """Shrinkage of each step, in (0, 1]."""
    patience: int | None = None
    """Rounds without a better value on the validation data before training ends; no limit if left out, as a feature may be
    chosen many times before the ranking changes."""
    step: LineStep = "least-squares"
    """How far to go along a feature: least-squares on the gradients, or exact, that times the weight which is best for the
    watched measure on the training data."""
    step_low: float = 0.1
    """The lowest exact weight of a step; above 0, as a step of 0 would come again for ever."""
    step_high: float = 5.0
    """The highest exact weight of a step."""
    sigma: float = 1.0
    """Steepness of the pair cost: how far apart two scores must be to count as settled."""
    nan: MissingValues = "refuse"
    """What a missing value (NaN) is: refused, or taken for the feature's mean."""

    def __post_init__(self) -> None:
        plain_numbers(self)
        self.check_watch()
        self.check_measure()
        check_count("LambdaBoost", "rounds", self.rounds)
        check_rate("LambdaBoost", self.rate)
        if self.patience is not None:
            check_count("LambdaBoost", "patience", self.patience)
        check_choice("LambdaBoost", "step", self.step, get_args(LineStep))
        check_choice("LambdaBoost", "nan", self.nan, get_args(MissingValues))
        for number in ("step_low", "step_high", "sigma"):
            check_positive("LambdaBoost", number, getattr(self, number))
        if self.step_low >= self.step_high:
            raise ArgumentError(
                f"must be below `step_high={self.step_high:g}`",
                owner="LambdaBoost",
                setting="step_low",
                value=self.step_low,
                rule="Weights run from one to the other",
            )
        for number in ("rate", "step_low", "step_high", "sigma"):
            object.__setattr__(self, number, float(getattr(self, number)))  # 1 and 1.0 must make the same model file

    def objective(self, train: Dataset) -> Objective:
        """λ-gradients of the measure."""
        return self.lambdas(train, self.sigma)

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Linear | Blend:
        """Train a ranker.

        With ``valid`` the weights are those of the round in which the watched measure was best on it. ``base`` is any ranker:
        its scores are corrected, and it is part of the result, which is one linear ranker when the base is one and no values
        are missing. What has been changed is told by :meth:`Linear.changes`. Queries that ``train`` and ``valid`` share are
        refused unless ``allow_overlap`` is true. Ctrl-C ends training and keeps what there is.
        """
        from rankinite.learners.lambdaboost_run import boost_features
        from rankinite.learners.training_checks import match_base, refuse_categories, refuse_checkpoints, training_data

        train = training_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        refuse_categories(type(self).__name__, train)
        refuse_checkpoints(type(self).__name__, callbacks)
        return boost_features(self, train, valid, match_base(base, train), callbacks)
