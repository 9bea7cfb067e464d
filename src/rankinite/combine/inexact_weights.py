"""Ways to combine that follow no crossings: averages, Powell's search, and LambdaRank on the scores (papers 001 §3, 004 §4.3).

A plain average of scaled scores is as good as anything in paper 004, and the ensemble that won was one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from rankinite.checks import check_choice, check_count
from rankinite.choices import Scale
from rankinite.combine.combination import Combination, Rankers, ScoredRankers, blend_of, score_rankers, sketch_of
from rankinite.data.dataset import Dataset
from rankinite.data.identity import check_apart
from rankinite.engine.kernel import FEATURE, Floats
from rankinite.errors import ArgumentError, MeasureError
from rankinite.learners.lambdarank import LambdaRank
from rankinite.measures.base import Measure, TrainableMeasure, sign_of
from rankinite.models.blend import Blend
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.models.normalised import fit_normalised
from rankinite.models.stack import Stack


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
    scored = score_rankers(rankers, data, measure)
    shares = np.ones(len(scored.rankers)) if weights is None else np.asarray(weights, float)
    if shares.shape != (len(scored.rankers),) or not np.isfinite(shares).all() or shares.sum() <= 0.0:
        raise ArgumentError(
            f"must be {len(scored.rankers)} numbers with a sum above 0, one per ranker",
            owner="average",
            setting="weights",
            value=weights,
            remedy="Leave them out to weigh all alike",
        )
    shares = shares / shares.sum()
    named = zip(scored.rankers, scored.names, strict=True)
    parts = [fit_normalised(ranker, scored.data, scale, f"ranker {name}") for ranker, name in named]
    ranker = Blend(tuple(zip(shares.tolist(), parts, strict=True)))
    return scored.combination(f"average, scaled by {scale}", ranker, shares.tolist())


def powell(rankers: Rankers, data: Dataset, measure: Measure | str = "ndcg@10", *, most: int = 2000) -> Combination:
    """Search the weights of all rankers together by line searches along conjugate directions.

    Scores are scaled to unit variance, and the search begins where all weigh the same. It never ends below that. ``most``:
    about the most evaluations of the measure.
    """
    from scipy.optimize import minimize

    check_count("powell", "most", most)
    scored = score_rankers(rankers, data, measure)
    units, sign = scored.even_weights(), sign_of(scored.measure)
    best: tuple[float, Floats] = (-np.inf, np.ones(len(units)))

    def cost(weights: Floats) -> float:
        nonlocal best
        value = sign * scored.value(scored.weighted_sum(weights * units)) if np.isfinite(weights).all() else -np.inf
        if value > best[0]:
            best = value, weights.copy()
        return -value if np.isfinite(value) else 1e9

    search: Any = minimize
    search(cost, np.ones(len(units)), method="Powell", options={"maxfev": most, "xtol": 1e-3, "ftol": 1e-6})
    weights = (best[1] * units).tolist()
    return scored.combination("powell", blend_of(weights, scored.rankers, scored.data), weights)


def stacked(
    rankers: Rankers,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    hidden: Sequence[int] = (),
    valid: Dataset | None = None,
    learner: LambdaRank | None = None,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Combination:
    """Train LambdaRank on the rankers' scores: linear, beginning at their average, or a net with ``hidden`` tanh units.

    ``valid``: other data, on which the best epoch is chosen; if left out, the training data decide. ``learner``: other
    settings; its ``measure``, ``hidden`` and ``seed`` then count. A linear result is an ordinary blend. Queries that ``data``
    and ``valid`` share are refused unless ``allow_overlap`` is true.
    """
    check_apart({"data": data}, {"valid": valid}, allow_overlap=allow_overlap)
    scored = score_rankers(rankers, data, measure)
    if not isinstance(scored.measure, TrainableMeasure):
        problem, remedy = f"{scored.measure} cannot be trained for", "Stack with ndcg, dcg, err, ap or rr"
        raise MeasureError(problem, value=str(scored.measure), remedy=remedy)
    learner = learner or LambdaRank(measure=scored.measure, hidden=tuple(hidden), rate=0.003, seed=seed)
    train = _scores_as_features(scored)
    judge = None if valid is None else _scores_as_features(score_rankers(rankers, valid, measure))
    if learner.hidden:
        net = learner.fit(train, judge, allow_overlap=True)  # scores of different queries may be the same
        assert isinstance(net, Net)
        net = replace(net, sketch=None)  # made of scores, by which queries cannot be known again
        units = ", ".join(map(str, learner.hidden))
        stack = Stack(scored.rankers, net, sketch_of(scored.data))
        return scored.combination(f"stacked, {units} hidden units", stack, ())
    spreads = np.where(scored.spreads > 0.0, scored.spreads, 1.0)
    start = Linear(scored.names, 1.0 / (len(spreads) * spreads))  # the average of scaled scores
    trained = learner.fit(train, judge, base=start, allow_overlap=True)
    assert isinstance(trained, Blend)
    correction = trained.parts[-1][1]
    assert isinstance(correction, Linear)
    weights = tuple((start.weights + correction.weights).tolist())
    return scored.combination("stacked, linear", blend_of(weights, scored.rankers, scored.data), weights)


def _scores_as_features(scored: ScoredRankers) -> Dataset:
    return replace(scored.data, features=scored.scores.T.astype(FEATURE), feature_names=scored.names)
