"""Importance and FeatureLosses: which features a ranker ranks by, and what it would lose without each.

Both are of whole rankers, the one before and the one deployed, whatever these are made of: shares in the contributions to
scores within queries, wherever scores can be split exactly, and the measure lost where a feature is shuffled within queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Indices
from rankinite.errors import ArgumentError
from rankinite.evaluation.evaluate import Result
from rankinite.frames import finite
from rankinite.grid import shared_decimals
from rankinite.measures.base import Measure
from rankinite.models.base import Fitted
from rankinite.models.explanations.permutation import permutation_importance
from rankinite.models.forest import Forest
from rankinite.plurals import agreeing
from rankinite.report.parts import same
from rankinite.trees.structure import LEAF

FEATURES = 20
"""Features that are listed."""
MOST_DOCUMENTS = 2_000
"""Documents whose scores are split: seconds of work."""
MOST_SCORES = 1_000_000
"""Scores that are computed for what shuffling costs."""
REPEATS = 5
"""How often each query is shuffled."""


@dataclass(frozen=True)
class Importance:
    """The share of each feature in what some rankers do."""

    kind: str
    """What is shared, the same for all rankers: the size of ``contributions`` within queries; where these are not known, the
    ``gain`` of splits, or their ``count`` where a forest does not know its gains."""
    rankers: tuple[str, ...]
    features: tuple[str, ...]
    """The most important ones."""
    shares: tuple[tuple[float, ...], ...]
    """For each feature, one share per ranker."""
    others: int
    """How many features are not listed that have a smaller share."""
    unused: int
    """How many features have no share for any ranker."""
    queries: str = ""
    """On which queries contributions were taken."""


@dataclass(frozen=True)
class FeatureLosses:
    """What a measure loses when one feature of a ranker is shuffled within queries."""

    ranker: str
    measure: str
    queries: str
    """On which queries."""
    repeats: int
    """How often each was shuffled."""
    features: tuple[str, ...]
    """The largest loss first."""
    means: tuple[float, ...]
    """Above 0: the feature helps."""
    lows: tuple[float | None, ...]
    """The ends of the interval over queries."""
    highs: tuple[float | None, ...]
    decimals: int
    others: int
    """How many features are not listed that were shuffled, too."""


def importance_sections(rankers: Mapping[str, Any], data: Dataset, measure: Measure, result: Result) -> dict[str, Any]:
    """The features of whole rankers, and what shuffling costs the last of them, on the queries that the measure counts."""
    counted = np.flatnonzero(~np.isnan(result.per_query))
    importance = importance_of(rankers, data, counted)
    name, ranker = list(rankers.items())[-1]
    tried = None if importance is None else importance.features
    return {"importance": importance, "losses": losses_of(name, ranker, data, counted, measure, tried)}


def importance_of(rankers: Mapping[str, Any], data: Dataset | None, counted: Indices | None = None) -> Importance | None:
    """Shares of the features of whole rankers, the largest share of any first; None where nothing is known of them.

    ``data``: where contributions are taken, on those queries that are ``counted``.
    """
    known: dict[str, Any] = {}
    for name, ranker in rankers.items():
        if isinstance(ranker, Fitted) and not any(same(ranker, other) for other in known.values()):
            known[name] = ranker
    if not known:
        return None
    if data is not None:
        part = few_queries(data, counted, MOST_DOCUMENTS)
        if all(_splits(ranker, part) for ranker in known.values()):
            sizes = {name: {one.feature: one.within for one in ranker.explain(part).features} for name, ranker in known.items()}
            return _importance("contributions", sizes, _queries_text(part, data))
    forests = {name: ranker for name, ranker in known.items() if isinstance(ranker, Forest)}
    if len(forests) < len(known):
        return None
    kind: Literal["gain", "count"] = "gain" if all(map(_knows_gains, forests.values())) else "count"
    return _importance(kind, {name: forest.importance(kind) for name, forest in forests.items()}, "")


def losses_of(
    name: str, ranker: Any, data: Dataset, counted: Indices, measure: Measure, features: Sequence[str] | None = None
) -> FeatureLosses | None:
    """What shuffling costs a ranker, on the queries that are counted; ``features``: the only ones to try."""
    if not isinstance(ranker, Fitted) or not len(counted):
        return None
    tried = len(features) if features is not None else max(len(data.feature_names), 1)
    part = few_queries(data, counted, MOST_SCORES // (REPEATS * max(tried, 1)))
    found = permutation_importance(ranker, part, measure, features=features, repeats=REPEATS)
    shown = found.features[:FEATURES]
    return FeatureLosses(
        ranker=name,
        measure=str(measure),
        queries=_queries_text(part, data),
        repeats=REPEATS,
        features=tuple(one.feature for one in shown),
        means=tuple(round(one.mean, 6) for one in shown),
        lows=tuple(finite(one.interval[0]) for one in shown),
        highs=tuple(finite(one.interval[1]) for one in shown),
        decimals=shared_decimals(one.interval for one in shown),
        others=len(found.features) - len(shown),
    )


def few_queries(data: Dataset, counted: Indices | None, documents: int) -> Dataset:
    """Queries with about as many documents at most, evenly from all that are counted; at least two, if there are two."""
    chosen = np.arange(data.queries) if counted is None else counted
    total = int(np.diff(data.offsets)[chosen].sum())
    if total > documents:
        count = max(min(2, len(chosen)), len(chosen) * documents // total)
        chosen = chosen[np.linspace(0, len(chosen) - 1, count).round().astype(np.int64)]
    return data.select_queries(chosen)


def _queries_text(part: Dataset, data: Dataset) -> str:
    of_all = "" if part.queries == data.queries else f" of {data.queries:,}"
    return f"{part.queries:,}{of_all} {agreeing(data.queries, 'query')} of {data.source}"


def _splits(ranker: Fitted, data: Dataset) -> bool:
    """Whether scores can be split by feature exactly."""
    try:
        return ranker.contributions(data.select_queries([0]), permutations=4).errors is None
    except ArgumentError:  # such as scores that depend on the other documents
        return False


def _importance(kind: str, sizes: Mapping[str, Mapping[str, float]], queries: str) -> Importance | None:
    """Sizes of features as shares."""
    totals = {name: sum(by_feature.values()) for name, by_feature in sizes.items()}
    shares = {name: {f: size / totals[name] for f, size in sizes[name].items()} for name in sizes if totals[name] > 0.0}
    if not shares:
        return None
    features = list(dict.fromkeys(feature for shared in shares.values() for feature in shared))
    largest = {feature: max(shared.get(feature, 0.0) for shared in shares.values()) for feature in features}
    ranked = sorted(features, key=lambda feature: -largest[feature])
    used = [feature for feature in ranked if largest[feature] > 0.0]
    return Importance(
        kind=kind,
        rankers=tuple(shares),
        features=tuple(used[:FEATURES]),
        shares=tuple(tuple(round(shared.get(feature, 0.0), 5) for shared in shares.values()) for feature in used[:FEATURES]),
        others=len(used[FEATURES:]),
        unused=len(ranked) - len(used),
        queries=queries,
    )


def _knows_gains(forest: Forest) -> bool:
    """Whether every tree that splits knows its gains: foreign trees may not, and those added to them would count alone."""
    trees = forest.trees
    tree_of_node = np.repeat(np.arange(len(trees)), np.diff(trees.offsets))
    splitting = np.unique(tree_of_node[trees.feature != LEAF])
    return bool(np.isin(splitting, tree_of_node[trees.gain > 0.0]).all())
