"""Contributions: scores split by feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.checks import check_count, check_seed
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import match_to
from rankinite.models.explained import Explained
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


def contributions_of(ranker: Any, data: Dataset | npt.ArrayLike, permutations: int, seed: int) -> Contributions:
    """The contributions of a ranker whose features are named as in the data."""
    check_count(OWNER, "permutations", permutations, 4)
    check_seed(OWNER, seed)
    matched, _ = match_to(ranker, data) if isinstance(data, Dataset) else (ranker, ())
    return split_scores(matched, data, Sampling(permutations, seed))


def split_scores(ranker: Any, features: Any, sampling: Sampling) -> Contributions:
    """The contributions of a ranker, or of one inside another; refuses rankers whose scores cannot be split."""
    return module_of(ranker).contributions(ranker, features, sampling)


def module_of(ranker: Any) -> Any:
    """The module that splits a ranker's scores."""
    name = ranker.explained_by if isinstance(ranker, Explained) else ""
    if not name:
        kind = type(ranker).__name__
        raise not_split(f"a {kind}", "Nothing is known of its scores but their values")
    return import_module(f"rankinite.models.explanations.{name}")


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
