"""Mean, spread and bounds of every feature, on plain arrays."""

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
