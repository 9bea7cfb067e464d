"""Which explanation is asked for."""

from __future__ import annotations

from typing import Any

from rankinite.checks import check_count, check_seed
from rankinite.errors import ArgumentError
from rankinite.measures.base import Measure
from rankinite.measures.spelling import one_measure
from rankinite.models.explanations.contributions import Sampling
from rankinite.models.explanations.documents import OWNER
from rankinite.models.explanations.pair import PairExplanation, explain_pair
from rankinite.models.explanations.query import QueryExplanation, explain_query
from rankinite.models.explanations.summary import WithinQueries, explain_queries

Explanation = PairExplanation | QueryExplanation | WithinQueries


def explanation_of(
    ranker: Any,
    data: Any,
    qid: str | int | None,
    above: str | int | None,
    below: str | int | None,
    measure: Measure | str,
    repeats: int,
    permutations: int,
    seed: int,
) -> Explanation:
    """Explain a pair of documents, a query or all queries; refuses half a pair."""
    check_count(OWNER, "repeats", repeats)
    check_count(OWNER, "permutations", permutations, 4)
    check_seed(OWNER, seed)
    chosen, sampling = one_measure(OWNER, "measure", measure), Sampling(permutations, seed)
    if (above is None) != (below is None):
        given, missing = ("above", "below") if below is None else ("below", "above")
        raise ArgumentError(
            f"names one document, and `{missing}=…` none",
            owner=OWNER,
            setting=given,
            value=below if above is None else above,
            remedy="Give both, or neither to explain the whole query",
        )
    if qid is None and above is not None:
        raise ArgumentError(
            "names a document of no query", owner=OWNER, setting="above", value=above, remedy="Give its query with `qid=…`"
        )
    if qid is None:
        return explain_queries(ranker, data, sampling)
    if above is None or below is None:
        return explain_query(ranker, data, qid, chosen, repeats, sampling)
    return explain_pair(ranker, data, qid, above, below, sampling)
