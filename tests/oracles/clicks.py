"""The balance of pairs of clicks, one pair at a time, straight from its definition."""

from __future__ import annotations

from math import exp


def balance(data, scores, slope=1.0):
    """The left and the right side of the balance at each two positions, as functions of θ; by position pairs."""
    sums: dict[tuple[int, int], list[float]] = {}
    for query in range(data.queries):
        rows = range(int(data.offsets[query]), int(data.offsets[query + 1]))
        for a in rows:
            for b in rows:
                i, j = int(data.positions[a]), int(data.positions[b])
                if i != j and data.grades[a] > 0:
                    rho = 1 / (1 + exp(slope * (scores[a] - scores[b])))
                    pair = sums.setdefault((i, j), [0.0, 0.0])
                    pair[0] += rho
                    pair[1] += rho if data.grades[b] > 0 else 0.0
    return sums
