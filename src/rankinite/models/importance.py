"""Importance of a forest's features: the gain of their splits, or the number of these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankinite.errors import ArgumentError, listed
from rankinite.trees.structure import LEAF, Trees

KINDS = ("gain", "count")


def tree_importance(trees: Trees, names: Sequence[str], kind: str) -> dict[str, float]:
    """The gain or the number of the splits on each feature, the largest first, equals in the order of the features."""
    if kind not in KINDS:
        raise ArgumentError(
            f"is unknown; the kinds are {listed(KINDS)}",
            owner="importance",
            setting="kind",
            value=kind,
            remedy="Give one of these, or call permutation_importance",
        )
    inner = trees.feature != LEAF
    weights = trees.gain[inner] if kind == "gain" else None
    totals = np.bincount(trees.feature[inner], weights, minlength=len(names))
    ranked: list[int] = np.argsort(-totals, kind="stable").tolist()
    return {names[feature]: totals[feature].item() for feature in ranked}
