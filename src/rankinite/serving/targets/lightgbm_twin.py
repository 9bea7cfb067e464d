"""Twin of LightGBM's text: its trees as a table of nodes, with LightGBM's own rules for numbers and categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.models.files.lightgbm import CATEGORICAL, DEFAULT_LEFT, NAN
from rankinite.serving.categories import members_of
from rankinite.serving.node_table import NodeTable, node_sets
from rankinite.trees.structure import LEAF


def table_of_text(text: str) -> NodeTable:
    """The trees of a model text. A number at most the threshold goes left, and a code in a set; see :class:`_Block`."""
    blocks = [_Block(block) for block in text.partition("\nend of trees")[0].split("\nTree=")[1:]]
    starts = np.cumsum([0, *(block.nodes for block in blocks)])
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in ("feature", "threshold", "missing_left", "value")
    }
    for side in ("left", "right"):
        children = [getattr(block, side) + start for block, start in zip(blocks, starts[:-1], strict=True)]
        columns[side] = np.concatenate(children)
    members = [codes for block in blocks for codes in block.members]
    sets = node_sets(members if any(codes is not None for codes in members) else [])
    return NodeTable(**columns, roots=starts[:-1], sets=sets)


class _Block:
    """One tree: inner nodes as they are numbered, then the leaves, which children name by −1 minus their number.

    A missing value is NaN at every node. It goes where a threshold's node says, and right where there is a set.
    """

    def __init__(self, text: str) -> None:
        self._written = dict(line.split("=", 1) for line in text.split("\n") if "=" in line)
        leaves = int(self._written["num_leaves"])
        inner = leaves - 1
        self.nodes = inner + leaves
        decisions, threshold = self._numbers("decision_type", np.int64), self._numbers("threshold")
        assert len(decisions) == inner
        assert ((decisions >> 2) == NAN).all()
        has_set = (decisions & CATEGORICAL) > 0
        nothing = np.zeros(leaves)
        self._bounds, self._words = self._numbers("cat_boundaries", np.int64), self._numbers("cat_threshold", np.uint32)
        self.feature = np.concatenate((self._numbers("split_feature", np.int32), np.full(leaves, LEAF, np.int32)))
        self.threshold = np.concatenate((np.where(has_set, 0.0, threshold), nothing))
        self.missing_left = np.concatenate((~has_set & ((decisions & DEFAULT_LEFT) > 0), nothing > 0))
        self.value = np.concatenate((np.zeros(inner), self._numbers("leaf_value")))
        self.left, self.right = (self._children(f"{side}_child", inner) for side in ("left", "right"))
        asked = zip(has_set.tolist(), threshold.tolist(), strict=True)
        self.members = [self._members(int(place)) if asks else None for asks, place in asked] + [None] * leaves

    def _numbers(self, name: str, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        return np.asarray(self._written.get(name, "").split(), np.float64).astype(dtype)

    def _children(self, name: str, inner: int) -> npt.NDArray[np.int64]:
        children = self._numbers(name, np.int64)
        return np.concatenate((np.where(children < 0, inner - 1 - children, children), np.arange(inner, self.nodes)))

    def _members(self, place: int) -> list[int]:
        return members_of(self._words[self._bounds[place] : self._bounds[place + 1]])
