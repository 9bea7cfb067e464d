"""Mean, spread and bounds of every feature, on plain arrays."""

from __future__ import annotations

import numpy as np

from rankinite.engine.kernel import Features, Floats, Indices, kernel


@kernel
def sum_features(features: Features, rows: Indices, centre: Floats, out: Floats) -> None:
    """Of each feature, over these rows in this order: Σ (x − centre), Σ (x − centre)², values known, lowest, highest.

    ``out`` has shape (5, features). Missing values (NaN) do not count.
    """
    out[:3] = 0.0
    out[3], out[4] = np.inf, -np.inf
    for row in rows:
        values = features[row]
        for f in range(len(values)):
            value = np.float64(values[f])
            if not np.isnan(value):
                away = value - centre[f]
                out[0, f] += away
                out[1, f] += away * away
                out[2, f] += 1.0
                out[3, f], out[4, f] = min(out[3, f], value), max(out[4, f], value)
