"""RankLib's texts: ensembles of trees and linear models, as RankLib saves and loads them and as the plugins of engines do.

An ensemble asks ``x <= threshold`` in float32 and rounds the sum to float32 after every tree; a linear model adds in float64.
A missing feature counts as 0. Features are numbers from 1 on. An element's first child must be an element and not white space,
which RankLib drops at the ends of lines alone: so every tag that is not at a line's end is beside its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.engine.kernel import SCORE, Reals
from rankinite.serving.float32 import exact32, floor32
from rankinite.serving.node_table import table_of_nested
from rankinite.serving.target import Twin
from rankinite.trees.structure import LEAF, Trees

ENSEMBLE, LINEAR = "## LambdaMART", "## Linear Regression"
"""The first lines, by which RankLib knows what follows."""
LARGEST = np.finfo(np.float32).max
_TOKEN = re.compile(r"<(/?)(\w+)([^>]*)>|([^<]+)")


@dataclass(slots=True)
class _Tag:
    """An element of the XML: its attributes, its text and the elements in it."""

    name: str
    attributes: str = ""
    text: str = ""
    inside: list[_Tag] = field(default_factory=list["_Tag"])


def ensemble_text(trees: Trees, ids: Sequence[int]) -> str:
    """Trees as an ensemble; ``ids``: the number of each feature."""
    lines = [ENSEMBLE, f"## No. of trees = {len(trees)}", "", "<ensemble>"]
    for number in range(len(trees)):
        lines += [f'\t<tree id="{number + 1}" weight="1.0">', "\t\t<split>"]
        lines += _tree_lines(trees.take(number, number + 1), ids)
        lines += ["\t\t</split>", "\t</tree>"]
    return "\n".join([*lines, "</ensemble>", ""])


def _tree_lines(tree: Trees, ids: Sequence[int]) -> list[str]:
    """The content of a tree's root; children count by position, left before right."""
    threshold, value = floor32(tree.threshold), tree.value.astype(np.float32)
    lines, waiting = list[str](), list[int | str]([0])
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            lines.append(node)
        elif tree.feature[node] == LEAF:
            lines.append(f"\t\t\t<output> {exact32(value[node])} </output>")
        else:
            left, right, at = int(tree.left[node]), int(tree.right[node]), threshold[node]
            if at == -np.inf:  # no float32 goes left: the children change places, and every float32 does
                left, right, at = right, left, LARGEST
            lines += [f"\t\t\t<feature> {ids[tree.feature[node]]} </feature>", f"\t\t\t<threshold> {exact32(at)} </threshold>"]
            lines.append('\t\t\t<split pos="left">')
            waiting += ["\t\t\t</split>", right, '\t\t\t</split>\n\t\t\t<split pos="right">', left]
    return lines


def linear_text(bias: float, weights: Mapping[int, float]) -> str:
    """A linear model: its constant as feature 0, then the weight of each feature."""
    words = [f"{number}:{weight!r}" for number, weight in {0: bias, **weights}.items()]
    return f"{LINEAR}\n## Lambda = 1.0E-10\n{' '.join(words)}\n"


def twin_of(text: str, column_of: Mapping[int, int]) -> Twin:
    """What RankLib computes from a text: float32 for an ensemble, float64 for a linear model."""
    return _linear_twin(text, column_of) if text.startswith(LINEAR) else _ensemble_twin(text, column_of)


def _ensemble_twin(text: str, column_of: Mapping[int, int]) -> Twin:
    trees = _root(text).inside[0].inside
    weights = [np.float32(tree.attributes.partition('weight="')[2].partition('"')[0]) for tree in trees]
    table = table_of_nested([tree.inside[0] for tree in trees], lambda tag: _node(tag, column_of), np.float32)

    def score(matrix: Reals) -> Reals:
        values = table.leaf_values(_zeros(matrix))
        total = np.zeros(len(matrix), np.float32)
        for number, weight in enumerate(weights):
            total = (total.astype(SCORE) + values[:, number].astype(SCORE) * SCORE(weight)).astype(np.float32)
        return total

    return score


def _node(tag: _Tag, column_of: Mapping[int, int]) -> dict[str, Any]:
    first = tag.inside[0]
    if first.name != "feature":
        return {"value": float(first.text)}
    column = column_of[int(first.text)]
    threshold, left, right = tag.inside[1], tag.inside[2], tag.inside[3]
    return {"feature": column, "threshold": float(threshold.text), "missing_left": False, "left": left, "right": right}


def _root(text: str) -> _Tag:
    """The elements of a text without its comments, inside one that has no name."""
    root = _Tag("")
    opened = [root]
    for token in _TOKEN.finditer("\n".join(line for line in text.splitlines() if not line.startswith("#"))):
        end, name, attributes, content = token.groups()
        if content is not None:
            opened[-1].text += content
        elif end:
            opened.pop()
        else:
            tag = _Tag(name, attributes)
            opened[-1].inside.append(tag)
            opened.append(tag)
    return root


def _linear_twin(text: str, column_of: Mapping[int, int]) -> Twin:
    line = next(line for line in text.splitlines() if not line.startswith("#"))
    weights = {int(word.partition(":")[0]): float(word.partition(":")[2]) for word in line.split()}
    return linear_sum(weights.pop(0), {column_of[number]: weight for number, weight in weights.items()})


def linear_sum(bias: float, weights: Mapping[int, float]) -> Twin:
    """The constant + weight × column, column by column, in float64."""

    def score(matrix: Reals) -> Reals:
        rows: npt.NDArray[np.float64] = _zeros(matrix).astype(SCORE)
        total = np.full(len(rows), bias, SCORE)
        for column, weight in weights.items():
            total += weight * rows[:, column]
        return total

    return score


def _zeros(matrix: Reals) -> Reals:
    """Rows with 0 for what is missing."""
    return np.where(np.isnan(matrix), matrix.dtype.type(0), matrix)
