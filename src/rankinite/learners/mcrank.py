"""McRank: boosted trees that tell the grades apart as classes; a document's score is its expected grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankinite.errors import ArgumentError
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.boosting import Boosting

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.gradients.base import Objective


@answers_foreign_names
@dataclass(frozen=True, kw_only=True)
class McRank(Boosting):
    """Multiclass boosting: one tree for each grade a round (what paper 000 §5 compares with).

    A forest of n rounds on K grades has n × K trees, and ``len(forest)`` counts them all.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.monotone:
            raise ArgumentError(
                "cannot be kept: the expected grade need not rise with the scores of the grades",
                owner="McRank",
                setting="monotone",
                value=self.monotone,
                remedy="Use MART or LambdaMART",
            )

    def objective(self, train: Dataset) -> Objective:
        """Multiclass logistic loss."""
        from rankinite.gradients.pointwise import Multiclass

        return Multiclass(train)
