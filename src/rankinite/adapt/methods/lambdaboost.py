"""LambdaBoost from a background: a linear correction, one feature per round (paper 001 §4.1)."""

from __future__ import annotations

from rankinite.adapt.held_out import as_model, fit_tuned, match_background
from rankinite.adapt.methods.smart import BaseScale, rescale
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.identity import check_apart
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.base import Learner
from rankinite.learners.lambdaboost import LambdaBoost
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted


def lambdaboost(
    background: Scorer,
    target: Dataset,
    valid: Dataset | None = None,
    *,
    measure: Measure | str = "ndcg@10",
    scale: BaseScale = None,
    learner: Learner | None = None,
    folds: int = 5,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Fitted:
    """Correct the background's scores linearly; held-out queries decide after how many rounds to end.

    ``learner``: other settings than the paper's 500 rounds at rate 0.5; missing values count as the mean. ``scale`` and
    ``allow_overlap``: as for :func:`rankinite.adapt.smart`.
    """
    check_apart({"target": target}, {"valid": valid}, allow_overlap=allow_overlap)
    target = without_weightless(target)
    maker = LambdaBoost(measure=measure, rounds=500, rate=0.5, patience=100, nan="mean") if learner is None else learner
    base = rescale(background, target, measure, scale)
    adapted = fit_tuned(maker, target, valid, base=base, folds=folds, seed=seed)
    return (
        as_model(match_background(background, target)) if adapted is base else adapted
    )  # no round is best: leave the background unchanged
