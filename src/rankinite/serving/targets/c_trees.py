"""TreeLayout: trees as the tables of an exported C file."""

from __future__ import annotations

import math

from rankinite.serving.targets.c_sets import SetLayout
from rankinite.trees.structure import LEAF, Trees


class TreeLayout:
    """The nodes of all trees, level by level, the children of a node side by side, and an empty tree at the end.

    A *slot* is a column as nodes ask for it: there is one for nodes where a missing value goes right, another for those where
    it goes left. Behind them comes the 0 of leaves, then one slot for each column of categories, whose nodes have the start of
    their set for a threshold.
    """

    def __init__(self, trees: Trees, columns: list[int], sizes: list[int]) -> None:
        """``columns``: where each feature is in a row; ``sizes``: how many categories it has, 0 for numbers."""
        inner, left, missing_left = (trees.feature != LEAF).tolist(), trees.left.tolist(), trees.missing_left.tolist()
        feature, right, threshold, value = (
            getattr(trees, name).tolist() for name in ("feature", "right", "threshold", "value")
        )
        self.sets = SetLayout(trees, columns, sizes)
        numbers = [node for node in range(len(inner)) if inner[node] and node not in self.sets.slot]
        asked = sorted({(missing_left[node], columns[feature[node]]) for node in numbers})
        slot = {pair: number for number, pair in enumerate(asked)}
        self.columns, self.to_right = [column for _, column in asked], sum(not to_left for to_left, _ in asked)
        self.nodes, self.values, self.roots = list[str](), list[str](), list[int]()
        for root in trees.offsets[:-1].tolist():
            first, order = len(self.nodes), [root]
            self.roots.append(first)
            for node in order:  # grows while it is read
                if inner[node]:
                    place, at = slot.get((missing_left[node], columns[feature[node]]), 0), threshold[node]
                    if node in self.sets.slot:
                        place, at = len(asked) + 1 + self.sets.slot[node], float(self.sets.start[node])
                    self.nodes.append(f"{{{number(at)},{place},{first + len(order)}}}")
                    self.values.append("0")
                    order += [root + left[node], root + right[node]]
                else:
                    self._leaf(value[node])
        self.empty = len(self.nodes)
        self._leaf(-0.0)  # which added to a sum changes no bit of it

    def _leaf(self, value: float) -> None:
        self.nodes.append(f"{{INFINITY,{len(self.columns)},{len(self.nodes)}}}")
        self.values.append(number(value))


def number(value: float) -> str:
    """A double as C has it, with every bit."""
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return value.hex()
