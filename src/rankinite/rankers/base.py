"""What a ranker promises."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rankinite.data.dataset import Dataset
from rankinite.kernel import Floats


@runtime_checkable
class Ranker(Protocol):
    """An immutable fitted model: gives every document a score; higher ranks higher."""

    def score(self, data: Dataset) -> Floats:
        """One score a row, in the order of the data's rows."""
        ...
