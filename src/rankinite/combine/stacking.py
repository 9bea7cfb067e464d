"""Stacking: LambdaRank trained on the scores of rankers (papers 001 §3, 004 §4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankinite.combine.result import Combination
from rankinite.combine.scored_rankers import Rankers, ScoredRankers, blend_of, gather, sketch_of
from rankinite.data.dataset import Dataset
from rankinite.data.overlap import check_apart
from rankinite.engine.kernel import FEATURE
from rankinite.errors import MeasureError
from rankinite.learners.lambdarank import LambdaRank
from rankinite.measures.base import Measure, TrainableMeasure
from rankinite.models.blend import Blend
from rankinite.models.linear import Linear
from rankinite.models.net import Net
from rankinite.models.stack import Stack


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
    material = gather(rankers, data, measure)
    if not isinstance(material.measure, TrainableMeasure):
        problem, remedy = f"{material.measure} cannot be trained for", "Stack with ndcg, dcg, err, ap or rr"
        raise MeasureError(problem, value=str(material.measure), remedy=remedy)
    maker = learner or LambdaRank(measure=material.measure, hidden=tuple(hidden), rate=0.003, seed=seed)
    other = None if valid is None else gather(rankers, valid, measure)
    train, judge = _scores_as_features(material), None if other is None else _scores_as_features(other)
    if not maker.hidden:
        weights = _linear_weights(maker, material, train, judge)
        return material.combination("stacked, linear", blend_of(weights, material.rankers, material.data), weights)
    top = maker.fit(train, judge, allow_overlap=True)  # scores of different queries may be the same
    assert isinstance(top, Net)
    top = replace(top, sketch=None)  # made of scores, by which queries cannot be known again
    units = ", ".join(map(str, maker.hidden))
    return material.combination(f"stacked, {units} hidden units", Stack(material.rankers, top, sketch_of(material.data)), ())


def _linear_weights(maker: LambdaRank, material: ScoredRankers, train: Dataset, judge: Dataset | None) -> tuple[float, ...]:
    """Those of the average of scaled scores, and what training adds to them."""
    spreads = np.where(material.spreads > 0.0, material.spreads, 1.0)
    average = Linear(material.names, 1.0 / (len(spreads) * spreads))
    trained = maker.fit(train, judge, base=average, allow_overlap=True)
    assert isinstance(trained, Blend)
    correction = trained.parts[-1][1]
    assert isinstance(correction, Linear)
    return tuple((average.weights + correction.weights).tolist())


def _scores_as_features(material: ScoredRankers) -> Dataset:
    return replace(material.data, features=material.scores.T.astype(FEATURE), feature_names=material.names)
