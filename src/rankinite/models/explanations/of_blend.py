"""Contributions to the scores of blends: those of the parts, by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankinite.models.explanations.contributions import Contributions, Sampling, module_of, split_scores, weighted_sum
from rankinite.models.explanations.response import Response, added_responses

if TYPE_CHECKING:
    from rankinite.models.blend import Blend


def contributions(ranker: Blend, features: Any, sampling: Sampling) -> Contributions:
    """The weighted sum over the parts."""
    return weighted_sum([(weight, split_scores(part, features, sampling)) for weight, part in ranker.parts])


def response(ranker: Blend) -> Response | None:
    """That of the weighted sum."""
    return added_responses((weight, module_of(part).response(part)) for weight, part in ranker.parts)
