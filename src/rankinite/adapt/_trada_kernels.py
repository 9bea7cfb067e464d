"""Sending target rows down a tree, on plain arrays."""

from __future__ import annotations

import numpy as np

from rankinite.kernel import Features, Flags, Floats, Indices, kernel


@kernel
def send_down(
    feature: Indices,
    threshold: Floats,
    missing_left: Flags,
    left: Indices,
    right: Indices,
    features: Features,
    push: Floats,
    curvature: Floats,
    first: int,
    last: int,
    out_sums: Floats,
    out_leaf: Indices,
) -> None:
    """Of the rows first … last−1: how many come by each node, Σ push and Σ curvature there; and where each row ends.

    The tree's arrays have one entry a node; ``push``, ``curvature`` and ``out_leaf`` one a row; ``out_sums``: (3, nodes).
    """
    for row in range(first, last):
        values = features[row]
        node = 0
        while True:
            out_sums[0, node] += 1.0
            out_sums[1, node] += push[row]
            out_sums[2, node] += curvature[row]
            if feature[node] < 0:
                break
            value = float(values[feature[node]])
            goes_left = missing_left[node] if np.isnan(value) else value <= threshold[node]
            node = left[node] if goes_left else right[node]
        out_leaf[row] = node


@kernel
def best_cut(values: Floats, push: Floats, curvature: Floats) -> float:
    """The threshold with the highest Σ push² / Σ curvature of both sides, NaN where no cut gains anything.

    ``values`` rise; a cut is halfway between two different ones. For curvature 1 that is least squares.
    """
    total, weight = 0.0, 0.0
    for k in range(len(values)):
        total += push[k]
        weight += curvature[k]
    best, cut = total * total / weight if weight > 0.0 else 0.0, float("nan")
    best += 1e-12 * abs(best)
    left, own = 0.0, 0.0
    for k in range(len(values) - 1):
        left += push[k]
        own += curvature[k]
        if values[k] < values[k + 1] and own > 0.0 and weight - own > 0.0:
            gain = left * left / own + (total - left) * (total - left) / (weight - own)
            if gain > best:
                best, cut = gain, 0.5 * (values[k] + values[k + 1])
    return cut
