"""Job: what is trained, and how its rows are dealt out to machines."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankinite.trees.settings import TreeSettings


@dataclass(frozen=True, kw_only=True)
class Job:
    """One forest to be trained with LambdaMART from folders of bins."""

    rows: int
    features: int
    settings: TreeSettings
    trees: int = 500
    rows_per_query: int = 100
    train_history: bool = True
    """Whether the watched measure is taken on the training data after every tree."""

    @property
    def is_symmetric(self) -> bool:
        """Whether trees are grown level by level."""
        return self.settings.shape == "symmetric"

    @property
    def leaves(self) -> int:
        """Leaves that a tree has room for, as the grower counts them."""
        if self.is_symmetric:
            return 1 << self.settings.levels()
        return min(self.settings.leaves, max(2, self.rows))

    @property
    def splits(self) -> int:
        """Splits of a tree that has all its leaves; of a symmetric one its levels."""
        return self.settings.levels() if self.is_symmetric else self.leaves - 1

    @property
    def levels(self) -> float:
        """The levels of a balanced tree of so many leaves."""
        return math.log2(self.leaves)

    @property
    def queries(self) -> int:
        """Queries of all machines."""
        return -(-self.rows // self.rows_per_query)

    def queries_of(self, machines: int) -> int:
        """The queries of the machine that has most, if whole queries are dealt out evenly."""
        return -(-self.queries // machines)

    def rows_of(self, machines: int) -> int:
        """Its rows."""
        return min(self.rows, self.queries_of(machines) * self.rows_per_query)

    @property
    def tree_share(self) -> float:
        """The share of the rows that a tree is grown from."""
        return self.settings.row_share * self.settings.query_share
