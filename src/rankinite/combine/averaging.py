"""Averages of rankers whose scores were put on one scale (paper 004 §4.3: as good as anything, and the ensemble that won)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from rankinite.checks import check_choice
from rankinite.combine.result import Combination
from rankinite.combine.scored_rankers import Rankers, gather
from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError
from rankinite.measures.base import Measure
from rankinite.models.blend import Blend
from rankinite.models.normalised import Scale, fit_normalised


def average(
    rankers: Rankers,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    scale: Scale = "all",
    weights: Sequence[float] | None = None,
) -> Combination:
    """The mean of the rankers' scores, each scaled first.

    ``scale``: "all" to mean 0 and variance 1 on ``data`` (the numbers are part of the result), "query" within every query,
    "rank" by their order within it. ``weights``: all alike if left out; they count as shares of their sum.
    """
    check_choice("average", "scale", scale, get_args(Scale))
    material = gather(rankers, data, measure)
    shares = np.ones(len(material.rankers)) if weights is None else np.asarray(weights, float)
    if shares.shape != (len(material.rankers),) or not np.isfinite(shares).all() or shares.sum() <= 0.0:
        raise ArgumentError(
            f"must be {len(material.rankers)} numbers with a sum above 0, one per ranker",
            owner="average",
            setting="weights",
            value=weights,
            remedy="Leave them out to weigh all alike",
        )
    shares = shares / shares.sum()
    named = zip(material.rankers, material.names, strict=True)
    parts = [fit_normalised(ranker, material.data, scale, f"ranker {name}") for ranker, name in named]
    ranker = Blend(tuple(zip(shares.tolist(), parts, strict=True)))
    return material.combination(f"average, scaled by {scale}", ranker, shares.tolist())
