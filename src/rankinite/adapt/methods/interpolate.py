"""Interpolation: the background's scores and those of a ranker of the target's own, weighted (paper 001 §3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from rankinite.adapt.held_out import Own, fit_own, matched
from rankinite.checks import check_choice
from rankinite.combine.exact_weights import exact
from rankinite.combine.powell_search import powell
from rankinite.combine.result import Combination, blend_of
from rankinite.combine.stacking import stacked
from rankinite.data.dataset import Dataset
from rankinite.data.overlap import check_apart
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.evaluation.inputs import Scorer
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
    own: Sequence[Own] | None = None,
    learner: Learner | None = None,
    folds: int = 5,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Fitted:
    """Weigh background rankers and one trained on the target alone by what they do on queries held out.

    ``how``: "exact" follows every crossing (two rankers), "powell" searches all weights together, "lambdarank" trains them by
    gradient; exact for two and powell for more if left out. ``own``: rankers of the target's own that are there already;
    ``learner``: how the target's own is trained if none is given. Queries that ``target`` and ``valid`` share are refused
    unless ``allow_overlap`` is true.
    """
    check_apart({"target": target}, {"valid": valid}, allow_overlap=allow_overlap)
    given = tuple(backgrounds) if isinstance(backgrounds, Sequence) else (backgrounds,)
    way = _way(how, len(given) + (1 if own is None else len(own)))
    known = [matched(background, target) for background in given]
    if own is None:
        own = [fit_own(learner or own_learner(measure, seed, target.rows), target, valid, folds=folds, seed=seed)]
    rankers: list[Scorer] = [*known, *(_Known(part.scores) for part in own)]
    unseen = own[0].unseen
    found = _weights(rankers, unseen, measure, way)
    return _told(blend_of(found.weights, [*known, *(part.ranker for part in own)], unseen), known)


def own_learner(measure: Measure | str, seed: int = 0, rows: int = 1000) -> LambdaMART:
    """How the target's own ranker is trained.

    There are few queries, so trees are small and drawn at the nodes (001 §5.3); if there are few rows, so are their leaves.
    """
    min_rows = max(1, min(20, rows // 6))  # so that trees can be grown on what folds leave of them
    drawn: dict[str, Any] = {"node_row_share": 0.7, "node_feature_share": 0.3}
    return LambdaMART(measure=measure, trees=500, leaves=10, rate=0.1, min_rows=min_rows, seed=seed, **drawn)


def _way(how: How | None, rankers: int) -> How:
    """How to find the weights of so many rankers."""
    way = how or ("exact" if rankers == 2 else "powell")
    check_choice("interpolate", "how", way, get_args(How))
    if rankers < 2:
        raise ArgumentError("there is no background to interpolate with. Give at least one ranker.")
    if way == "exact" and rankers != 2:
        raise ArgumentError(f"how='exact' weighs two rankers, but there are {rankers}. Give how='powell' or 'lambdarank'.")
    return way


def _weights(rankers: Sequence[Scorer], unseen: Dataset, measure: Measure | str, how: How) -> Combination:
    if how == "exact":
        first, second = rankers
        return exact(first, second, unseen, measure, form="convex", range=(0.0, 1.0), normalise=True, smooth=SMOOTH)
    return powell(rankers, unseen, measure) if how == "powell" else stacked(rankers, unseen, measure)


def _told(blend: Fitted, backgrounds: Sequence[Scorer]) -> Fitted:
    """The blend; where nothing but one background has a weight, that background itself, to the bit."""
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
        """The scores, one a row of the data they were made for."""
        assert len(self.scores) == data.rows
        return np.asarray(self.scores)
