"""Response: how a score follows one feature while the others stay, where that is known exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from rankinite.data.categories import Vocabulary, union
from rankinite.engine.kernel import Floats


@dataclass(frozen=True, slots=True)
class Response:
    """Between two neighbouring thresholds of a number, a score is a line in it; its slope is the same everywhere."""

    thresholds: Mapping[str, Floats] = field(default_factory=dict[str, Floats])
    """By feature: where the score may jump, in rising order; a value that equals a threshold is on its left."""
    slopes: Mapping[str, float] = field(default_factory=dict[str, float])
    """By feature: what one unit more adds besides; 0 where left out."""
    categories: Mapping[str, Vocabulary] = field(default_factory=dict[str, Vocabulary])
    """By feature: the categories that the score tells apart; all others are scored alike."""


def added_responses(parts: Iterable[tuple[float, Response | None]]) -> Response | None:
    """The response of a weighted sum; None where that of a part is not known."""
    thresholds: dict[str, Floats] = {}
    slopes: dict[str, float] = {}
    categories: dict[str, Vocabulary] = {}
    for weight, part in parts:
        if part is None:
            return None
        for name, cuts in part.thresholds.items():
            thresholds[name] = np.union1d(thresholds[name], cuts) if name in thresholds else cuts
        for name, slope in part.slopes.items():
            slopes[name] = slopes.get(name, 0.0) + weight * slope
        for name, vocabulary in part.categories.items():
            categories[name] = union((categories[name], vocabulary)) if name in categories else vocabulary
    return Response(thresholds, slopes, categories)
