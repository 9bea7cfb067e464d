"""The rows that edges are made from, picked out of a stream: those with the lowest content keys, as in memory."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import FEATURE, Features
from rankinite.trees._state import Keys
from rankinite.trees.bins import lowest_rows


class LowestRows:
    """The ``count`` rows with the lowest keys of all that were shown, and at most as many again that wait to be dropped."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._keys: list[Keys] = []
        self._rows: list[Features] = []
        self._held = 0
        self._bound: np.uint64 | None = None  # no row above it can be among the lowest

    def show(self, keys: Keys, features: Features) -> None:
        """Look at rows, shape (rows, features). Later rows may have more features than earlier ones."""
        if self._bound is not None:
            chosen = np.flatnonzero(keys < self._bound)
            keys, features = keys[chosen], features[chosen]
        if not len(keys):
            return
        self._keys.append(keys.copy())
        self._rows.append(features.copy())
        self._held += len(keys)
        if self._held > 2 * self._count:
            self._drop()

    def rows(self, width: int) -> Features:
        """The rows, each with 0 for the features that came up only later; shape (at most count, width)."""
        if self._held > self._count:
            self._drop()
        found = np.zeros((self._held, width), FEATURE)
        start = 0
        for part in self._rows:
            found[start : start + len(part), : part.shape[1]] = part
            start += len(part)
        return found

    def _drop(self) -> None:
        """Drop all but the lowest."""
        keys = np.concatenate(self._keys)
        chosen = lowest_rows(keys, self._count)
        width = max(part.shape[1] for part in self._rows)
        ends = np.cumsum([len(part) for part in self._rows])
        kept = np.zeros((self._count, width), FEATURE)
        for part, end in zip(self._rows, ends.tolist(), strict=True):
            start = end - len(part)
            places = np.flatnonzero((chosen >= start) & (chosen < end))
            kept[places, : part.shape[1]] = part[chosen[places] - start]
        self._keys, self._rows, self._held = [keys[chosen]], [kept], self._count
        self._bound = keys[chosen].max()
