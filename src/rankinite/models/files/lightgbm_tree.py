"""One tree of LightGBM's text models.

LightGBM asks ``x <= threshold`` as we do. Two things differ. Tiny values count as 0 there, so thresholds among them are moved
to the ends of their range. And a node says of missing values that NaN goes left or right, or that NaN is 0, or
(``zero_as_missing``) that 0 is missing, which our trees cannot express unless 0 goes the same way anyway.

A node with categories has a bit for every code: codes whose bit is set go left; all others, missing and unknown ones go right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import Flags, Floats, Indices
from rankinite.errors import DataError, quoted
from rankinite.models.files.parsed import SAVE_AGAIN, fitting, number_words
from rankinite.trees.structure import LEAF, Trees, sets_of

CATEGORICAL, DEFAULT_LEFT = 1, 2
"""Bits of ``decision_type``; the two above them say what is missing."""
ZERO, NAN = 1, 2
"""Which value is missing: 0, or NaN. Otherwise NaN counts as 0."""
NOTHING = float(np.float32(1e-35))
"""Values up to this size count as 0 in LightGBM."""


def _beyond_nothing(threshold: Floats) -> Floats:
    """Thresholds such that all values up to ``NOTHING`` go where 0 goes."""
    low = (threshold >= -NOTHING) & (threshold < 0.0)
    high = (threshold >= 0.0) & (threshold < NOTHING)
    return np.where(low, np.nextafter(-NOTHING, -np.inf), np.where(high, NOTHING, threshold))


@dataclass(frozen=True)
class WrittenTree:
    """One tree as the file has it: inner nodes and leaves are numbered separately."""

    written: dict[str, str]
    place: str

    def numbers(self, name: str, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """One entry per node; 0 where the file has none, so ``count`` must be one that the file justifies."""
        text = self.written.get(name, "")
        try:
            values = np.fromiter(number_words(text), np.float64) if text else np.zeros(count)
        except ValueError as error:
            raise self.wrong(name, f"the entry {error} is not a number", text) from error
        if len(values) != count:
            raise self.wrong(name, f"there are {len(values)} entries for {count} nodes", len(values))
        fitted = fitting(values, dtype)
        if fitted is None:
            raise self.wrong(name, f"an entry is not of type {np.dtype(dtype)}", text)
        return fitted

    def wrong(self, name: str, why: str, value: object) -> DataError:
        """The error for entries that cannot be those of a tree."""
        return DataError(why, place=f"{self.place}: {name}", value=value, remedy=SAVE_AGAIN)

    def number(self, name: str) -> float:
        """One finite number of the whole tree."""
        value = float(self.numbers(name, np.float64, 1)[0])
        if not np.isfinite(value):
            raise self.wrong(name, f"{value} is not a finite number", value)
        return value

    def leaves(self) -> int:
        """The number of leaves, which is announced and must be that of their values."""
        announced, count = self.written.get("num_leaves", ""), len(self.written.get("leaf_value", "").split())
        if announced != str(count) or not count:
            raise DataError(
                f"num_leaves is {quoted(announced)}, but there are {count} entries of leaf_value",
                place=f"{self.place}: num_leaves",
                value=announced,
                rule="There must be one per leaf, and at least one leaf",
                remedy=SAVE_AGAIN,
            )
        return count

    def converted(self) -> Trees:
        """The same tree: inner nodes first, as they are numbered, then the leaves. Sets hold the codes of the file."""
        if self.written.get("is_linear", "0") != "0":
            raise DataError(
                "this tree has linear models in its leaves",
                place=f"{self.place}: is_linear",
                remedy="Train with linear_tree=false",
            )
        leaves = self.leaves()
        inner = leaves - 1
        written = self.numbers("threshold", np.float64, inner)
        decision = self.numbers("decision_type", np.int64, inner)
        by_category: Flags = (decision & CATEGORICAL) > 0
        threshold = np.where(by_category, 0.0, _beyond_nothing(written))
        missing_left = self._missing_left(threshold, decision, by_category)
        nothing = np.zeros(leaves)
        return Trees(
            feature=np.concatenate((self.numbers("split_feature", np.int32, inner), np.full(leaves, LEAF))),
            threshold=np.concatenate((threshold, nothing)),
            missing_left=np.concatenate((missing_left, nothing > 0)),
            left=self._children("left_child", inner, leaves),
            right=self._children("right_child", inner, leaves),
            gain=np.concatenate((np.maximum(self.numbers("split_gain", np.float64, inner), 0.0), nothing)),
            offsets=np.asarray([0, inner + leaves]),
            value=self._of_both("value", np.float64, leaves),
            rows=self._of_both("count", np.int64, leaves),
            curvature=self._of_both("weight", np.float64, leaves),
            **sets_of(self._sets(written, by_category) + [[]] * leaves),
        )

    def _missing_left(self, threshold: Floats, decision: Indices, by_category: Flags) -> Flags:
        """Whether NaN goes left at each inner node."""
        zero_left = threshold >= 0.0
        default_left = (decision & DEFAULT_LEFT) > 0
        kind = (decision >> 2) & 3
        if ((kind == ZERO) & (zero_left != default_left) & ~by_category).any():
            raise DataError(
                "this tree takes 0 for a missing value",
                place=f"{self.place}: decision_type",
                remedy="Train with zero_as_missing=false",
            )
        return np.where(kind == NAN, default_left, zero_left) & ~by_category

    def _sets(self, written: Floats, by_category: Flags) -> list[list[int]]:
        """The codes that go left at each inner node: those of set k, where k is in the place of a threshold."""
        sets: list[list[int]] = [[] for _ in written]
        if not by_category.any():
            return sets
        starts = self.numbers("cat_boundaries", np.int64, self._count("cat_boundaries"))
        words = self.numbers("cat_threshold", np.int64, self._count("cat_threshold"))
        if not len(starts) or starts[0] or (np.diff(starts) < 0).any() or starts[-1] != len(words):
            raise self.wrong("cat_boundaries", f"they do not rise from 0 to the {len(words)} entries of cat_threshold", starts)
        if ((words < 0) | (words >= 1 << 32)).any():
            raise self.wrong("cat_threshold", "an entry does not have 32 bits", words)
        for node in np.flatnonzero(by_category).tolist():
            number = float(written[node])
            if not (number.is_integer() and 0 <= number < len(starts) - 1):
                raise self.wrong("threshold", f"there are {len(starts) - 1} sets of categories, but none {number:g}", number)
            bits = words[starts[int(number)] : starts[int(number) + 1]].astype("<u4").view(np.uint8)
            sets[node] = np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist()
            if not sets[node]:
                raise self.wrong("cat_threshold", f"set {int(number)} has no category", int(number))
        return sets

    def _count(self, name: str) -> int:
        return len(self.written.get(name, "").split())

    def _of_both(self, what: str, dtype: npt.DTypeLike, leaves: int) -> npt.NDArray[Any]:
        """A number per inner node, then one per leaf."""
        return np.concatenate(
            (self.numbers(f"internal_{what}", dtype, leaves - 1), self.numbers(f"leaf_{what}", dtype, leaves))
        )

    def _children(self, name: str, inner: int, leaves: int) -> npt.NDArray[np.int32]:
        """Negative numbers are leaves: −1 is leaf 0."""
        children = self.numbers(name, np.int32, inner).astype(np.int64)
        places = np.where(children < 0, inner - 1 - children, children)
        return np.concatenate((places, np.zeros(leaves, np.int64))).astype(np.int32)
