"""Contributions to the scores of stacks whose top is linear: those of the parts, by the top's weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.models.explanations.contributions import (
    Contributions,
    Sampling,
    module_of,
    not_split,
    split_scores,
    weighted_sum,
)
from rankinite.models.explanations.response import Response, added_responses
from rankinite.models.linear import Linear

if TYPE_CHECKING:
    from rankinite.models.stack import Stack


def contributions(ranker: Stack, features: Any, sampling: Sampling) -> Contributions:
    """The weighted sum over the parts; refuses a net on top, which mixes their scores."""
    top = ranker.top
    if not isinstance(top, Linear):
        raise not_split("a stack below a net", "The net mixes the scores of its parts")
    parts = [split_scores(part, features, sampling) for part in ranker.parts]
    shift = top.bias - float(np.sum(top.weights * top.centre_of_features))
    return weighted_sum(list(zip(top.weights.tolist(), parts, strict=True)), shift)


def response(ranker: Stack) -> Response | None:
    """That of the weighted sum."""
    weights = ranker.top.weights.tolist()
    return added_responses((weight, module_of(part).response(part)) for weight, part in zip(weights, ranker.parts, strict=True))
