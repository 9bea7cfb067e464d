"""Scores of a base ranker, computed while data are coded, as nothing can be scored without features afterwards."""

from __future__ import annotations

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.grouping import TEXT
from rankinite.engine.kernel import FEATURE, GRADE, Floats
from rankinite.evaluation.scorers import Scorer, match_to, scores_of
from rankinite.models.base import content_key


class BaseScores:
    """A base ranker with its features as the data call them."""

    def __init__(self, base: Scorer, feature_names: tuple[str, ...], source: str) -> None:
        no_rows = Dataset(
            features=np.empty((0, len(feature_names)), FEATURE),
            grades=np.empty(0, GRADE),
            offsets=np.zeros(1, np.int64),
            qids=np.empty(0, TEXT),
            feature_names=feature_names,
            source=source,
        )
        self._base = match_to(base, no_rows)[0]
        self.key = content_key(self._base, "base")

    def of(self, piece: Dataset) -> Floats:
        """The scores of some rows."""
        return scores_of(self._base, piece, "base")
