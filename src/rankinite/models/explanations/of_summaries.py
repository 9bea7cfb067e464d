"""Contributions to the scores of rankers with query summaries: summaries are features like the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankinite.models.base import names_of
from rankinite.models.explanations.contributions import Contributions, Sampling, split_scores
from rankinite.models.explanations.response import Response
from rankinite.models.inputs import NamedMatrix

if TYPE_CHECKING:
    from rankinite.models.query_summaries import QuerySummaries


def contributions(ranker: QuerySummaries, features: Any, sampling: Sampling) -> Contributions:
    """Those of the features and summaries of the ranker on top."""
    return split_scores(ranker.top, NamedMatrix(ranker.extended(features, None), names_of(ranker.top)), sampling)


def response(_ranker: QuerySummaries) -> Response | None:
    """Not known: a feature also changes the summaries."""
    return None
