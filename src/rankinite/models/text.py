"""Rankers as text that a person can read and that loses no digit. A forest:

    tree 0
    bm25 <= 12.5 or missing [rows 1000, value 0.02, gain 35.1]
      yes: length <= 3.0 [rows 600, value 0.15, gain 4.25]
        yes: leaf 0.25 [rows 300]
        no: leaf 0.05 [rows 300]
      no: leaf -0.2 [rows 400]

At a node that asks for a category it says ``brand in {acme, 'big co'}``.

A linear ranker: one line per feature with its weight. A net: mean and scale of every feature, then the weights of every unit.
Names with anything but letters, digits, dots, dashes and underscores are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankinite.errors import ArgumentError
from rankinite.plurals import counted
from rankinite.trees.structure import LEAF, Trees

if TYPE_CHECKING:
    from rankinite.models.forest import Forest
    from rankinite.models.linear import Linear
    from rankinite.models.net import Net


def forest_text(forest: Forest, first: int | None) -> str:
    """The forest's head and its trees, or the first of them."""
    if first is not None and first < 0:
        raise ArgumentError("must be a whole number from 0 on", owner="text", setting="first", value=first)
    count = len(forest) if first is None else min(first, len(forest))
    size = ", ".join((counted(len(forest), "tree"), counted(len(forest.feature_names), "feature")))
    lines = [
        f"forest: {size}, {counted(forest.outputs, 'output')}",
        f"start: {' '.join(map(repr, forest.start.tolist()))}",
    ]
    if forest.grades is not None:
        lines.append(f"grades: {' '.join(map(repr, forest.grades.tolist()))}")
    for number in range(count):
        lines += ["", f"tree {number}", *_tree_lines(forest, forest.trees.take(number, number + 1))]
    if count < len(forest):
        lines += ["", f"… and {counted(len(forest) - count, 'more tree')}"]
    return "\n".join(lines) + "\n"


def linear_text(ranker: Linear) -> str:
    """Bias, then weight and centre of each feature, and the weight before training where there was one."""
    lines = [f"linear: {counted(len(ranker.feature_names), 'feature')}", f"bias: {ranker.bias!r}", ""]
    begun = [""] * len(ranker.weights) if ranker.before is None else [f" [before {old!r}]" for old in ranker.before.tolist()]
    rows = zip(ranker.feature_names, ranker.weights.tolist(), ranker.centre_of_features.tolist(), begun, strict=True)
    lines += [f"{shown_name(name)}: {weight!r} [centre {centre!r}]{old}" for name, weight, centre, old in rows]
    return "\n".join(lines) + "\n"


def net_text(net: Net) -> str:
    """How features are standardised, then layer by layer and unit by unit all weights."""
    names = [shown_name(name) for name in net.feature_names]
    lines = [
        f"net: {counted(len(names), 'feature')}, hidden units {', '.join(map(str, net.hidden)) or 'none'}",
        "",
        "standardised",
    ]
    lines += [f"{name}: (x - {c!r}) * {s!r}" for name, c, s in zip(names, net.centre.tolist(), net.scale.tolist(), strict=True)]
    layers = net.layers()
    for number, (weights, biases) in enumerate(layers, 1):
        below = names if number == 1 else [f"unit {k}" for k in range(weights.shape[1])]
        last = number == len(layers)
        for unit, (row, bias) in enumerate(zip(weights.tolist(), biases.tolist(), strict=True)):
            lines += ["", "score" if last else f"layer {number}, unit {unit} (tanh)", f"  bias: {bias!r}"]
            lines += [f"  {name}: {weight!r}" for name, weight in zip(below, row, strict=True)]
    return "\n".join(lines) + "\n"


def shown_name(name: str) -> str:
    """A feature's name, quoted unless it is one plain word."""
    return name if re.fullmatch(r"[\w.\-]+", name) else repr(name)


def question(forest: Forest, tree: Trees, node: int, most: int | None = None) -> str:
    """What an inner node of a tree of the forest asks; ``most``: categories to name, all if left out. Nothing of a leaf."""
    feature = int(tree.feature[node])
    if feature == LEAF:
        return ""
    name, missing = forest.feature_names[feature], " or missing" if tree.missing_left[node] else ""
    codes = tree.set_of(node)
    if not codes:
        return f"{shown_name(name)} <= {tree.threshold[node].item()!r}{missing}"
    vocabulary = forest.categories[name].names
    shown = [shown_name(vocabulary[code]) for code in codes[:most]]
    more = "" if len(shown) == len(codes) else f", … {len(codes)} in all"
    return f"{shown_name(name)} in {{{', '.join(shown)}{more}}}{missing}"


def _tree_lines(forest: Forest, tree: Trees) -> Iterator[str]:
    waiting = [(0, 0, "")]  # a stack, not recursion: trees may be deeper than Python's
    while waiting:
        node, depth, answer = waiting.pop()
        yield "  " * depth + answer + _node_text(forest, tree, node)
        if tree.feature[node] != LEAF:
            waiting.append((int(tree.right[node]), depth + 1, "no: "))
            waiting.append((int(tree.left[node]), depth + 1, "yes: "))


def _node_text(forest: Forest, tree: Trees, node: int) -> str:
    feature, value, rows = int(tree.feature[node]), tree.value[node].item(), tree.rows[node]
    if feature == LEAF:
        return f"leaf {value!r} [rows {rows}]"
    return f"{question(forest, tree, node)} [rows {rows}, value {value!r}, gain {tree.gain[node].item()!r}]"
