"""The report of an explanation: what ranks two documents, a query, or the documents of all queries."""

from __future__ import annotations

from typing import Any

from rankinite.data.dataset import Dataset
from rankinite.grid import number
from rankinite.measures.base import sign_of
from rankinite.models.explanations.documents import Document
from rankinite.models.explanations.pair import PairExplanation
from rankinite.models.explanations.permutation import PermutationImportance
from rankinite.models.explanations.query import QueryExplanation
from rankinite.models.explanations.summary import WithinQueries
from rankinite.plurals import counted
from rankinite.report import provenance as repeating
from rankinite.report.builders import CallerFacts
from rankinite.report.document import Figure, Report
from rankinite.report.explanation_section import of_all_queries, of_losses, of_pair, of_query


def of_explanation(
    explanation: PairExplanation | QueryExplanation | WithinQueries | PermutationImportance,
    data: Dataset | None = None,
    *,
    ranker: Any = None,
    facts: CallerFacts | None = None,
    title: str = "Explanation",
) -> Report:
    """The report of what ``ranker.explain`` or :func:`rankinite.permutation_importance` found.

    ``data`` and ``ranker``: those that were explained, to list the fingerprint of the one and the settings of the other.
    ``facts``: what else should be known to repeat it, such as the command.

    >>> write(of_explanation(ranker.explain(test, "17"), test, ranker=ranker), "why.html")     # doctest: +SKIP
    """
    if isinstance(explanation, PairExplanation):
        section, verdict, figures = of_pair(explanation), _pair_sentences(explanation), _pair_figures(explanation)
    elif isinstance(explanation, QueryExplanation):
        section, verdict, figures = of_query(explanation), _query_sentences(explanation), _query_figures(explanation)
    elif isinstance(explanation, PermutationImportance):
        section, verdict = of_losses(explanation), _loss_sentences(explanation)
        figures = (Figure(str(explanation.measure), number(explanation.value), f"of {counted(explanation.queries, 'query')}"),)
    else:
        section, figures = of_all_queries(explanation), ()
        shares = [f"{one.name} {one.others[0]}" for one in section.features[:3] if one.value > 0.0]
        verdict = (_leading([one.name for one in section.features if one.value > 0.0], "rank the documents of queries"),)
        verdict += (f"Shares in the size of contributions: {', '.join(shares)}.",) if shares else ()
    listed = repeating.data_facts({"data": data})
    return Report(
        title=title,
        verdict=verdict,
        figures=figures,
        explained=section,
        facts=(
            *repeating.caller_facts(facts),
            *([listed] if listed.entries else []),
            *(repeating.model_facts({"model": ranker}) if ranker is not None else ()),
            repeating.version_facts(),
        ),
    )


def _leading(names: list[str], what: str) -> str:
    """The features that lead, in a sentence."""
    if not names:
        return f"No feature helps to {what}."
    return f"{' and '.join(names[:2])} do most to {what}." if len(names) > 1 else f"Only {names[0]} helps to {what}."


def _pair_sentences(found: PairExplanation) -> tuple[str, ...]:
    if found.difference == 0.0:
        return (f"{found.above.name} and {found.below.name} have the same score.", *found.sentences())
    sign = 1.0 if found.difference > 0.0 else -1.0
    first, second = (found.above, found.below) if sign > 0.0 else (found.below, found.above)
    helping = [one for one in found.features if sign * one.difference > 0.0][:2]
    names = " and ".join(one.feature for one in helping)
    adds = " and ".join(number(sign * one.difference, signed=True) for one in helping)
    gap = number(abs(found.difference))
    return (
        f"{first.name} is above {second.name} mostly by {names}.",
        f"Of the difference of their scores, {gap}, {'these add' if len(helping) > 1 else 'it adds'} {adds}.",
        *found.sentences(),
    )


def _pair_figures(found: PairExplanation) -> tuple[Figure, ...]:
    return (*(_document_figure(one) for one in (found.above, found.below)), Figure("difference", number(found.difference)))


def _document_figure(document: Document) -> Figure:
    graded = "" if document.grade is None else f", grade {document.grade:g}"
    return Figure(f"score of {document.name}", number(document.score), f"place {document.rank + 1}{graded}")


def _query_sentences(found: QueryExplanation) -> tuple[str, ...]:
    sign = sign_of(found.measure)
    helping = [one for one in found.features if one.taken_out > 0.0]
    harming = [one for one in found.features if one.taken_out < 0.0]
    lead = _leading([one.feature for one in helping], f"rank query {found.qid}")
    told = [
        f"Without {one.feature}, {found.measure} would be {number(found.value - sign * one.taken_out)}" for one in helping[:1]
    ]
    harm = [f"Without {one.feature} it would be better: {number(found.value - sign * one.taken_out)}" for one in harming[-1:]]
    return (lead, *(f"{text} instead of {number(found.value)}." for text in told + harm))


def _loss_sentences(found: PermutationImportance) -> tuple[str, ...]:
    helping = [one for one in found.features if one.mean > 0.0]
    lead = _leading([one.feature for one in helping], "rank the documents of queries")
    most = [
        f"With {one.feature} shuffled, {found.measure} loses {number(one.mean)} of {number(found.value)}."
        for one in helping[:1]
    ]
    return (lead, *most)


def _query_figures(found: QueryExplanation) -> tuple[Figure, ...]:
    return (Figure(str(found.measure), number(found.value), f"of query {found.qid}"), Figure("documents", str(found.documents)))
