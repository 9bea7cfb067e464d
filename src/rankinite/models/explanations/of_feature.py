"""Contributions to the scores of a single feature: the score itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankinite.data.dataset import Dataset
from rankinite.models.explanations.contributions import Contributions, Sampling
from rankinite.models.explanations.response import Response

if TYPE_CHECKING:
    from rankinite.models.feature import Feature


def contributions(ranker: Feature, features: Any, _sampling: Sampling) -> Contributions:
    """The feature's own score; a column has no mean in the model, so that the base is 0."""
    named = isinstance(features, Dataset) and isinstance(ranker.feature, int)
    name = features.feature_names[features.feature_index(ranker.feature)] if named else str(ranker.feature)
    return Contributions(ranker.score(features)[:, None], 0.0, (name,))


def response(ranker: Feature) -> Response | None:
    """A line; not known for a column that is given by its position alone."""
    return Response(slopes={ranker.feature: -1.0 if ranker.ascending else 1.0}) if isinstance(ranker.feature, str) else None
