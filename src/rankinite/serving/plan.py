"""ExportPlan: one ranker as one target will write it, with all choices made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.choices import ServedMissing
from rankinite.engine.kernel import Floats, Reals
from rankinite.errors import ArgumentError
from rankinite.models.base import Ranker
from rankinite.models.forest import Forest
from rankinite.serving.categories import Vocabularies, known_codes
from rankinite.serving.flattening import Flat
from rankinite.trees.structure import LEAF, Trees, join, no_trees

ADAPT = ". If it was adapted, adapt again with `deployable=…`: only rankers that the target holds compete then"


@dataclass(frozen=True, eq=False)
class ExportPlan:
    """What a writer is given."""

    name: str
    """What the model is called there."""
    ranker: Ranker
    """The ranker itself."""
    flat: Flat
    """The ranker as a sum. Its forest has the directions of missing values that ``missing`` asks for, and the shift."""
    names: tuple[str, ...]
    """The features that rows have, in order, by their names there; so are they called in ``flat``."""
    missing: ServedMissing
    """What a missing feature counts as."""
    shift: float = 0.0
    """What was added to every score."""
    version: tuple[int, ...] = ()
    """The version of the program; empty: the latest known."""
    feature_queries: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How the engine computes a feature, as its JSON has it; features that are not here get a placeholder."""
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The model's name → the name there, of features whose name the program cannot hold."""

    @property
    def own_names(self) -> tuple[str, ...]:
        """The features that rows have, as the model calls them."""
        own = {new: old for old, new in self.renamed.items()}
        return tuple(own.get(name, name) for name in self.names)

    @property
    def forest(self) -> Forest:
        """The one forest that this is; refuses anything else."""
        forest = self.flat.forest
        if forest is None:
            raise no_forest(self.flat)
        return forest

    @property
    def columns(self) -> tuple[int, ...]:
        """The column of each of the forest's features; −1: nothing asks for it."""
        place = {name: number for number, name in enumerate(self.names)}
        return tuple(place.get(name, LEAF) for name in self.forest.feature_names)

    @property
    def trees(self) -> Trees:
        """The trees of the one forest, their features being numbers of columns."""
        trees = self.forest.trees
        columns = np.asarray([*self.columns, LEAF], np.int32)  # a leaf's −1 finds the last
        return replace(trees, feature=columns[trees.feature])

    @property
    def trees_with_start(self) -> Trees:
        """The same with the start in the first tree's leaves, for programs that begin with 0."""
        trees, start = self.trees, float(self.forest.start[0])
        if not len(trees):
            trees = one_leaf(0.0)
        if start == 0.0:
            return trees
        first = np.arange(len(trees.value)) < trees.offsets[1]
        return replace(trees, value=np.where(first, start + trees.value, trees.value))

    @property
    def categories(self) -> Vocabularies:
        """The vocabulary of each feature of rows that is a category."""
        return {name: self.flat.categories[name] for name in self.names if name in self.flat.categories}

    @property
    def category_counts(self) -> list[int]:
        """How many categories each feature of rows has; 0: it is a number."""
        return [len(self.categories[name]) if name in self.categories else 0 for name in self.names]

    def served(self, matrix: Reals) -> Reals:
        """Rows as they count where the model is served; a category that is unknown has the code behind all others."""
        counted = self.without_missing(matrix) if self.missing == "zero" else matrix
        if not self.categories:
            return counted
        counted = counted.copy()
        for name, vocabulary in self.categories.items():
            column = self.names.index(name)
            counted[:, column] = known_codes(counted[:, column], vocabulary)
        return counted

    def without_missing(self, matrix: Reals) -> Reals:
        """Rows with 0 for missing numbers. A missing category stays missing: 0 is the code of one."""
        numbers = np.asarray([name not in self.categories for name in self.names], np.bool_)
        return np.where(np.isnan(matrix) & numbers, matrix.dtype.type(0), matrix)


def one_leaf(value: float) -> Trees:
    """A tree that is a single leaf."""
    number = np.zeros(1)
    nothing = no_trees()
    leaf = replace(
        nothing,
        **dict.fromkeys(("threshold", "curvature", "gain"), number),
        **{name: number.astype(np.int32) for name in ("left", "right")},
        feature=np.full(1, LEAF, np.int32),
        missing_left=np.zeros(1, np.bool_),
        rows=np.zeros(1, np.int64),
        value=np.asarray([value]),
        offsets=np.asarray([0, 1]),
    )
    return join([leaf])


def positive_cover(tree: Trees, cover: npt.NDArray[Any], least: float) -> npt.NDArray[Any]:
    """How much of the training data came by each node of one tree: at least ``least`` by every leaf, or unknown as before.

    Symmetric trees have leaves that no row reached. Libraries divide by these numbers where they split scores by feature.
    """
    if not cover[0] > 0 or cover.all():
        return cover
    cover = np.where(tree.feature == LEAF, np.maximum(cover, least), 0).astype(cover.dtype)
    for node in np.flatnonzero(tree.feature != LEAF)[::-1].tolist():  # children come after their parents
        cover[node] = cover[tree.left[node]] + cover[tree.right[node]]
    return cover


def zero_directions(forest: Forest) -> Forest:
    """The forest with every missing value sent where 0 goes; a missing category stays missing."""
    trees = forest.trees
    with_zero = np.where(trees.set_sizes > 0, trees.missing_left, (trees.threshold >= 0.0) & (trees.feature != LEAF))
    return replace(forest, trees=replace(trees, missing_left=with_zero))


def tells_missing_from_zero(forest: Forest) -> bool:
    """Whether some node sends a missing value another way than 0."""
    return bool((zero_directions(forest).trees.missing_left != forest.trees.missing_left).any())


def lowest_score(forest: Forest) -> float:
    """A bound below all scores: the start and every tree's lowest leaf."""
    return float(lowest_leaves(forest).sum())


def lowest_leaves(forest: Forest) -> Floats:
    """The start, then the lowest leaf of every tree."""
    trees = forest.trees
    leaves: Floats = np.where(trees.feature == LEAF, trees.value, np.inf)
    lowest = np.minimum.reduceat(leaves, trees.offsets[:-1]) if len(trees) else leaves
    return np.concatenate((forest.start, lowest))


def no_forest(flat: Flat) -> ArgumentError:
    """The refusal of a ranker that is not a sum of trees."""
    kinds = [_kind(term.leaf) for term in flat.terms]
    others = sorted({kind for kind in kinds if kind != "a forest"})
    return ArgumentError(
        f"it is not a sum of trees alone: there is {' and '.join(others) or 'nothing'} in it",
        value=tuple(others),
        rule="The target holds trees only",
        remedy=f"Distil it into one forest (rankinite distil), or export to onnx or mlflow{ADAPT}",
    )


def _kind(leaf: object) -> str:
    if isinstance(leaf, Forest):
        return "a forest" if leaf.grades is None else "a forest of McRank"
    name = {"Linear": "a linear ranker", "Net": "a net", "NetOfSums": "a net over scores", "Feature": "a feature"}
    return name.get(type(leaf).__name__, f"a {type(leaf).__name__.lower()}")
