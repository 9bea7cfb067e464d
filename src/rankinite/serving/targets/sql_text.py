"""SQL text: numbers, names and trees as SQLite and DuckDB read them, to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np

from rankinite.engine.kernel import Floats
from rankinite.trees.structure import LEAF, Trees

TINY = 1e-280
"""Decimals of this size and larger ones are read exactly by parsers that compute with a little more than double; SQLite's fails
below 1e-290."""
CLEAR = 0.45
"""How far a decimal may be from the number that it is to be read as, in units of the last place: beside the middle of two
numbers, at 0.5, SQLite rounds wrongly, as its parser computes with 64 bits. 17 digits are always nearer than this."""
STRIDE = 64
"""Tiny numbers are written as products with 2 to minus this power."""


def quoted_name(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(number: float) -> str:
    """A number that is read as a double, and as this one. DuckDB takes numbers without an exponent for decimals."""
    size = abs(number)
    if number == 0.0:
        return "0e0"
    if math.isinf(number):
        return "9e999" if number > 0.0 else "-9e999"
    if size < TINY:
        return _product(number)
    text = repr(number)
    gap = math.ulp(math.nextafter(size, 0.0))
    if abs(Fraction(text) - Fraction(number)) > Fraction(CLEAR * gap):
        text = f"{number:.17g}"
    return text if "e" in text else f"{text.removesuffix('.0')}e0"


def _product(number: float) -> str:
    """A whole number times powers of two, which are all read and multiplied without rounding."""
    share, exponent = math.frexp(number)
    whole = int(math.ldexp(share, 53))
    steps, rest = divmod(53 - exponent, STRIDE)
    return f"({' * '.join([f'{whole}e0', literal(2.0**-rest), *[literal(2.0**-STRIDE)] * steps])})"


def weighted_sum(bias: float, weights: Floats, inputs: Sequence[str | None]) -> str:
    """The sum bias + Σ weight · input, products added in fours as our own nets add them; None: an input that is always 0."""
    products = [None if x is None else f"{literal(weight)} * {x}" for weight, x in zip(weights.tolist(), inputs, strict=True)]
    fours = len(products) // 4 * 4
    groups = [_plus((_plus(products[k : k + 2]), _plus(products[k + 2 : k + 4]))) for k in range(0, fours, 4)]
    return " + ".join([literal(bias), *(text for text in (*groups, *products[fours:]) if text is not None)])


def _plus(texts: Iterable[str | None]) -> str | None:
    there = [text for text in texts if text is not None]
    return f"({' + '.join(there)})" if len(there) > 1 else there[0] if there else None


def cases(trees: Trees, tree: int, condition: Callable[[int, bool], str]) -> str:
    """A tree as CASE expressions; ``condition``: what sends a row to the left of a node, or to its right.

    A CASE follows the larger child of each node to a leaf and asks for the smaller ones on its way, so that a tree of n
    leaves is nested at most log₂ n deep, however deep the tree itself is.
    """
    root, end = trees.offsets[tree : tree + 2].tolist()
    feature, left, right, value = (getattr(trees, name)[root:end].tolist() for name in ("feature", "left", "right", "value"))
    leaves = leaf_counts(feature, left, right)

    def text(node: int) -> str:
        whens = list[str]()
        while feature[node] != LEAF:
            left_is_smaller = leaves[left[node]] <= leaves[right[node]]
            smaller, larger = (left[node], right[node]) if left_is_smaller else (right[node], left[node])
            whens.append(f"WHEN {condition(root + node, left_is_smaller)} THEN {text(smaller)}")
            node = larger
        return f"CASE {' '.join(whens)} ELSE {literal(value[node])} END" if whens else literal(value[node])

    return text(0)


def leaf_counts(feature: list[int], left: list[int], right: list[int]) -> list[int]:
    """How many leaves are below each node of a tree; children come after their parents."""
    counts = [1] * len(feature)
    for node in reversed(range(len(feature))):
        if feature[node] != LEAF:
            counts[node] = counts[left[node]] + counts[right[node]]
    return counts


def deepest_nesting(trees: Trees) -> int:
    """How deeply CASE expressions are nested at most."""
    found = 0
    for root, end in zip(trees.offsets[:-1].tolist(), trees.offsets[1:].tolist(), strict=True):
        feature, left, right = (getattr(trees, name)[root:end].tolist() for name in ("feature", "left", "right"))
        depth, leaves = [0] * len(feature), leaf_counts(feature, left, right)
        for node in reversed(range(len(feature))):
            if feature[node] != LEAF:
                smaller, larger = sorted((left[node], right[node]), key=leaves.__getitem__)
                depth[node] = max(depth[larger], depth[smaller] + 1, 1)
        found = max(found, depth[0])
    return found


LOWEST = literal(float(np.finfo(np.float64).min))
HIGHEST = literal(float(np.finfo(np.float64).max))
