"""Limits of programs on trees: how large a leaf may be, and how deeply splits may be nested."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Floats, Indices
from rankinite.errors import ArgumentError
from rankinite.serving.plan import ExportPlan
from rankinite.trees.structure import LEAF, Trees

LARGEST = float(np.finfo(np.float32).max)


def check_leaves(plan: ExportPlan) -> None:
    """Refuse a forest with a value that float32 cannot hold."""
    check_values(plan.trees_with_start.value)


def check_values(values: Floats) -> None:
    """Refuse leaves that float32 cannot hold."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST:
        raise ArgumentError(
            "a leaf is beyond all floats of 32 bits",
            value=largest,
            rule=f"The program keeps leaves as float32, at most {LARGEST:.2g}",
            remedy="Scale the ranker, as in 1e-6 * ranker, or export to lightgbm",
        )


def check_depth(trees: Trees, most: int) -> None:
    """Refuse a tree whose splits are nested more deeply than parsers of nested text can follow."""
    deepest = int(depths(trees).max(initial=0))
    if deepest > most:
        raise ArgumentError(
            f"a tree is {deepest:,} levels deep",
            value=deepest,
            rule=f"The program reads nested splits, at most {most} levels of them",
            remedy="Train with fewer leaves or a limit of depth, or export to lightgbm or onnx, which list their nodes",
        )


def depths(trees: Trees) -> Indices:
    """How many splits are above each node."""
    found = np.zeros(len(trees.feature), np.int64)
    root = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    level = trees.offsets[:-1]
    while len(level := level[trees.feature[level] != LEAF]):
        children = np.concatenate((root[level] + trees.left[level], root[level] + trees.right[level]))
        found[children] = np.tile(found[level] + 1, 2)
        level = children
    return found
