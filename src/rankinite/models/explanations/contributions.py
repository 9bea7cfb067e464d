"""Contributions: scores split by feature; Response: how a score follows one feature while the others stay.

Each kind of ranker splits its scores itself (``split_scores``) and says how they respond (``response``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankinite.data.categories import Vocabulary, union
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.errors import ArgumentError
from rankinite.plurals import counted

OWNER = "contributions"
REMEDY = "Explain a ranker inside it, or distil it into one forest with `rankinite.distil` and explain that"


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What every feature adds to every score; ``base`` plus a row's values is its score."""

    values: Floats
    """Rows × features: Shapley values. Those of a regrouped Dataset are in its order: see ``Dataset.to_input_order``."""
    base: float
    """The model's mean: the score where no feature is known."""
    feature_names: tuple[str, ...]
    """The features, by column."""
    errors: Floats | None = None
    """The standard error of each value, where values were sampled; None: they are exact."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))
        if self.errors is not None:
            object.__setattr__(self, "errors", frozen(self.errors))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        exact = "exact" if self.errors is None else "sampled"
        return f"<Contributions: {counted(len(self), 'row')}, {counted(len(self.feature_names), 'feature')}, {exact}>"

    @property
    def scores(self) -> Floats:
        """The scores that the values add up to."""
        return self.base + self.values.sum(axis=1)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How contributions are sampled where there are too many features for exact ones."""

    permutations: int = 200
    """Orders in which features become known; every other one is the reverse of the one before."""
    seed: int = 0


def not_split(what: str, rule: str, remedy: str = REMEDY) -> ArgumentError:
    """The error for a ranker whose scores cannot be split by feature."""
    return ArgumentError(f"the scores of {what} cannot be split by feature", place=OWNER, value=what, rule=rule, remedy=remedy)


def weighted_sum(parts: Sequence[tuple[float, Contributions]], shift: float = 0.0) -> Contributions:
    """The contributions of a weighted sum of scores and a constant; features of the same name are one.

    Standard errors add up, as those of parts that were sampled by the same orders are not independent.
    """
    names = tuple(dict.fromkeys(name for _, part in parts for name in part.feature_names))
    column = {name: place for place, name in enumerate(names)}
    values = np.zeros((len(parts[0][1]), len(names)), SCORE)
    errors = np.zeros_like(values) if any(part.errors is not None for _, part in parts) else None
    for weight, part in parts:
        places = [column[name] for name in part.feature_names]
        values[:, places] += weight * part.values
        if errors is not None and part.errors is not None:
            errors[:, places] += abs(weight) * part.errors
    return Contributions(values, shift + sum(weight * part.base for weight, part in parts), names, errors)


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
