"""Twin of the sets of an exported C file: groups of categories, and the groups that go left at each node."""

from __future__ import annotations

import re

import numpy as np

from rankinite.engine.kernel import Floats, Indices, Reals
from rankinite.serving.categories import members_of


class SetTables:
    """The tables of categories, groups and sets of one forest."""

    def __init__(self, categories: str, groups: Floats, words: Floats, numbers: int) -> None:
        """``numbers``: slots that come before those of categories."""
        cells = re.findall(r"\{(\d+),(\d+),(\d+),(\d+)\}", categories)
        self.columns, self._counts, self._first, self._missing = np.asarray(cells, np.int64).T
        self._groups, self._words, self._numbers = groups, words.astype(np.uint32), numbers

    def grouped(self, matrix: Reals) -> Reals:
        """Rows with groups in place of categories."""
        rows = matrix.copy()
        for column, count, first, missing in zip(self.columns, self._counts, self._first, self._missing, strict=True):
            values = matrix[:, column]
            inside = (values > -1) & (values < count)
            places = first + np.where(inside, np.trunc(values), 0).astype(np.int64)
            rows[:, column] = np.where(inside, self._groups[places], missing)
        return rows

    def members(self, slot: Indices, threshold: Floats) -> list[list[int] | None]:
        """The groups that go left at each node; None where it has no set."""
        places = (slot - self._numbers).tolist()
        words = (self._missing // 32 + 1).tolist()
        starts = np.where(slot >= self._numbers, threshold, 0.0).astype(np.int64).tolist()
        return [
            None if place < 0 else members_of(self._words[start : start + words[place]])
            for place, start in zip(places, starts, strict=True)
        ]
