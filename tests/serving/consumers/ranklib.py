"""RankLib, by an evaluator of its format."""

from __future__ import annotations

from oracles.ranklib_models import ranklib_scores


def scores(cases):
    """Features are numbered by position, from 1 on, unless their names are numbers."""
    found = []
    for case in cases:
        numbers = [int(name) if name.isdecimal() else place + 1 for place, name in enumerate(case.plan.names)]
        vectors = [dict(zip(numbers, row, strict=True)) for row in case.matrix]
        found.append(ranklib_scores(case.files["model.txt"].decode(), vectors))
    return found
