"""Powell's search for the weights of rankers (paper 001 §3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankinite.checks import check_count
from rankinite.combine.result import Combination
from rankinite.combine.scored_rankers import Rankers, blend_of, gather
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.measures.base import Measure, sign_of


def powell(rankers: Rankers, data: Dataset, measure: Measure | str = "ndcg@10", *, most: int = 2000) -> Combination:
    """Search the weights of all rankers together by line searches along conjugate directions.

    Scores are scaled to unit variance, and the search begins where all weigh the same. It never ends below that. ``most``:
    about the most evaluations of the measure.
    """
    from scipy.optimize import minimize

    check_count("powell", "most", most)
    material = gather(rankers, data, measure)
    units = 1.0 / np.where(material.spreads > 0.0, material.spreads, 1.0)
    sign = sign_of(material.measure)
    best: tuple[float, Floats] = (-np.inf, np.ones(len(units)))

    def cost(weights: Floats) -> float:
        nonlocal best
        value = sign * material.value(material.combined(weights * units)) if np.isfinite(weights).all() else -np.inf
        if value > best[0]:
            best = value, weights.copy()
        return -value if np.isfinite(value) else 1e9

    search: Any = minimize
    search(cost, np.ones(len(units)), method="Powell", options={"maxfev": most, "xtol": 1e-3, "ftol": 1e-6})
    raw = (best[1] * units).tolist()
    return material.combination("powell", blend_of(raw, material.rankers, material.data), raw)
