"""RankNet's pairwise cost on boosted trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankinite.checks import check_positive
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.boosting import Boosting, StepSettings

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.gradients.base import Objective


@answers_foreign_names
@dataclass(frozen=True, kw_only=True)
class RankNetTrees(StepSettings, Boosting):
    """Boosted trees on RankNet's pairwise cost (paper 002 §2 with the trees of §7: LambdaMART with ΔZ = 1).

    Pairs come from the preferences that the data carry, or else from their grades.
    """

    takes_preferences = True

    sigma: float = 1.0
    """Steepness of the pair cost: how far apart two scores must be to count as settled."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_steps()
        check_positive("RankNetTrees", "sigma", self.sigma)
        object.__setattr__(self, "sigma", float(self.sigma))

    def objective(self, train: Dataset) -> Objective:
        """Pairs from preferences where there are some, else from grades."""
        from rankinite.gradients.ranknet import pairs_of

        return pairs_of(train, self.sigma)
