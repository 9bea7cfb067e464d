"""Bins, slow and obvious: values counted in a dictionary, shares as fractions, codes by counting edges."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import groupby, pairwise

LARGEST = float.fromhex("0x1.fffffep127")
"""The largest finite float32."""


def edges(values, most):
    """The edges of one feature, from all its values."""
    counts = Counter(float(value) for value in values if not math.isnan(value))
    distinct = sorted(counts)
    parts = [[value] for value in distinct] if len(distinct) <= most else parted(distinct, counts, most)
    return [between(lower[-1], upper[0]) for lower, upper in pairwise(parts)]


def parted(distinct, counts, most):
    """The bins as lists of values, if there are more values than bins."""
    heavy = heavy_values(counts, most)
    runs = [list(run) for _, run in groupby(distinct, lambda value: value if value in heavy else None)]
    light = [run for run in runs if run[0] not in heavy]
    bins, rows, parts, joining = most - len(heavy), sum(counts[v] for run in light for v in run), [], []
    for run in runs:
        if run[0] in heavy:
            parts.append(joining + run)
            joining = []
            continue
        own = sum(counts[value] for value in run)
        after = len(light) - light.index(run) - 1
        number = math.floor(Fraction(own * bins, rows) + Fraction(1, 2))
        if bins > after:
            number = min(max(number, 1), bins - after)
        rows -= own
        if number == 0:
            joining = run
            continue
        pieces = even_parts(run, counts, number)
        bins -= len(pieces)
        parts += pieces
    if joining:
        parts[-1] = parts[-1] + joining
    return parts


def even_parts(run, counts, number):
    """The values of a run in this many parts, each as close as possible to an even share of what is left."""
    parts = []
    while number > 1 and len(run) > number:
        share = Fraction(sum(counts[value] for value in run), number)
        sizes = [sum(counts[value] for value in run[:end]) for end in range(1, len(run) - number + 2)]
        best = min(range(len(sizes)), key=lambda end: (abs(sizes[end] - share), end))
        parts.append(run[: best + 1])
        run, number = run[best + 1 :], number - 1
    return parts + ([[value] for value in run] if number > 1 else [run])


def heavy_values(counts, most):
    """The values with more rows than an even share of what the heavier ones leave."""
    heavy = set()
    while True:
        rest = sum(count for value, count in counts.items() if value not in heavy)
        more = {value for value, count in counts.items() if count > Fraction(rest, most - len(heavy))} | heavy
        if more == heavy:
            return heavy
        heavy = more


def between(lower, upper):
    if lower == -math.inf:
        return -(2.0**128)
    return LARGEST if upper == math.inf else (lower + upper) / 2


def code(value, own_edges):
    """The number of edges below a value; 255 for a missing one."""
    return 255 if math.isnan(value) else sum(value > edge for edge in own_edges)
