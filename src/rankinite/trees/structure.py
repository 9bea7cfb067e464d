"""Trees as flat arrays: what the grower makes, forests hold and model files store.

A row goes left at a node when ``x[feature] <= threshold``; where the feature is missing (NaN), when ``missing_left`` is true.
A node with a *set* asks for a category instead: a row goes left when its code is in the set, otherwise right, whether or not
the category was ever seen; only missing ones go where ``missing_left`` says.
The nodes of a tree are adjacent and its root comes first; ``left`` and ``right`` count from the tree's own root, so that
trees can be cut out and put together without renumbering.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.categories import MOST
from rankinite.engine.kernel import Flags, Floats, Indices, frozen
from rankinite.errors import DataError
from rankinite.pickles import StablePickle
from rankinite.plurals import counted

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
SET_DTYPES: dict[str, Any] = {"set_starts": np.int64, "set_codes": np.int32}
"""The arrays of sets, empty in trees that ask for no category."""


@dataclass(frozen=True, eq=False, repr=False)
class Trees(StablePickle):
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
    set_starts: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    """nodes + 1 places in ``set_codes``: node n has the set ``set_codes[set_starts[n]:set_starts[n + 1]]``, or, where that is
    empty, a threshold. Empty where no node has a set."""
    set_codes: Integers = field(default_factory=lambda: np.zeros(0, np.int32))
    """The codes of all sets, rising within each."""

    def __post_init__(self) -> None:
        for name, dtype in (DTYPES | SET_DTYPES).items():
            object.__setattr__(self, name, frozen(np.ascontiguousarray(getattr(self, name), dtype)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<Trees: {counted(len(self), 'tree')}, {counted(len(self.feature), 'node')}>"

    @property
    def has_sets(self) -> bool:
        """Whether a node asks for a category."""
        return len(self.set_codes) > 0

    @property
    def set_sizes(self) -> Indices:
        """How many codes the set of each node has; 0: it has a threshold."""
        return np.diff(self.set_starts) if self.has_sets else np.zeros(len(self.feature), np.int64)

    def set_of(self, node: int) -> list[int]:
        """The codes that go left at a node; none where it has a threshold."""
        return self.set_codes[self.set_starts[node] : self.set_starts[node + 1]].tolist() if self.has_sets else []

    def take(self, first: int, last: int) -> Trees:
        """The trees first … last−1."""
        start, end = self.offsets[first], self.offsets[last]
        kept = self.take_nodes(slice(start, end))
        return replace(kept, offsets=self.offsets[first : last + 1] - start)

    def take_nodes(self, nodes: slice | npt.NDArray[Any]) -> Trees:
        """Some nodes, in this order, as if they were one tree; the numbers of children stay as they are."""
        arrays = {name: getattr(self, name)[nodes] for name in DTYPES if name != "offsets"}
        sets = _chosen_sets(self, np.arange(len(self.feature))[nodes]) if self.has_sets else {}
        return Trees(**arrays, offsets=np.asarray([0, len(arrays["feature"])]), **sets)

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
        if len(self.set_starts) or self.has_sets:
            _check_sets(self, place)
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


def sets_of(sets: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The arrays of sets, given for every node; an empty one for a node with a threshold."""
    if not any(sets):
        return {}
    codes = [code for one in sets for code in sorted(one)]
    return {"set_starts": np.cumsum([0, *map(len, sets)]), "set_codes": np.asarray(codes, np.int32)}


def _chosen_sets(trees: Trees, nodes: Indices) -> dict[str, Any]:
    """The arrays of the sets of some nodes."""
    sizes = trees.set_sizes[nodes]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    if not starts[-1]:
        return {}
    places = np.repeat(trees.set_starts[nodes] - starts[:-1], sizes) + np.arange(starts[-1])
    return {"set_starts": starts, "set_codes": trees.set_codes[places]}


def _check_sets(trees: Trees, place: str) -> None:
    """Refuse sets that are no lists of rising codes, one for each node that asks for a category."""
    starts, codes = trees.set_starts, trees.set_codes
    sound = (
        starts.ndim == codes.ndim == 1
        and len(starts) == len(trees.feature) + 1
        and starts[0] == 0
        and starts[-1] == len(codes)
        and bool(((starts >= 0) & (starts <= len(codes))).all())
        and bool((starts[1:] >= starts[:-1]).all())
        and not np.diff(starts)[trees.feature == LEAF].any()
        and bool(((codes >= 0) & (codes < MOST)).all())
    )
    rising = np.ones(len(codes), np.bool_)
    if sound and len(codes):
        rising[1:] = codes[1:] > codes[:-1]
        rising[starts[:-1][np.diff(starts) > 0]] = True
    if not sound or not rising.all():
        raise _damaged(place, "the sets of categories do not fit the nodes, or their codes do not rise")


def _damaged(place: str, problem: str) -> DataError:
    return DataError(problem, place=place, rule="The file is damaged", remedy="Make it again")


def join(parts: Sequence[Trees]) -> Trees:
    """All trees of several, in order."""
    if not parts:
        return no_trees()
    nodes = {name: np.concatenate([getattr(part, name) for part in parts]) for name in DTYPES if name != "offsets"}
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    sets: dict[str, Any] = {}
    if any(part.has_sets for part in parts):
        set_sizes = np.concatenate([part.set_sizes for part in parts])
        sets["set_starts"] = np.concatenate((np.zeros(1, np.int64), np.cumsum(set_sizes)))
        sets["set_codes"] = np.concatenate([part.set_codes for part in parts])
    return Trees(**nodes, offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))), **sets)


def no_trees() -> Trees:
    """An empty sequence of trees."""
    empty: dict[str, Any] = {name: np.zeros(1 if name == "offsets" else 0, dtype) for name, dtype in DTYPES.items()}
    return Trees(**empty)


def float32_below(numbers: Floats) -> npt.NDArray[np.float32]:
    """The largest float32 that is not above each number: to a float32 value, both are the same threshold."""
    with np.errstate(over="ignore"):  # a number just above −inf becomes −inf
        near = numbers.astype(np.float32)
        return np.where(near > numbers, np.nextafter(near, np.float32(-np.inf)), near)
