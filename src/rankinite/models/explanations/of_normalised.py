"""Contributions to scaled scores: those of the ranker inside, where all scores are divided by one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankinite.models.explanations.contributions import (
    Contributions,
    Sampling,
    module_of,
    not_split,
    split_scores,
    weighted_sum,
)
from rankinite.models.explanations.response import Response, added_responses

if TYPE_CHECKING:
    from rankinite.models.normalised import Normalised


def contributions(ranker: Normalised, features: Any, sampling: Sampling) -> Contributions:
    """Those of its ranker, divided by the spread; refuses scales that are no multiples of its scores."""
    if ranker.scale != "all":
        raise not_split(
            f"a ranker scaled by {ranker.scale}",
            "They are no sums of what features add"
            if ranker.scale == "probability"
            else "They depend on the other documents of the query",
            "Explain the ranker inside it (its `.ranker`), which puts the documents of a query in the same order",
        )
    inside = split_scores(ranker.ranker, features, sampling)
    return weighted_sum([(1.0 / ranker.spread, inside)], -ranker.centre / ranker.spread)


def response(ranker: Normalised) -> Response | None:
    """That of its ranker, divided by the spread."""
    return added_responses([(1.0 / ranker.spread, module_of(ranker.ranker).response(ranker.ranker))])
