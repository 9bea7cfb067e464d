"""Interpolation: the background's scores and those of a ranker trained on the target, weighted (paper 001 §3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from rankinite.adapt.held_out import TargetRanker, fit_target_ranker, match_background
from rankinite.checks import check_choice
from rankinite.combine.combination import Combination, blend_of
from rankinite.combine.exact_weights import exact
from rankinite.combine.inexact_weights import powell, stacked
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.identity import check_apart
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.base import Learner
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted

How = Literal["exact", "powell", "lambdarank"]
SMOOTH = 0.2
"""Width of the window over which the exact curve is averaged: a peak on a few queries is chance, a broad hill is not."""


def interpolate(
    backgrounds: Scorer | Sequence[Scorer],
    target: Dataset,
    valid: Dataset | None = None,
    *,
    measure: Measure | str = "ndcg@10",
    how: How | None = None,
    own: Sequence[TargetRanker] | None = None,
    learner: Learner | None = None,
    folds: int = 5,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Fitted:
    """Weigh background rankers and one trained on the target alone by what they do on queries held out.

    ``how``: "exact" follows every crossing (two rankers), "powell" searches all weights together, "lambdarank" trains them by
    gradient; exact for two and powell for more if left out. ``own``: rankers of the target that are trained already;
    ``learner``: how one is trained if none is given. Queries that ``target`` and ``valid`` share are refused
    unless ``allow_overlap`` is true.
    """
    check_apart({"target": target}, {"valid": valid}, allow_overlap=allow_overlap)
    target = without_weightless(target)
    known = [match_background(background, target) for background in _listed(backgrounds)]
    chosen = _search_for(how, len(known) + (1 if own is None else len(own)))
    if own is None:
        maker = learner or target_learner(measure, seed, target.rows)
        own = [fit_target_ranker(maker, target, valid, folds=folds, seed=seed)]
    rankers: list[Scorer] = [*known, *(_Known(part.scores) for part in own)]
    unseen = own[0].unseen
    found = _weights(rankers, unseen, measure, chosen)
    return _plainest(blend_of(found.weights, [*known, *(part.ranker for part in own)], unseen), known)


def _listed(backgrounds: Scorer | Sequence[Scorer]) -> tuple[Scorer, ...]:
    return tuple(backgrounds) if isinstance(backgrounds, Sequence) else (backgrounds,)


def target_learner(measure: Measure | str, seed: int = 0, rows: int = 1000) -> LambdaMART:
    """How the ranker of the target is trained.

    There are few queries, so trees are small and drawn at the nodes (001 §5.3); if there are few rows, leaves are small too.
    """
    min_rows = max(1, min(20, rows // 6))  # so that trees can be grown on the rows that folds leave
    drawn: dict[str, Any] = {"node_row_share": 0.7, "node_feature_share": 0.3}
    return LambdaMART.plain(measure=measure, trees=500, leaves=10, rate=0.1, min_rows=min_rows, seed=seed, **drawn)


def _search_for(how: How | None, rankers: int) -> How:
    """How to find the weights of this number of rankers."""
    chosen = how or ("exact" if rankers == 2 else "powell")
    check_choice("interpolate", "how", chosen, get_args(How))
    if rankers < 2:
        raise ArgumentError("there is no background to interpolate with", value=rankers, remedy="Give at least one ranker")
    if chosen == "exact" and rankers != 2:
        raise ArgumentError(
            f"weighs two rankers, but there are {rankers}",
            owner="interpolate",
            setting="how",
            value=chosen,
            remedy="Give `how='powell'` or 'lambdarank'",
        )
    return chosen


def _weights(rankers: Sequence[Scorer], unseen: Dataset, measure: Measure | str, how: How) -> Combination:
    if how == "exact":
        first, second = rankers
        return exact(first, second, unseen, measure, form="convex", range=(0.0, 1.0), normalise=True, smooth=SMOOTH)
    return powell(rankers, unseen, measure) if how == "powell" else stacked(rankers, unseen, measure)


def _plainest(blend: Fitted, backgrounds: Sequence[Scorer]) -> Fitted:
    """The blend, or where only one background has a weight, that background itself, unchanged to the bit."""
    parts = blend.inside()
    alone = parts[0] if len(parts) == 1 else None
    if alone is None or alone.weight is None or alone.weight <= 0.0:
        return blend
    ranker: Any = alone.ranker
    return ranker if any(ranker is background for background in backgrounds) else blend


class _Known:
    """Scores that are known already, as a ranker."""

    def __init__(self, scores: Floats) -> None:
        self.scores = scores

    def score(self, data: Dataset, /) -> Floats:
        """The scores, one per row of the data they were made for."""
        assert len(self.scores) == data.rows
        return np.asarray(self.scores)
