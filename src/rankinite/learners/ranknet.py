"""RankNet: a net or a linear ranker on the pairwise cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankinite.checks import check_positive
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.descent import Descent

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.gradients.base import Objective


@answers_foreign_names
@dataclass(frozen=True, kw_only=True)
class RankNet(Descent):
    """A net on RankNet's pairwise cost (paper 002 §2): LambdaRank with ΔZ = 1; ``hidden=()`` makes it linear.

    Pairs come from the preferences that the data carry, or else from their grades.
    """

    takes_preferences = True

    sigma: float = 1.0
    """Steepness of the pair cost: how far apart two scores must be to count as settled."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("RankNet", "sigma", self.sigma)
        object.__setattr__(self, "sigma", float(self.sigma))

    def objective(self, train: Dataset) -> Objective:
        """Pairs from preferences where there are some, else from grades."""
        from rankinite.gradients.ranknet import pairs_of

        return pairs_of(train, self.sigma)
