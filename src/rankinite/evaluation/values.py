"""Values: from the scores of rows to the value of every query, and to the mean.

This is all that training needs, which watches one mean round by round; :mod:`rankinite.evaluation.evaluate` adds intervals and
what to bear in mind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.engine.kernel import SCORE, Floats
from rankinite.engine.over_members import gathered
from rankinite.engine.parallel import over_queries
from rankinite.errors import DataError, MeasureError, RankiniteError, quoted
from rankinite.evaluation.significance import exact_mean
from rankinite.measures.base import Measure
from rankinite.measures.conventions import CONVENTIONS, Convention
from rankinite.measures.data_grades import grades_seen_by, naming_bad_grades, sees_unjudged
from rankinite.measures.ranking import Ranking, Ties, rank_checked


def values_per_query(
    scores: Floats, data: Dataset, measures: Sequence[Measure], convention: Convention, ties: Ties
) -> list[Floats]:
    """The value of every query by every measure, NaN where the convention skips the query.

    Parts of the data are ranked and measured one after the other while they are in the cache.
    """
    check_judged(data)
    views: list[tuple[Ties, bool]] = [(_rule_for(measure, ties), sees_unjudged(measure)) for measure in measures]
    grades = {sees: grades_seen_by(measure, data) for measure, (_, sees) in zip(measures, views, strict=True)}

    def part(first: int, last: int) -> list[Floats]:
        start, end = data.offsets[first], data.offsets[last]
        offsets = data.offsets[first : last + 1] - start
        doc_ids = None if data.doc_ids is None else data.doc_ids[start:end]
        part_scores = scores[start:end]
        if convention.single_precision:
            with np.errstate(over="ignore"):
                part_scores = part_scores.astype(np.float32).astype(SCORE)
        rankings = {
            (rule, sees): rank_checked(part_scores, grades[sees][start:end], offsets, rule, doc_ids)
            for rule, sees in set(views)
        }
        return [_values(measure, rankings[view], convention, data) for measure, view in zip(measures, views, strict=True)]

    if any(measure.pooled for measure in measures):
        return part(0, data.queries)
    parts = over_queries(part, data.offsets)
    return [np.concatenate(values) for values in zip(*parts, strict=True)]


def _rule_for(measure: Measure, ties: Ties) -> Ties:
    """The rule for ties as it applies to a measure: the lowest error is that of the best order."""
    if measure.higher_is_better or ties not in {"lowest", "highest"}:
        return ties
    return "highest" if ties == "lowest" else "lowest"


def _values(measure: Measure, ranking: Ranking, convention: Convention, data: Dataset) -> Floats:
    """The values of the queries of a ranking, which is of some of the data's queries."""
    with naming_bad_grades(data, measure):
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


def mean_of(measure: Measure, values: Floats, data: Dataset) -> float:
    """The mean over the queries that count; refuses an infinite value, as a user's function may give, and no value at all."""
    if np.isinf(values).any():
        qid = str(data.qids[int(np.argmax(np.isinf(values)))])
        raise MeasureError(
            "the value is infinite",
            place=f"{measure}: {data.source}, query {quoted(qid)}",
            value=qid,
            rule="Values must be finite, or NaN",
        )
    return _mean_of_finite(measure, values, data)


def _mean_of_finite(measure: Measure, values: Floats, data: Dataset) -> float:
    counted = values[~np.isnan(values)]
    if not len(counted):
        raise DataError(
            f"{measure} skips every query: the documents of each have one grade only, or the measure is "
            "undefined for it. So there is no mean",
            place=data.source,
            value=len(values),
            remedy="Check the grades, or choose a convention that counts such queries, for example `convention='lightgbm'`",
        )
    return exact_mean(counted)


def query_values(scores: Floats, data: Dataset, measure: Measure) -> Floats:
    """The value of every query by one measure, NaN where it does not count."""
    rules = CONVENTIONS["rankinite"]
    return values_per_query(scores, data, [measure], rules, rules.ties)[0]


def mean_value(scores: Floats, data: Dataset, measure: Measure) -> float:
    """The mean of a measure over the queries that count: the same number as ``evaluate`` gives for all data at once.

    Where each member of a group has some of the queries, it is the mean over those of all.
    """
    if data.members is None:
        return mean_of(measure, query_values(scores, data, measure), data)
    if measure.pooled:
        raise MeasureError(
            "it is measured over all queries together, which no single machine has",
            place=measure,
            value=str(measure),
            remedy="Watch another measure, or train on one machine",
        )
    problem: RankiniteError | None = None
    values = np.empty(0)
    try:
        if data.queries:
            values = query_values(scores, data, measure)
    except RankiniteError as raised:
        problem = raised
        values = np.asarray([np.inf])  # the others wait for values: one that cannot be tells them
    of_all = gathered(data.members, values)
    if np.isinf(of_all).any():
        raise problem or DataError(
            "another member cannot measure its queries, or finds an infinite value",
            place=data.source,
            value=str(measure),
            remedy="Look at that member's message, or watch another measure",
        )
    return _mean_of_finite(measure, of_all, data)
