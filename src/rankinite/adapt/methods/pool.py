"""Pooling: background and target data train on together, the target's queries weighted (paper 003 §5.3)."""

from __future__ import annotations

import numpy as np

from rankinite.adapt.grade_scales import check_scales
from rankinite.adapt.held_out import PREFIX, train
from rankinite.checks import check_positive
from rankinite.data.dataset import Dataset
from rankinite.data.identity import check_apart
from rankinite.data.joining import check_same_features, concat
from rankinite.learners.base import Learner
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted


def pool(
    background_data: Dataset,
    target: Dataset,
    valid: Dataset | None = None,
    *,
    weight: float = 1.0,
    measure: Measure | str = "ndcg@10",
    learner: Learner | None = None,
    same_scale: bool = False,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Fitted:
    """Train on both data sets, every target query counting ``weight`` times.

    ``same_scale``: the grades of both mean the same even if they do not look so. Queries of ``valid`` that are in one of them
    are refused unless ``allow_overlap`` is true.
    """
    learnt = {"background_data": background_data, "target": target}
    check_apart(learnt, {"valid": valid}, allow_overlap=allow_overlap)
    check_positive("pool", "weight", weight)
    check_same_features(target, background_data)
    check_scales(background_data, target, same_scale=same_scale)
    maker = LambdaMART.plain(measure=measure, trees=300, leaves=12, rate=0.1, seed=seed) if learner is None else learner
    return train(maker, pool_data(background_data, target, weight), valid)


def pool_data(background_data: Dataset, target: Dataset, weight: float) -> Dataset:
    """Both data sets as one."""
    both = concat([background_data, target], prefixes=(PREFIX, ""))
    first, second = (np.ones(data.queries) if data.weights is None else data.weights for data in (background_data, target))
    return both.with_weights(np.concatenate([first, weight * second]))
