"""Moved: the changes that adaptation made to a forest, tree by tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from rankinite.engine.kernel import Floats, Indices
from rankinite.errors import ArgumentError, DataError, quoted
from rankinite.grid import Grid
from rankinite.models.files.matching import match_features
from rankinite.models.forest import Forest
from rankinite.plurals import agreeing, counted
from rankinite.trees.structure import LEAF, Trees


class Shift(NamedTuple):
    """What happened to the thresholds of one feature."""

    splits: int
    """How many splits of the adapted trees ask for it."""
    moved: int
    """How many of them have another threshold than before."""
    total: float
    """How far thresholds moved, up or down, in all; in the feature's own unit."""


@dataclass(frozen=True, eq=False)
class Moved:
    """A forest before and after adaptation; every array has one entry per tree of the background."""

    leaves: Indices
    """Leaves of the adapted tree."""
    leaves_changed: Indices
    """Those whose value differs from that of their node before."""
    thresholds: Indices
    """Splits of the adapted tree."""
    thresholds_changed: Indices
    """Those with another threshold than before."""
    trimmed: Indices
    """Nodes of the background tree that are gone."""
    mean_change: Floats
    """The mean size of the change of value, up or down, of the adapted tree's leaves."""
    largest_change: Floats
    """The largest change of value, up or down, of a leaf."""
    shifts: dict[str, Shift]
    """Every feature that splits ask for, those moved furthest first."""
    added: int
    """Trees that follow those of the background."""

    def by_feature(self, most: int | None = None) -> dict[str, Shift]:
        """The features whose thresholds moved, furthest first; ``most`` of them."""
        moved = [(name, shift) for name, shift in self.shifts.items() if shift.moved]
        return dict(moved[:most])

    def grid(self) -> Grid:
        """Every tree, then all of them."""
        rows = [_cells(str(number), row) for number, row in enumerate(self._rows())]
        if rows:
            mean = float(self.mean_change @ self.leaves) / int(self.leaves.sum())
            sums = [int(array.sum()) for array in self._counts()]
            rows.append(_cells("all", (*sums, mean, float(self.largest_change.max()))))
        notes = (f"{counted(self.added, 'tree')} {agreeing(self.added, 'was')} added behind these.",) if self.added else ()
        header = ("tree", "leaves changed", "thresholds changed", "nodes trimmed", "mean |change|", "largest |change|")
        return Grid(header, tuple(rows), align="r" * len(header), title="what moved", notes=notes)

    def feature_grid(self, most: int | None = None) -> Grid:
        """The features whose thresholds moved, furthest first; ``most`` of them."""
        rows = tuple(
            (name, f"{shift.moved} of {shift.splits}", f"{shift.total:.6g}", f"{shift.total / shift.moved:.6g}")
            for name, shift in self.by_feature(most).items()
        )
        hidden = len(self.by_feature()) - len(rows)
        notes = ("Distances are in each feature's own unit.",) if rows else ("No threshold moved.",)
        notes += (f"… and {hidden} more",) if hidden else ()
        return Grid(("feature", "thresholds changed", "Σ |change|", "mean |change|"), rows, notes=notes)

    def _counts(self) -> tuple[Indices, ...]:
        return self.leaves, self.leaves_changed, self.thresholds, self.thresholds_changed, self.trimmed

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        arrays = (*self._counts(), self.mean_change, self.largest_change)
        return zip(*(array.tolist() for array in arrays), strict=True)

    def __str__(self) -> str:
        return self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        names = ("leaves", "leaves_changed", "thresholds", "thresholds_changed", "trimmed", "mean_change", "largest_change")
        return {
            "trees": [dict(zip(names, row, strict=True)) for row in self._rows()],
            "features": {name: shift._asdict() for name, shift in self.shifts.items()},
            "added": self.added,
        }


