"""Slots: the values of a row that trees ask for, each with the side to which a missing one goes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import INDEX, Flags, Indices, frozen

Whole = npt.NDArray[np.uint32]


class Slots(NamedTuple):
    """Where the values of a row are copied before it walks down many trees, one slot per feature and missing side.

    A node then compares the value of its slot with its threshold and asks nothing else: where missing values go right
    they stay NaN, which is below nothing; where they go left they are copied as −∞, which is below everything.
    """

    columns: Indices
    """The column of each slot in the matrix that is scored."""
    right: int
    """In the first so many slots a missing value goes right, in the others left."""

    def at(self, columns: Indices | None) -> Slots:
        """The same features in another matrix, where feature f is in ``columns[f]``; None: in the same."""
        return self if columns is None else Slots(frozen(columns[self.columns]), self.right)


def slots_of(feature: npt.NDArray[np.integer], missing_left: Flags) -> tuple[Slots, Whole]:
    """The slots of nodes that ask for these features, and the slot of each node."""
    features = int(feature.max(initial=0)) + 1
    keys, slot = np.unique(feature.astype(INDEX) + features * missing_left.astype(INDEX), return_inverse=True)
    return Slots(frozen(keys % features), int(np.searchsorted(keys, features))), slot.astype(np.uint32)
