"""QueryExplanation: what every feature is worth in the ranking of one query."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.engine.kernel import Floats
from rankinite.errors import DataError
from rankinite.evaluation.scorers import match_to, scores_of
from rankinite.evaluation.values import values_per_query
from rankinite.frames import finite
from rankinite.grid import Grid, number
from rankinite.measures.base import Measure, sign_of
from rankinite.measures.conventions import convention
from rankinite.models.base import split_scores
from rankinite.models.explanations.contributions import Contributions, Sampling
from rankinite.models.explanations.documents import query_of
from rankinite.models.explanations.shuffles import shuffles
from rankinite.plurals import agreeing, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 10
"""Features that are printed."""
CONVENTION = "rankinite"


@dataclass(frozen=True, slots=True)
class FeatureWorth:
    """What one feature is worth in a query; losses above 0 mean that the feature helps."""

    feature: str
    """The feature."""
    taken_out: float
    """What the measure loses when the feature's contributions are taken out of the scores."""
    shuffled: float
    """What it loses when the feature's values are shuffled within the query: the mean over all shuffles."""
    error: float
    """The standard error of that mean; NaN where there was one shuffle only."""
    within: float
    """The mean size of its contributions, less their mean in the query: what all documents share cannot rank them."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; what is undefined is null."""
        content = {name: getattr(self, name) for name in ("feature", "taken_out", "shuffled", "within")}
        return content | {"error": finite(self.error)}


@dataclass(frozen=True, slots=True)
class QueryExplanation:
    """What ranks the documents of a query: every feature's worth in a measure, the largest loss first."""

    qid: str
    """The query."""
    measure: Measure
    """The measure, expected under ties."""
    value: float
    """The ranker's value."""
    documents: int
    """How many documents the query has."""
    repeats: int
    """How often values were shuffled."""
    features: tuple[FeatureWorth, ...]
    """One per feature, the largest loss by ``taken_out`` first."""

    def grid(self, most: int | None = SHOWN) -> Grid:
        """The table that is printed; ``most`` features, or all."""
        shown = self.features[:most]
        rows = tuple(
            (
                one.feature,
                number(one.taken_out, signed=True),
                number(one.shuffled, signed=True) + ("" if np.isnan(one.error) else f" ±{number(one.error)}"),
                number(one.within),
            )
            for one in shown
        )
        hidden = len(self.features) - len(shown)
        return Grid(
            ("feature", "lost without", "lost shuffled", "size within"),
            rows,
            title=f"query {self.qid}: {counted(self.documents, 'document')}, {self.measure} {number(self.value)}",
            notes=(
                *([f"{counted(hidden, 'more feature')} {agreeing(hidden, 'is')} worth less."] if hidden else []),
                f"Lost without: {self.measure} lost when the feature's contributions are taken out of the scores.",
                f"Lost shuffled: when its values are shuffled within the query, mean of {self.repeats} and standard error.",
                "Size within: the mean size of its contributions, less what all documents of the query share.",
            ),
        )

    def to_json(self) -> str:
        """Everything there is; what is undefined is null."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def to_dict(self) -> dict[str, Any]:
        """The content of :meth:`to_json`."""
        facts = {"query": self.qid, "measure": str(self.measure), "value": self.value}
        counts = {"documents": self.documents, "repeats": self.repeats}
        return {**facts, **counts, "features": [one.to_dict() for one in self.features]}

    def plot(self, top: int = SHOWN, axes: Axes | None = None) -> Axes:
        """Draw what the measure loses without each feature, the largest loss on top."""
        from rankinite.models.explanations.plots import plot_query

        return plot_query(self, top, axes)

    def __str__(self) -> str:
        return self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()


def explain_query(
    ranker: Any, data: Dataset, qid: str | int, measure: Measure, repeats: int, sampling: Sampling
) -> QueryExplanation:
    """What every feature is worth in one query."""
    query = query_of(data, qid)
    check_judged(query)
    matched, _ = match_to(ranker, query)
    scores = scores_of(matched, query)
    value = float(_values(measure, query, scores[None])[0])
    if np.isnan(value):
        raise DataError(
            f"{measure} has no value: its documents have one grade only, or the measure is undefined for them",
            place=f"{data.source}, query {str(query.qids[0])!r}",
            value=str(query.qids[0]),
            remedy="Choose another query, or ask why one document is above another",
        )
    split = split_scores(matched, query, sampling)
    out = _values(measure, query, np.stack([scores, *(scores - one for one in split.values.T)]))
    losses = sign_of(measure) * (value - out[1:])
    shuffled = [_shuffled(matched, query, measure, name, repeats, sampling.seed) for name in split.feature_names]
    away = within_sizes(split)
    found = [
        FeatureWorth(name, float(losses[f]), *_mean_and_error(sign_of(measure) * (value - shuffled[f])), float(away[f]))
        for f, name in enumerate(split.feature_names)
    ]
    found.sort(key=lambda one: (-one.taken_out, -one.within))
    return QueryExplanation(str(query.qids[0]), measure, value, query.rows, repeats, tuple(found))


def within_sizes(split: Contributions) -> Floats:
    """Per feature: the mean size of a query's contributions, less their mean in it."""
    rows = np.sort(split.values, axis=0)  # sums must not depend on the order of the rows
    return np.abs(rows - rows.mean(axis=0)).mean(axis=0)


def _values(measure: Measure, query: Dataset, scores: Floats) -> Floats:
    """The measure of the query under each of several scores: lists × documents."""
    lists = _repeated(query, np.broadcast_to(query.features, (len(scores), *query.features.shape)))
    rules = convention(CONVENTION)
    return values_per_query(np.ascontiguousarray(scores).reshape(-1), lists, [measure], rules, rules.ties)[0]


def _shuffled(ranker: Any, query: Dataset, measure: Measure, name: str, repeats: int, seed: int) -> Floats:
    """The measure after each shuffle of a feature; its own value where there is nothing to shuffle."""
    if name not in query.feature_names:  # a summary of the query: the same for all of its documents
        return _values(measure, query, np.repeat(scores_of(ranker, query)[None], repeats, axis=0))
    column, tables = query.feature_index(name), np.repeat(query.features[None], repeats, axis=0)
    for table, source in zip(tables, shuffles(query, name, repeats, seed), strict=True):
        table[:, column] = query.features[source, column]
    lists = _repeated(query, tables)
    rules = convention(CONVENTION)
    return values_per_query(scores_of(ranker, lists), lists, [measure], rules, rules.ties)[0]


def _repeated(query: Dataset, tables: Any) -> Dataset:
    """The query several times, with other features each time: tables × documents × features."""
    count = len(tables)
    return Dataset(
        features=np.ascontiguousarray(tables).reshape(count * query.rows, -1),
        grades=np.tile(query.grades, count),
        offsets=np.arange(count + 1) * query.rows,
        qids=np.arange(count).astype(str),
        feature_names=query.feature_names,
        source=query.source,
    )


def _mean_and_error(losses: Floats) -> tuple[float, float]:
    error = losses.std(ddof=1) / np.sqrt(len(losses)) if len(losses) > 1 else np.nan
    return float(losses.mean()), float(error)
