"""Trees grown by trying everything: every cut of every node, with floats instead of quantised sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankinite.engine.parallel import Team
from rankinite.trees.bins import fit_bins
from rankinite.trees.growth import Grower
from rankinite.trees.settings import TreeSettings
from rankinite.trees.structure import LEAF, Trees

NEAR = 1e-5
"""Sums are quantised to about nine digits, so their ratios are compared with fewer."""
UNIT = 1e-6
"""Curvatures in tests are 0 or far above this, which is far above what quantising changes."""


def grow_one(
    settings: TreeSettings,
    features: np.ndarray,
    push: np.ndarray,
    curvature: np.ndarray,
    *,
    keys: np.ndarray | None = None,
    query_keys: np.ndarray | None = None,
    number: int = 0,
    weights: np.ndarray | None = None,
) -> tuple[Trees, np.ndarray]:
    """One tree with unshrunken values over the features f0, f1, …, and the rows it was grown from."""
    bins = fit_bins(features, most=settings.bins, sample=settings.bin_sample)
    names = [f"f{column}" for column in range(features.shape[1])]
    with Team() as team:
        grower = Grower(settings, bins, bins.code(features), settings.signs(names), team, keys, query_keys, weights)
        grown = grower.grow(push, curvature, number)
        tree = grower.trees_of(grown, grown.values())
        scores = np.zeros(len(push))
        grower.add(grown, grown.values(), scores)
    assert scores.tolist() == [
        tree.value[leaf].item() for leaf in leaves_of(tree, features)
    ]  # training sees what scoring gives
    return tree, grown.drawn.copy() if len(grown.drawn) else np.ones(len(push), bool)


def rows_of(tree: Trees, features: np.ndarray) -> list[np.ndarray]:
    """For every node, a mask of the rows that reach it."""
    masks = [np.zeros(len(features), bool) for _ in tree.feature]
    masks[0][:] = True
    for node in range(len(tree.feature)):
        if tree.feature[node] != LEAF:
            column = features[:, tree.feature[node]].astype(np.float64)
            left = np.where(np.isnan(column), tree.missing_left[node], column <= tree.threshold[node])
            masks[tree.left[node]] = masks[node] & left
            masks[tree.right[node]] = masks[node] & ~left
    return masks


def leaves_of(tree: Trees, features: np.ndarray) -> list[int]:
    """The leaf of every row."""
    masks = rows_of(tree, features)
    leaves = [node for node in range(len(tree.feature)) if tree.feature[node] == LEAF]
    return [next(leaf for leaf in leaves if masks[leaf][row]) for row in range(len(features))]


@dataclass(frozen=True)
class Node:
    """The rows of a node, and the gain of cutting them."""

    features: np.ndarray
    push: np.ndarray
    curvature: np.ndarray
    settings: TreeSettings
    weights: np.ndarray | None = None
    """How often each row counts (its push and curvature include this); once if left out."""

    @property
    def signs(self) -> np.ndarray:
        return self.settings.signs([f"f{column}" for column in range(self.features.shape[1])])

    def value(self, mask: np.ndarray) -> float:
        """The Newton step of the rows."""
        total = self.curvature[mask].sum()
        return float(self.push[mask].sum() / (total + self.settings.l2)) if total >= UNIT else 0.0

    def term(self, mask: np.ndarray) -> tuple[float, float]:
        """G and S of the rows; the criterion sums G²/S."""
        counts = mask.astype(float) if self.weights is None else self.weights * mask
        weight = self.curvature[mask].sum() + self.settings.l2 if self.settings.criterion == "newton" else counts.sum()
        return float(self.push[mask].sum()), float(weight)

    def gain(self, mask: np.ndarray, left: np.ndarray) -> float:
        """The gain of a cut, ignoring the limits."""
        terms = [g * g / s if s > 0 else 0.0 for g, s in (self.term(mask & left), self.term(mask & ~left), self.term(mask))]
        return terms[0] + terms[1] - terms[2]

    def is_legal(self, mask: np.ndarray, left: np.ndarray, feature: int, slack: float = 0.0) -> bool:
        """Whether both sides satisfy the limits of a leaf, within ``slack`` of curvature, and the monotone constraint."""
        for side in (mask & left, mask & ~left):
            weight = self.curvature[side].sum()
            if side.sum() < self.settings.min_rows or weight < self.settings.min_curvature + slack:
                return False
            if self.settings.criterion == "newton" and weight < UNIT:
                return False
            if self.settings.criterion == "mse" and self.term(side)[1] < UNIT:
                return False
        (left_push, left_weight), (right_push, right_weight) = self.term(mask & left), self.term(mask & ~left)
        rise = right_push * left_weight - left_push * right_weight
        return bool(self.signs[feature] * rise >= 0)

    def cuts(self, mask: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """Every way to cut the rows: (feature, which go left); missing values go left or right."""
        found = []
        for feature in range(self.features.shape[1]):
            column = self.features[:, feature]
            missing = np.isnan(column)
            for value in np.unique(column[mask & ~missing]):
                found.append((feature, column <= value))
                if missing[mask].any():
                    found.append((feature, (column <= value) | missing))
        return found

    def best_gain(self, mask: np.ndarray, slack: float = 0.0) -> float:
        """The largest gain of all legal cuts, 0 if there is none."""
        gains = [self.gain(mask, left) for feature, left in self.cuts(mask) if self.is_legal(mask, left, feature, slack)]
        return max(gains, default=0.0)


def small_rows(seed, rows=40, features=3, *, levels=8, missing=0.2, weightless=0.2):
    """Few values per feature, some missing; pushes and curvatures, some rows with neither."""
    random = np.random.default_rng(seed)
    matrix = random.integers(0, levels, (rows, features)).astype(np.float32)
    matrix[random.random(matrix.shape) < missing] = np.nan
    push, curvature = random.normal(size=rows), random.uniform(0.1, 1.0, rows)
    silent = random.random(rows) < weightless
    push[silent], curvature[silent] = 0.0, 0.0
    return matrix, push, curvature
