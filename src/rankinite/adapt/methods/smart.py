"""LambdaSMART: boosting that starts from the background ranker (papers 000 §3 and §5.5, 001 §4.2)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from rankinite.adapt.held_out import as_model, fit_tuned, match_background
from rankinite.data.dataset import Dataset, without_weightless
from rankinite.data.identity import check_apart
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer, scores_of
from rankinite.gradients.lambdas import Lambdas
from rankinite.learners.base import Learner
from rankinite.learners.boosting import Preset
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures.base import Measure, require_trainable
from rankinite.measures.spelling import one_measure
from rankinite.models.base import Fitted
from rankinite.models.blend import Blend

BaseScale = float | Literal["fit"] | None
PAPER_RATE, LOW_RATE = 0.1, 0.02
FEW_QUERIES = 300
"""With so many target queries or fewer, small steps are better."""
WIDEST = 100.0
"""A fitted scale gives the background's scores a standard deviation of at most this, and at least one part in it."""


def smart(
    background: Scorer,
    target: Dataset,
    valid: Dataset | None = None,
    *,
    measure: Measure | str = "ndcg@10",
    scale: BaseScale = "fit",
    learner: Learner | None = None,
    folds: int = 5,
    seed: int = 0,
    allow_overlap: bool = False,
) -> Fitted:
    """Boost trees from the background's scores; held-out queries decide how many; if none is best, the background stays.

    ``learner``: other settings than the default, which has the trees of paper 000 (500 of 20 leaves, 70 % of the rows drawn
    for each), our λ and splits, and a rate that suits the number of target queries (``rate_for``). ``scale``: what the
    background's scores are multiplied by first: a small scale lets the trees change more. "fit", which the papers do not
    have, takes the one under which its scores best predict, by the pair cost, which of two documents is better; None leaves
    them as they are, and the result is one forest where the background is one. As in the paper:
    ``smart(…, learner=rows_drawn(measure, preset="paper"), scale=None)``.
    Queries that ``target`` and ``valid`` share are refused unless ``allow_overlap`` is true.
    """
    check_apart({"target": target}, {"valid": valid}, allow_overlap=allow_overlap)
    target = without_weightless(target)
    maker = replace(rows_drawn(measure, seed), rate=rate_for(target.queries)) if learner is None else learner
    base = rescale(background, target, measure, scale)
    adapted = fit_tuned(maker, target, valid, base=base, folds=folds, seed=seed)
    return (
        as_model(match_background(background, target)) if adapted is base else adapted
    )  # no tree is best: leave the background unchanged


def rate_for(queries: int) -> float:
    """The paper's rate for many target queries; for few a fifth of it, which was better on six pairs of domains and six worlds.

    With many queries, 500 trees at the lower rate do not get far enough. ``python -m papers 001 settings`` compares them.
    """
    return LOW_RATE if queries <= FEW_QUERIES else PAPER_RATE


def rows_drawn(measure: Measure | str, seed: int = 0, *, preset: Preset = "plain") -> LambdaMART:
    """The trees of paper 000 §5.5; with ``preset="paper"`` its λ and splits too."""
    return LambdaMART.preset(preset, measure=measure, trees=500, leaves=20, rate=PAPER_RATE, row_share=0.7, seed=seed)


def nodes_drawn(measure: Measure | str, seed: int = 0, *, preset: Preset = "plain") -> LambdaMART:
    """The trees of paper 001 §5.3, grown in fast steps with rows and features drawn for every split; ``preset``: as above."""
    shares = {"node_row_share": 0.7, "node_feature_share": 0.7}
    return LambdaMART.preset(preset, measure=measure, trees=500, leaves=20, rate=0.5, seed=seed, **shares)


def rescale(background: Scorer, target: Dataset, measure: Measure | str, scale: BaseScale) -> Scorer:
    """The background, its features found in the target, with scores on another scale."""
    background, asked = match_background(background, target), cast(Any, scale)
    if asked is None or asked == 1.0:
        return background
    factor = fitted_scale(background, target, measure) if asked == "fit" else asked
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not (math.isfinite(factor) and factor > 0.0):
        remedy = "Give `scale=None` to leave the scores as they are"
        raise ArgumentError("must be a number above 0 or 'fit'", setting="scale", value=scale, remedy=remedy)
    return Blend(((float(factor), background),))


def fitted_scale(background: Scorer, target: Dataset, measure: Measure | str) -> float:
    """The c at which Σ λ(c·s)·s = 0: stretching all scores further would neither help nor harm, by the λ-gradients."""
    scores = scores_of(background, target, "background")
    spread = float(np.sort(scores).std())
    if spread == 0.0:
        return 1.0
    objective = Lambdas(target, require_trainable(one_measure("smart", "measure", measure)))

    def slope(factor: float) -> float:
        push, curvature = np.empty((1, target.rows)), np.empty((1, target.rows))
        objective.gradients(np.ascontiguousarray((factor * scores)[None]), push, curvature)
        return float(np.sort(push[0] * scores).sum())

    return _root(slope, 1.0 / (WIDEST * spread), WIDEST / spread)


def _root(slope: Any, low: float, high: float) -> float:
    """Where a falling function is 0, by halving the logarithms; the nearer end where it has no zero."""
    for _ in range(40):
        middle = math.sqrt(low * high)
        if slope(middle) > 0.0:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)
