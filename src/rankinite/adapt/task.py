"""Task: the background rankers, the target data and the measure of one adaptation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rankinite.choices import Batches
from rankinite.data.dataset import Dataset
from rankinite.measures.base import TrainableMeasure
from rankinite.models.base import Fitted


@dataclass(frozen=True, eq=False)
class Task:
    """Background rankers and target data, perhaps with validation data and the background's own."""

    backgrounds: Mapping[str, Fitted]
    target: Dataset
    measure: TrainableMeasure
    valid: Dataset | None = None
    background_data: Dataset | None = None
    folds: int | Batches = 5
    """Parts in which the target's queries are held out to judge methods; or its batches."""
    seed: int = 0

    def on(self, target: Dataset) -> Task:
        """The same with other target data."""
        return replace(self, target=target)
