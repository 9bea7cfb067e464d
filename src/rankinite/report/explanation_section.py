"""ExplanationSection: why documents are ranked as they are, feature by feature, as plain data of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankinite.frames import finite
from rankinite.models.explanations.pair import PairExplanation
from rankinite.models.explanations.permutation import PermutationImportance
from rankinite.models.explanations.query import QueryExplanation
from rankinite.models.explanations.summary import WithinQueries

SHOWN = 20
"""Features that are listed."""


@dataclass(frozen=True)
class ExplainedFeature:
    """One feature, and what it does."""

    name: str
    value: float
    """What is drawn."""
    others: tuple[float | str | None, ...]
    """The further columns; None where there is no value."""


@dataclass(frozen=True)
class ExplanationSection:
    """The features that rank some documents, the largest first."""

    subject: str
    """What is explained, in a few words."""
    lead: str
    """What the numbers are."""
    label: str
    """The heading of what is drawn."""
    columns: tuple[str, ...]
    """The headings of the further columns."""
    features: tuple[ExplainedFeature, ...]
    others: int
    """How many features are not listed that have smaller values."""


def of_pair(found: PairExplanation) -> ExplanationSection:
    """What every feature adds to the difference of two documents."""
    above, below = found.above.name, found.below.name
    features = [
        ExplainedFeature(one.feature, one.difference, (_known(one.above_value), _known(one.below_value), one.above, one.below))
        for one in found.features
        if one.above or one.below
    ]
    return _section(
        f"query {found.qid}: {above} against {below}",
        f"What each feature adds to the difference of their scores: to the right what speaks for {above}, to the left what "
        f"speaks for {below}.",
        "difference",
        (f"value in {above}", f"value in {below}", f"adds to {above}", f"adds to {below}"),
        features,
    )


def of_query(found: QueryExplanation) -> ExplanationSection:
    """What every feature is worth in a query."""
    return _section(
        f"query {found.qid}",
        f"How much {found.measure} of the query’s {found.documents} documents is lost when the contributions of a feature are "
        f"taken out of the scores. Beside it: when its values are shuffled within the query, the mean of {found.repeats} times "
        "with its standard error; and the mean size of its contributions, less what all documents of the query share.",
        "lost without",
        ("lost shuffled", "standard error", "size within"),
        [ExplainedFeature(one.feature, one.taken_out, (one.shuffled, finite(one.error), one.within)) for one in found.features],
    )


def of_all_queries(found: WithinQueries) -> ExplanationSection:
    """What ranks the documents of all queries."""
    total = sum(one.within for one in found.features) or 1.0
    return _section(
        found.source,
        f"The mean size of the contributions of each feature over {found.queries:,} queries, {found.rows:,} documents, less "
        "their mean in each query, which cannot rank its documents. Beside it: its share, and the mean size as it is.",
        "size within queries",
        ("share", "size in scores"),
        [
            ExplainedFeature(one.feature, one.within, (f"{100 * one.within / total:.1f}%", one.overall))
            for one in found.features
        ],
    )


def of_losses(found: PermutationImportance) -> ExplanationSection:
    """What a measure loses when features are shuffled."""
    return _section(
        found.source,
        f"How much {found.measure} is lost when the values of a feature are shuffled within {found.queries:,} queries, the "
        f"mean of {found.repeats} times, with its interval over queries. Features that say the same stand in for each other.",
        "lost shuffled",
        ("from", "to"),
        [ExplainedFeature(one.feature, one.mean, tuple(map(finite, one.interval))) for one in found.features],
    )


def _section(
    subject: str, lead: str, label: str, columns: tuple[str, ...], features: Sequence[ExplainedFeature]
) -> ExplanationSection:
    return ExplanationSection(subject, lead, label, columns, tuple(features[:SHOWN]), len(features[SHOWN:]))


def _known(value: float | str) -> float | str | None:
    return value if isinstance(value, str) else finite(value)
