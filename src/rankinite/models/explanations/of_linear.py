"""Contributions to the scores of linear rankers: weight × (value − centre)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.engine.kernel import SCORE, Floats
from rankinite.models.explanations.contributions import Contributions, Sampling
from rankinite.models.explanations.response import Response
from rankinite.models.inputs import located

if TYPE_CHECKING:
    from rankinite.models.linear import Linear
    from rankinite.models.weighted import Weighted


def contributions(ranker: Linear, features: Any, _sampling: Sampling) -> Contributions:
    """What every feature adds to the weighted sum; a missing value has the centre, and adds nothing."""
    away = filled_matrix(ranker, features, ranker.centre_of_features) - ranker.centre_of_features
    return Contributions(ranker.weights * away, ranker.bias, ranker.feature_names)


def response(ranker: Linear) -> Response:
    """Lines."""
    return Response(slopes=ranker.by_feature())


def filled_matrix(ranker: Weighted, features: Any, centre: Floats) -> Floats:
    """The ranker's features in float64, missing values replaced; refuses what the ranker would not score."""
    ranker.score(features)
    matrix, columns = located(features, ranker.feature_names)
    wide = (matrix if columns is None else matrix[:, columns]).astype(SCORE)
    return np.where(np.isnan(wide), centre, wide)
