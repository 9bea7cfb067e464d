"""What the kernels of growth share: sizes, the records they work on, and the small loops and draws that all of them use.

Notation: a *cell* is one int64 that holds a sum of pushes in its high bits and, in its low ``LOW`` bits, the sum of what the
split criterion divides by: curvatures for ``newton``, rows for ``mse``, or the weights of rows where these differ. Adding
cells adds both sums at once, and exactly, so sums depend neither on the order of the rows nor on the threads, and a sibling is
the parent minus the child to the last bit.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rankinite.engine._hash_kernels import STEP, mixed
from rankinite.engine.kernel import Bytes, Flags, Floats, Indices, lean_kernel

LOW: Final = 30
"""Bits of a cell for curvature, count or weight; the other 34 hold the push."""
MASK: Final = (1 << LOW) - 1
BINS: Final = 256
"""Codes of a feature, the one for missing values included."""
MISSING: Final = 255
"""The code of a missing value (NaN)."""
MISSING_LEFT: Final = 256
"""Added to the code after which a node cuts: missing values go left."""
SET: Final = -1
"""In place of the code after which a node cuts: it has a set of codes."""
WORDS: Final = 8
"""Words of eight codes that a row has in a block."""
WIDTH: Final = 8 * WORDS
"""Features in a block of codes: a row's codes in it are one cache line, as rows are mostly visited here and there."""
WIDTH_SHIFT: Final = 6
"""WIDTH is 2 to this power."""

DONE: Final = 0
NOT_FINITE: Final = -1
"""In place of a size: a push or a curvature is not a finite number."""
LOST: Final = -2
"""In place of a size: another member did not answer."""

ROOT: Any = np.int64(0)
NONE: Any = np.int64(-1)
ONE: Any = np.int64(1)
"""Not plain 0, −1 and 1: Numba would compile everything that is called with a literal once more."""

NODE, GOES_ON, SMALL, FAILED = 0, 1, 2, 3
"""Places in the plan: the node to split (−1: none); whether its children may be split in turn; and, of members, the child
whose histogram is filled; whether one did not answer."""

Keys = npt.NDArray[np.uint64]
Short = npt.NDArray[np.int32]


# ---- records ---------------------------------------------------------------------------------------------------------


class Growth(NamedTuple):
    """The settings of one tree."""

    leaves: int
    depth: int
    min_rows: int
    min_curvature: float
    l2: float
    newton: bool
    random_thresholds: bool
    row_share: float
    """Share of a node's rows drawn to find its split; 1.0: all, none drawn."""
    feature_share: float
    """Share of the features drawn to find a node's split."""
    seed: np.uint64
    rows: int
    """The rows that the tree is grown from, those of other members included."""
    smooth: float
    """Rows by which the means of categories are pulled towards their node's."""
    reducer: int
    """The address of what combines numbers over members; 0: there is but one."""


class Coded(NamedTuple):
    """Coded features."""

    words: Keys
    """(B, R, WORDS): the codes, eight in a word, the first in its lowest bits; for histograms, which want all of a row."""
    singles: Bytes
    """Flat: all codes, for parting rows, which asks for one feature; the bytes of ``words``, or a copy feature by feature."""
    shift: int
    """A feature's codes are ``1 << shift`` bytes apart in ``singles``: WIDTH_SHIFT in the bytes of ``words``, 0 in the copy."""
    bins: Indices
    """(F,): number of codes of each feature, without the missing one."""
    has_missing: Flags
    monotone: Indices
    """(F,): 1 where the score must not fall with the feature, −1 where it must not rise, else 0."""
    category: Flags
    """(F,): features that are categories."""
    used: Flags
    """(F,): features drawn for this tree."""
    keys: Keys
    """(R,): content keys of the rows, or empty where nothing is drawn at random."""


