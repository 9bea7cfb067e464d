"""All combinations of two rankers the slow, obvious way: every crossing of every pair, in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import rankinite as rk


def combined(s, t, alpha, form):
    """The combined scores as fractions."""
    own = 1 - alpha if form == "convex" else 1
    return [own * Fraction(float(a)) + alpha * Fraction(float(b)) for a, b in zip(s, t, strict=True)]


def crossings(s, t, data, low, high, form):
    """Every α inside the range at which two documents of a query meet, sorted."""
    found = set()
    for start, end in pairwise(data.offsets):
        for i in range(start, end):
            for j in range(i):
                ahead = Fraction(float(s[i])) - Fraction(float(s[j]))
                slope = Fraction(float(t[i])) - Fraction(float(t[j])) - (ahead if form == "convex" else 0)
                if slope != 0 and low < -ahead / slope < high:
                    found.add(-ahead / slope)
    return sorted(found)


def value(s, t, data, measure, alpha, form):
    """The mean measure at one α; scores are replaced by their ranks, so that nothing is rounded."""
    scores = combined(s, t, Fraction(alpha), form)
    place = {score: number for number, score in enumerate(sorted(set(scores)))}
    return rk.evaluate(data.in_row_order([place[score] for score in scores]), data, [measure])[measure].mean


def intervals(s, t, data, measure, low, high, form):
    """(left end, right end, value) of all intervals between crossings."""
    edges = [Fraction(low), *crossings(s, t, data, low, high, form), Fraction(high)]
    return [(a, b, value(s, t, data, measure, (a + b) / 2, form)) for a, b in pairwise(edges)]
