"""Single features against the pushes of all rows, on plain arrays."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Features, Floats, Indices, kernel


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