class Workspace(NamedTuple):
    """Memory that serves all trees of a forest; R rows, F features, L leaves, B blocks of codes."""

    order: Short
    """(2, R + AHEAD): the rows, those of a node adjacent; a node's children are written to the other half."""
    cells: Indices
    """(2, R): the cell of each row in ``order``."""
    curvature: Short
    """(R,): quantised curvature by row number."""
    weights: Short
    """(R,) or empty: quantised weight by row number; empty: every row counts 1."""
    goes_left: Bytes
    """(R,): whether the row at this place of ``order`` goes left."""
    drawn_order: Short
    """(R + AHEAD,) or empty: the rows drawn at a node."""
    drawn_cells: Indices
    """(R,) or empty: their cells."""
    histograms: Indices
    """(slots, B · WIDTH · BINS)."""
    gains: Floats
    """(nodes, F): the best gain of each feature, −inf where there is none; raw units."""
    codes: Indices
    """(nodes, F): the code after which to cut; codes from 256 on: the same, missing values left."""
    exact: Flags
    """(nodes, F): whether the limits of a leaf have been checked for this entry."""
    allowed: Flags
    """(nodes, F): features that may be used at the node."""
    counts: Indices
    """(4, workers): partial sums of the workers."""
    partial: Floats
    """(2, workers): partial maxima."""
    limits: Indices
    """(2, BINS): rows and curvature by code, for one feature at one node."""
    level_gains: Floats
    """(workers, 2, BINS): gains summed over the nodes of a level, for symmetric trees."""
    left: Indices
    """(workers, BINS + 16): what goes left at each cut; with room between, so that no two workers write to one cache line."""
    terms: Floats
    """(workers, BINS + 16): and what it gains, with room likewise."""
    sums: Indices
    """(workers, BINS + 16): the histogram of a category over all nodes of a level."""
    places: Indices
    """(workers, BINS + 16): the codes of a category in order."""
    tables: Bytes
    """(workers, BINS + 64): whether each code goes left, at the split in the making."""
    plan: Indices
    """(4,): what the first worker decided for all."""
    message: Indices
    """What members send each other at a split or a level; empty where there is but one."""
    scales: Floats
    """(2,): what one unit of quantised push and curvature is worth."""
    sync: Indices


class Nodes(NamedTuple):
    """The tree in the making; node 0 is the root, children come behind their parents."""

    feature: Indices
    code: Indices
    """The code after which it cuts; ``SET`` where it asks for a category."""
    members: Keys
    """(nodes, 4): the codes that go left there, one bit each."""
    missing_left: Flags
    left: Indices
    right: Indices
    depth: Indices
    start: Indices
    end: Indices
    """Where its rows are in ``order``: those of this member."""
    rows: Indices
    """How many rows it has, those of other members included."""
    drawn_end: Indices
    """Where the rows drawn for its split end."""
    half: Indices
    """Which half of ``order`` holds the node's rows."""
    slot: Indices
    """The node's histogram."""
    push: Indices
    curvature: Indices
    total: Indices
    """The sum of the cells its split is looked for with."""
    weight: Indices
    """The low bits of the cells of all its rows, summed."""
    best: Indices
    """The feature to split by; −1: none."""
    gain: Floats
    low: Floats
    high: Floats
    """Bounds of the node's value under monotone constraints."""
    value: Floats


def nodes_of(leaves: int) -> Nodes:
    """Room for a tree of ``leaves`` leaves. All integers have one width: Numba makes a variant of a kernel for each mix."""
    kinds: dict[str, Any] = {"missing_left": np.bool_} | dict.fromkeys(("gain", "low", "high", "value"), np.float64)
    arrays: dict[str, Any] = {name: np.zeros(2 * leaves, kinds.get(name, np.int64)) for name in Nodes._fields}
    arrays["members"] = np.zeros((2 * leaves, BINS // 64), np.uint64)
    return Nodes(**arrays)


# ---- loops and draws -------------------------------------------------------------------------------------------------


# Plain loops: NumPy's own sums and searches would take longer to compile than all of these together.


@lean_kernel
def sum_of(values: Indices, count: int) -> int:
    """The sum of the first ``count`` values."""
    total = 0
    for k in range(count):
        total += values[k]
    return total


@lean_kernel
def largest_of(values: Floats, count: int) -> float:
    """The largest of the first ``count`` values, none of them negative."""
    best = 0.0
    for k in range(count):
        best = max(best, values[k])
    return best


@lean_kernel
def copy_flags(flags: Flags, out: Flags) -> None:
    """Copy flags; arrays of the same shape."""
    for f in range(len(flags)):
        out[f] = flags[f]


@lean_kernel
def mix(a: np.uint64, b: np.uint64) -> np.uint64:
    """A random word that depends on two others."""
    return mixed(a * STEP + b + STEP)


@lean_kernel
def is_drawn(key: np.uint64, word: np.uint64, share: float) -> bool:
    """Whether a row is drawn: decided by its content, so that the order of the rows does not matter."""
    return float(mix(word, key) >> np.uint64(11)) * 2.0**-53 < share
