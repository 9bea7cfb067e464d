"""Trees as flat arrays: what the grower makes, forests hold and model files store.

A row goes left at a node when ``x[feature] <= threshold``; where the feature is missing (NaN), when ``missing_left`` is true.
The nodes of a tree are adjacent and its root comes first; ``left`` and ``right`` count from the tree's own root, so that
trees can be cut out and put together without renumbering.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Flags, Floats, Indices, frozen
from rankinite.errors import DataError

LEAF = -1
"""The feature of a node that has no children."""

Integers = npt.NDArray[np.int32]

DTYPES: dict[str, Any] = {
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": np.bool_,
    "left": np.int32,
    "right": np.int32,
    "value": np.float64,
    "rows": np.int64,
    "curvature": np.float64,
    "gain": np.float64,
    "offsets": np.int64,
}


@dataclass(frozen=True, eq=False, repr=False)
class Trees:
    """Any number of trees; node n belongs to tree t when ``offsets[t] <= n < offsets[t + 1]``. Arrays are read-only."""

    feature: Integers
    """The feature asked, or ``LEAF``."""
    threshold: Floats
    """Values up to this go left; 0 in leaves."""
    missing_left: Flags
    """Whether a missing value goes left."""
    left: Integers
    """The left child, counted from the tree's root; 0 in leaves."""
    right: Integers
    """The right child, likewise."""
    value: Floats
    """What the tree adds to the score of a row that ends here, shrinkage included; inner nodes have one too."""
    rows: Indices
    """How many training rows came by."""
    curvature: Floats
    """The sum of their curvatures."""
    gain: Floats
    """What the split improved (symmetric: the level's gain, shared evenly among its nodes); 0 in leaves."""
    offsets: Indices
    """trees + 1 node numbers."""

    def __post_init__(self) -> None:
        for name, dtype in DTYPES.items():
            object.__setattr__(self, name, frozen(np.ascontiguousarray(getattr(self, name), dtype)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<Trees: {len(self)} trees, {len(self.feature)} nodes>"

    def take(self, first: int, last: int) -> Trees:
        """The trees first … last−1."""
        start, end = self.offsets[first], self.offsets[last]
        nodes = {name: getattr(self, name)[start:end] for name in DTYPES if name != "offsets"}
        return Trees(**nodes, offsets=self.offsets[first : last + 1] - start)

    def tell_rows_apart(self) -> bool:
        """Whether leaves of any tree differ; those of a symmetric tree may all have taken the value of the root."""
        if not len(self.feature):
            return False
        values = np.where(self.feature < 0, self.value, np.nan)
        highest, lowest = (pick.reduceat(values, self.offsets[:-1]) for pick in (np.fmax, np.fmin))
        return bool((highest > lowest).any())

    def largest_sum(self) -> float:
        """The most that the trees can add up to, whichever leaves rows end in: the sum of each tree's largest |leaf|."""
        if not len(self):
            return 0.0
        sizes = np.where(self.feature == LEAF, np.abs(self.value), 0.0)
        with np.errstate(over="ignore"):
            return float(np.maximum.reduceat(sizes, self.offsets[:-1]).sum())

    def check(self, features: int, place: str) -> None:
        """Refuse arrays that are not trees over this many features: broken or hostile files must not crash the kernels."""
        nodes = len(self.feature)
        sound = (
            all(getattr(self, name).ndim == 1 for name in DTYPES)
            and all(len(getattr(self, name)) == nodes for name in DTYPES if name != "offsets")
            and len(self.offsets) > 0
            and self.offsets[0] == 0
            and self.offsets[-1] == nodes
            and bool(((self.offsets >= 0) & (self.offsets <= nodes)).all())  # first of all: differences of huge numbers wrap
            and bool((np.diff(self.offsets) > 0).all())
        )
        if not sound:
            raise _damaged(place, "the arrays of the trees do not fit together")
        place_in_tree = np.arange(nodes) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        size = np.repeat(np.diff(self.offsets), np.diff(self.offsets))
        inner = self.feature != LEAF
        # Children come after their parent, so that every walk comes to an end.
        ahead = (self.left > place_in_tree) & (self.left < size) & (self.right > place_in_tree) & (self.right < size)
        known = (self.feature >= LEAF) & (self.feature < features)
        if not (known.all() and ahead[inner].all() and np.isfinite(self.value).all() and not np.isnan(self.threshold).any()):
            raise _damaged(
                place, "a node asks for an unknown feature, points outside its tree, or has a value that is no number"
            )
        root = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        children = np.concatenate(((root + self.left)[inner], (root + self.right)[inner]))
        if not np.array_equal(np.bincount(children, minlength=nodes), place_in_tree > 0):
            raise _damaged(place, "a node other than a root has no parent, or has two")


def _damaged(place: str, problem: str) -> DataError:
    return DataError(problem, place=place, rule="The file is damaged", remedy="Make it again")


def join(parts: Sequence[Trees]) -> Trees:
    """All trees of several, in order."""
    if not parts:
        return no_trees()
    nodes = {name: np.concatenate([getattr(part, name) for part in parts]) for name in DTYPES if name != "offsets"}
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    return Trees(**nodes, offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))))


def no_trees() -> Trees:
    """An empty sequence of trees."""
    empty: dict[str, Any] = {name: np.zeros(1 if name == "offsets" else 0, dtype) for name, dtype in DTYPES.items()}
    return Trees(**empty)