def moved(background: Forest, adapted: Forest) -> Moved:
    """Compare a forest with what adaptation made of it: the same trees, some perhaps trimmed, others perhaps added."""
    forests: tuple[Any, ...] = (background, adapted)
    for ranker in forests:
        if not isinstance(ranker, Forest):
            raise ArgumentError(
                "it is no forest, so there are no trees to compare",
                place=quoted(ranker),
                value=type(ranker).__name__,
                remedy="Give a forest and its adaptation",
            )
    with suppress(DataError):  # features of a foreign forest have no names; it was adapted under those of the target
        background = cast(Forest, match_features(forests[0], adapted.feature_names, "the adapted forest")[0])
    added = len(adapted) - len(background)
    if added < 0:
        raise ArgumentError(
            f"it has fewer trees than {background!r}, so it cannot have been made of that",
            place=repr(adapted),
            value=len(adapted),
            remedy="Compare a forest with its own adaptation",
        )
    pairs = [
        _Pair(_with_names(background, number), _with_names(adapted, number), f"tree {number} of {adapted!r}")
        for number in range(len(background))
    ]
    counts: Any = np.asarray([pair.counts() for pair in pairs], np.int64).reshape(-1, 5).T
    changes: Any = np.asarray([pair.changes() for pair in pairs], np.float64).reshape(-1, 2).T
    return Moved(*counts, *changes, shifts=_shifts(pairs), added=added)


def _cells(name: str, row: tuple[Any, ...]) -> tuple[str, ...]:
    leaves, leaves_changed, splits, splits_changed, trimmed, mean, largest = row
    shares = (f"{leaves_changed} of {leaves}", f"{splits_changed} of {splits}")
    return (name, *shares, str(trimmed), f"{mean:.4g}", f"{largest:.4g}")


class _NamedTree(NamedTuple):
    """A tree, and the name of the feature that each node asks for; leaves ask for none."""

    tree: Trees
    asked: list[str]


def _with_names(forest: Forest, number: int) -> _NamedTree:
    tree = forest.trees.take(number, number + 1)
    return _NamedTree(tree, ["" if feature == LEAF else forest.feature_names[feature] for feature in tree.feature.tolist()])


class _Pair:
    """A tree before and after."""

    def __init__(self, before: _NamedTree, after: _NamedTree, place: str) -> None:
        self.before, self.after = before.tree, after.tree
        self.asked = after.asked
        self.origin = self._origins(before, place)
        inner = self.after.feature != LEAF
        former = self.before.threshold[self.origin]
        self.shift: Floats = np.zeros(len(former))  # infinite thresholds, which do not move, have no difference
        np.subtract(self.after.threshold, former, out=self.shift, where=inner & (self.after.threshold != former))
        self.change: Floats = (self.after.value - self.before.value[self.origin])[~inner]

    def _origins(self, before: _NamedTree, place: str) -> Indices:
        """For every node, the node in its place in the tree before."""
        origin = np.zeros(len(self.asked), np.int64)
        for node, asked in enumerate(self.asked):  # parents come first
            old = int(origin[node])
            if self.after.feature[node] == LEAF:
                continue
            if before.tree.feature[old] == LEAF or before.asked[old] != asked:
                problem = f"it asks for {asked!r} where the background does not"
                raise ArgumentError(problem, place=place, value=asked, remedy="Compare a forest with its own adaptation")
            origin[self.after.left[node]], origin[self.after.right[node]] = before.tree.left[old], before.tree.right[old]
        return origin

    def counts(self) -> tuple[int, int, int, int, int]:
        """The whole numbers of :class:`Moved`, in its order."""
        leaves = len(self.change)
        gone = len(self.before.feature) - len(self.asked)
        return leaves, int((self.change != 0.0).sum()), len(self.asked) - leaves, int((self.shift != 0.0).sum()), gone

    def changes(self) -> tuple[float, float]:
        """The mean and the largest change of a leaf."""
        return float(np.abs(self.change).mean()), float(np.abs(self.change).max())


def _shifts(pairs: list[_Pair]) -> dict[str, Shift]:
    found: dict[str, Shift] = {}
    for pair in pairs:
        for asked, shift in zip(pair.asked, pair.shift.tolist(), strict=True):
            if asked:
                splits, count, total = found.get(asked, Shift(0, 0, 0.0))
                found[asked] = Shift(splits + 1, count + (shift != 0.0), total + abs(shift))
    return dict(sorted(found.items(), key=lambda item: -item[1].total))
