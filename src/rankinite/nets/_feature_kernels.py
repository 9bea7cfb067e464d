"""Sums over single features, on plain arrays: mean, spread and bounds; products with the pushes of all rows."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Features, Floats, Indices, kernel


@kernel
def sum_features(features: Features, rows: Indices, weights: Floats, centre: Floats, out: Floats) -> None:
    """Of each feature, over these rows in this order: Σ w (x − centre), Σ w (x − centre)², Σ w, lowest x, highest x.

    ``weights``: w of each row of the data. ``out`` has shape (5, features). Missing values (NaN) do not count.
    """
    out[:3] = 0.0
    out[3], out[4] = np.inf, -np.inf
    for row in rows:
        values, weight = features[row], weights[row]
        for f in range(len(values)):
            value = np.float64(values[f])
            if not np.isnan(value):
                away = value - centre[f]
                out[0, f] += weight * away
                out[1, f] += weight * away * away
                out[2, f] += weight
                out[3, f], out[4, f] = min(out[3, f], value), max(out[4, f], value)


@kernel
def add_products(
    features: Features, rows: Indices, centre: Floats, push: Floats, first: int, last: int, out_sums: Floats
) -> None:
    """Add Σ push · (feature − centre) over rows[first … last−1], in this order, to ``out_sums``, shape (features,).

    A missing value (NaN) counts as the centre.
    """
    for place in range(first, last):
        row = rows[place]
        row_push = push[row]
        if row_push == 0.0:
            continue
        values = features[row]
        for f in range(len(out_sums)):
            away = np.float64(values[f]) - centre[f]
            out_sums[f] += 0.0 if np.isnan(away) else row_push * away


@kernel
def add_column(features: Features, feature: int, centre: float, factor: float, out_scores: Floats) -> None:
    """Add factor · (feature − centre) to the score of every row. A missing value (NaN) counts as the centre."""
    for row in range(len(out_scores)):
        away = np.float64(features[row, feature]) - centre
        if not np.isnan(away):
            out_scores[row] += factor * away
