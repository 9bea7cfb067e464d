"""MART: boosted regression trees on the grades, with squared or logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from rankinite.checks import check_choice, check_count, check_number, check_positive
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.boosting import Boosting, StepSettings

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.gradients.base import Objective

Loss = Literal["squared", "graded", "binary", "balanced"]
"""Losses under which a score stands for a probability."""

MOST_GRADES = 100
"""Targets with more different values are no grades."""


@answers_foreign_names
@dataclass(frozen=True, kw_only=True)
class MART(StepSettings, Boosting):
    """Gradient boosted trees on the grades of single documents (papers 002 §5–6, 003 §3, 004 §4.2)."""

    loss: Loss = "squared"
    """squared (regression: a score is a grade), graded (logistic on the probability of a grade), binary (two-class logistic) or
    balanced (the same, both classes counting alike). Under the last three a score is log-odds divided by 2 sigma."""
    sigma: float = 1.0
    """Steepness of the logistic loss: a score s stands for the probability 1/(1 + exp(−2 sigma s))."""
    max_grade: int = 4
    """The highest grade there can be, for loss graded: grade g has probability (2^g − 1)/2^max_grade."""
    relevant: float = 1.0
    """The lowest grade that counts as relevant, for losses binary and balanced."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_steps()
        check_choice("MART", "loss", self.loss, get_args(Loss))
        check_positive("MART", "sigma", self.sigma)
        object.__setattr__(self, "sigma", float(self.sigma))
        check_count("MART", "max_grade", self.max_grade)
        check_number("MART", "relevant", self.relevant)

    def facts(self, train: Dataset) -> dict[str, Any]:
        """For squared loss, whose forests predict grades: how many queries have which highest grade."""
        if self.loss != "squared":
            return {}
        import numpy as np

        from rankinite.engine.over_members import gathered

        each = np.maximum.reduceat(train.grades, train.offsets[:-1])
        highest, queries = np.unique(gathered(train.members, each), return_counts=True)
        if len(highest) > MOST_GRADES:
            return {}
        return {"highest_grades": {f"{grade:.17g}": count for grade, count in zip(highest, queries.tolist(), strict=True)}}

    def objective(self, train: Dataset) -> Objective:
        """The loss asked for."""
        from rankinite.gradients.pointwise import LOSSES, Logistic, SquaredLoss

        if self.loss not in LOSSES:
            return SquaredLoss(train)
        return Logistic(
            train,
            "graded" if self.loss == "graded" else "binary",
            self.sigma,
            balanced=self.loss == "balanced",
            max_grade=self.max_grade,
            relevant=self.relevant,
        )
