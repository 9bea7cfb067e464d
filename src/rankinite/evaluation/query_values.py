"""Values of measures for every query: ranked, measured, and skipped by a convention's rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.engine.kernel import SCORE, Floats
from rankinite.engine.parallel import over_queries
from rankinite.errors import MeasureError
from rankinite.measures.base import Measure
from rankinite.measures.conventions import Convention
from rankinite.measures.grades import grades_of
from rankinite.measures.ranking import Ranking, Ties, rank_checked
from rankinite.measures.unjudged import grades_seen_by, sees_unjudged


def values_per_query(
    scores: Floats, data: Dataset, measures: Sequence[Measure], convention: Convention, ties: Ties
) -> list[Floats]:
    """Every measure's values; parts of the data are ranked and measured one after the other while they are in the cache."""
    check_judged(data)
    views: list[tuple[Ties, bool]] = [(_rule(measure, ties), sees_unjudged(measure)) for measure in measures]
    seen = {sees: grades_seen_by(measure, data) for measure, (_, sees) in zip(measures, views, strict=True)}

    def part(first: int, last: int) -> list[Floats]:
        start, end = data.offsets[first], data.offsets[last]
        offsets = data.offsets[first : last + 1] - start
        doc_ids = None if data.doc_ids is None else data.doc_ids[start:end]
        part_scores = scores[start:end]
        if convention.single_precision:
            with np.errstate(over="ignore"):
                part_scores = part_scores.astype(np.float32).astype(SCORE)
        rankings = {
            (rule, sees): rank_checked(part_scores, seen[sees][start:end], offsets, rule, doc_ids) for rule, sees in set(views)
        }
        return [_per_query(measure, rankings[view], convention, data) for measure, view in zip(measures, views, strict=True)]

    if any(measure.pooled for measure in measures):
        return part(0, data.queries)
    parts = over_queries(part, data.offsets)
    return [np.concatenate(values) for values in zip(*parts, strict=True)]


def _rule(measure: Measure, ties: Ties) -> Ties:
    """The rule for ties as it applies to a measure: the lowest error is that of the best order."""
    if measure.higher_is_better or ties not in {"lowest", "highest"}:
        return ties
    return "highest" if ties == "lowest" else "lowest"


def _per_query(measure: Measure, ranking: Ranking, convention: Convention, data: Dataset) -> Floats:
    """The value of every query, NaN where the convention skips it; ``data``: of which the ranking is a part."""
    with grades_of(data, measure):
        values = np.array(convention.adapt(measure).per_query(ranking), SCORE)
    if values.shape != (ranking.queries,):
        raise MeasureError(
            f"the values have shape {values.shape} for {ranking.queries} queries",
            place=measure,
            value=values.shape,
            rule="There must be one value per query",
        )
    if measure.pooled:
        return values
    if convention.empty is not None:
        values[np.isnan(values)] = convention.empty
    if convention.skip_one_grade:
        values[ranking.one_grade] = np.nan
    return values
