"""PermutationImportance: what a measure loses when the values of a feature are shuffled within queries, for any ranker."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.checks import check_count, check_seed
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.errors import ArgumentError
from rankinite.evaluation.scorers import Scorer, match_to, scores_of
from rankinite.evaluation.significance import exact_mean, paired_differences, t_interval
from rankinite.evaluation.values import mean_of, values_per_query
from rankinite.frames import finite
from rankinite.grid import Grid, number, percent
from rankinite.measures.base import Measure, sign_of
from rankinite.measures.conventions import convention
from rankinite.measures.spelling import one_measure
from rankinite.models.base import Fitted, names_of
from rankinite.models.explanations.query import CONVENTION
from rankinite.models.explanations.shuffles import shuffles
from rankinite.plurals import agreeing, counted
from rankinite.short_names import short_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes


OWNER = "permutation_importance"
SHOWN = 20
"""Features that are printed."""


@dataclass(frozen=True, slots=True)
class FeatureLoss:
    """What shuffling one feature costs; above 0 means that the feature helps."""

    feature: str
    """The feature."""
    mean: float
    """What the measure loses: the mean over queries, and over the shuffles of each."""
    interval: tuple[float, float]
    """Student's interval of that mean over queries; infinite where there is one query only."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; ends of an interval that are infinite are null."""
        return {"feature": self.feature, "mean": self.mean, "interval": [finite(end) for end in self.interval]}


@dataclass(frozen=True, slots=True, eq=False)
class PermutationImportance(Mapping[str, FeatureLoss]):
    """What a measure loses when the values of each feature are shuffled within queries; a mapping from features."""

    source: str
    """The data."""
    measure: Measure
    """The measure, expected under ties."""
    value: float
    """The ranker's mean."""
    queries: int
    """How many queries are counted; those that the measure skips are not."""
    repeats: int
    """How often the values of each query were shuffled."""
    confidence: float
    """That of the intervals."""
    features: tuple[FeatureLoss, ...]
    """One per feature, the largest loss first."""

    def __getitem__(self, feature: str) -> FeatureLoss:
        for found in self.features:
            if found.feature == feature:
                return found
        raise KeyError(feature)

    def __iter__(self) -> Iterator[str]:
        return iter([found.feature for found in self.features])

    def __len__(self) -> int:
        return len(self.features)

    def grid(self, most: int | None = SHOWN) -> Grid:
        """The table that is printed; ``most`` features, or all."""
        shown = self.features[:most]
        rows = tuple(
            (one.feature, number(one.mean, signed=True), " to ".join(number(end, signed=True) for end in one.interval))
            for one in shown
        )
        hidden = len(self.features) - len(shown)
        again = "once" if self.repeats == 1 else f"{self.repeats} times"
        return Grid(
            ("feature", "lost shuffled", f"{percent(self.confidence)} interval"),
            rows,
            title=f"{short_source(self.source)}: {counted(self.queries, 'query')}, {self.measure} {number(self.value)}",
            notes=(
                *([f"{counted(hidden, 'more feature')} {agreeing(hidden, 'loses')} less."] if hidden else []),
                f"Lost shuffled: {self.measure} lost when the feature's values are shuffled within each query, {again}.",
                "Features that say the same stand in for each other: shuffling one of them loses little.",
            ),
        )

    def to_json(self) -> str:
        """Everything there is; what is infinite is null."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def to_dict(self) -> dict[str, Any]:
        """The content of :meth:`to_json`."""
        facts = {"data": self.source, "measure": str(self.measure), "value": self.value, "queries": self.queries}
        counts = {"repeats": self.repeats, "confidence": self.confidence}
        return {**facts, **counts, "features": [one.to_dict() for one in self.features]}

    def plot(self, top: int = SHOWN, axes: Axes | None = None) -> Axes:
        """Draw the losses with their intervals, the largest on top."""
        from rankinite.models.explanations.plots import plot_permutation

        return plot_permutation(self, top, axes)

    def __str__(self) -> str:
        return self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()


def permutation_importance(
    ranker: Scorer,
    data: Dataset,
    measure: Measure | str = "ndcg@10",
    *,
    features: Sequence[str] | None = None,
    repeats: int = 5,
    seed: int = 0,
    confidence: float = 0.95,
) -> PermutationImportance:
    """What a measure loses when the values of a feature are shuffled among the documents of each query, for any ranker.

    Values stay in their query, so that no query has documents such as it never had, and what all documents of a query share,
    which cannot rank them, is worth nothing. ``features``: those to try; all that the ranker has if left out, or all of the
    data where it does not say. ``repeats``: how often each query is shuffled. The intervals are over queries.

    >>> permutation_importance(ranker, test, "ndcg@10")["bm25"].mean                  # doctest: +SKIP
    """
    check_count(OWNER, "repeats", repeats)
    check_seed(OWNER, seed)
    judge, rules = one_measure(OWNER, "measure", measure), convention(CONVENTION)
    matched, _ = match_to(ranker, data)

    def values(scored: Dataset) -> Floats:
        return values_per_query(scores_of(matched, scored), scored, [judge], rules, rules.ties)[0]

    whole = values(data)
    mean, counted = mean_of(judge, whole, data), ~np.isnan(whole)
    queries = int(counted.sum())
    matrix = data.features.copy()
    shuffled = replace(data, features=matrix)  # shares the matrix, in which one column at a time is shuffled and put back
    found: list[FeatureLoss] = []
    for name in _features_of(matched, data) if features is None else _checked(features):
        column = data.feature_index(name)
        total = np.zeros(queries)
        for source in shuffles(data, name, repeats, seed):
            matrix[:, column] = data.features[source, column]
            total += values(shuffled)[counted]
        matrix[:, column] = data.features[:, column]
        losses = sign_of(judge) * paired_differences(whole[counted], total / repeats)
        found.append(FeatureLoss(name, exact_mean(losses), t_interval(losses, confidence)))
    found.sort(key=lambda one: -one.mean)
    return PermutationImportance(data.source, judge, mean, queries, repeats, confidence, tuple(found))


def _features_of(ranker: Any, data: Dataset) -> list[str]:
    """The features that may matter: those of the ranker that the data have, or all of the data."""
    names = names_of(ranker) if isinstance(ranker, Fitted) else ()
    return [name for name in names if name in data.feature_names] if names else list(data.feature_names)


def _checked(features: Sequence[str]) -> list[str]:
    """The features asked for; refuses a single text, whose letters would be taken for names."""
    if isinstance(features, str):
        raise ArgumentError(
            "is one text, not a list of names", owner=OWNER, setting="features", value=features, remedy="Give a list of names"
        )
    return list(features)
