"""McRank: boosted trees that tell the grades apart as classes; a document's score is its expected grade."""

from __future__ import annotations

from dataclasses import dataclass

from rankinite.data.dataset import Dataset
from rankinite.gradients.base import Objective
from rankinite.gradients.multiclass import Multiclass
from rankinite.rankers.boosting import Boosting


@dataclass(frozen=True, kw_only=True)
class McRank(Boosting):
    """Multiclass boosting: one tree for each grade a round (what paper 000 §5 compares with).

    A forest of n rounds on K grades has n × K trees, and ``len(forest)`` counts them all.
    """

    def objective(self, train: Dataset) -> Objective:
        """Multiclass logistic loss."""
        return Multiclass(train)
