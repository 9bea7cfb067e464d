"""Oddities: sentences about what is odd in a data set, with settings between backticks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankinite.data.odd_features import advice
from rankinite.plurals import agreeing, counted

if TYPE_CHECKING:
    from rankinite.data.description import Description


def oddities(data: Description) -> list[str]:
    """What is odd in the data that are described."""
    found: list[str] = []
    if data.one_grade_queries:
        found.append(_one_grade(data.one_grade_queries, data.one_document_queries))
    if data.duplicate_rows:
        others = f", {data.contradicting_rows:,} with another grade" if data.grades else ""
        repeat = agreeing(data.duplicate_rows, "repeats")
        found.append(
            f"{counted(data.duplicate_rows, 'row')} {repeat} the features of an earlier row of the same query{others}."
        )
    constant = data.constant_features
    if constant:
        listed = ", ".join(constant[:20]) + (" …" if len(constant) > 20 else "")
        verbs = "is constant and says" if len(constant) == 1 else "are constant and say"
        found.append(f"{counted(len(constant), 'feature')} {verbs} nothing: {listed}.")
    infinite = [feature.name for feature in data.features if feature.infinite]
    if infinite:
        how_many = f"{counted(len(infinite), 'feature')} {agreeing(len(infinite), 'has')}"
        found.append(
            f"{how_many} infinite values ({', '.join(infinite[:20])}): "
            "read them with `infinite='missing'` or `infinite='clip'`."
        )
    if data.fractions:
        found.append(data.fractions)
    if data.odd_features:
        found.append(advice(data.odd_features, named_documents=data.document_ids))
    if data.lowest_grade is None:
        found.append(
            "There are no grades: these rows can be scored and distilled from. If a column holds the grades, name it with "
            "`grades=…`."
        )
    elif data.lowest_grade < 0:
        found.append(
            "Some grades are negative, or were missing and became −1: if that marks documents that nobody judged, leave them "
            "out with `unjudged='drop'`."
        )
    return found or ["Nothing odd: no one-grade queries, no duplicates, no constant features, no ids among the features."]


def _one_grade(queries: int, with_one_document: int) -> str:
    has, them = agreeing(queries, "has"), agreeing(queries, "it")
    return (
        f"{counted(queries, 'query')} {has} documents of one grade only ({with_one_document:,} with a single document): "
        f"every ranker does equally well on {them}, and none learns from {them}."
    )
