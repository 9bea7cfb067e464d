"""Coverage: which queries and documents a ranker returns and which are judged, where these are not the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.io.trec import RunScores
from rankinite.engine.kernel import Floats
from rankinite.errors import listed

MOST_NAMES = 5
"""The most queries that are named in a sentence; the others are counted."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How what a ranker returns and what is judged cover each other."""

    queries: int = 0
    """The judged queries."""
    unanswered: tuple[str, ...] = ()
    """Judged queries for which no document is returned. They count as nothing found, 0 by most measures."""
    unjudged_queries: tuple[str, ...] = ()
    """Queries of a TREC run that nobody judged. They are left out."""
    documents: int = 0
    """The documents that a TREC run returns for judged queries."""
    unjudged_documents: int = 0
    """Those of them that nobody judged. They count as grade 0."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what makes a mean hard to compare."""
        found: list[str] = []
        if self.unanswered:
            found.append(
                f"no document is returned for {len(self.unanswered)} of {self.queries} judged queries "
                f"({listed(self.unanswered, MOST_NAMES)}): each counts as nothing found, as with trec_eval -c."
            )
        if self.unjudged_queries:
            found.append(
                f"queries of the run that nobody judged are left out: {len(self.unjudged_queries)} "
                f"({listed(self.unjudged_queries, MOST_NAMES)})."
            )
        if 0 < self.documents == self.unjudged_documents:
            found.append(
                f"none of the {self.documents} documents returned for judged queries is judged. Do the run and the judgements "
                "name documents alike?"
            )
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "queries": self.queries,
            "unanswered": list(self.unanswered),
            "unjudged_queries": list(self.unjudged_queries),
            "documents": self.documents,
            "unjudged_documents": self.unjudged_documents,
        }


def coverage_of(ranker: object, scores: Floats, data: Dataset) -> Coverage:
    """The coverage of a ranker with these scores; a run also knows what it returns without a judgement."""
    nothing = np.maximum.reduceat(scores, data.offsets[:-1]) == -np.inf
    unanswered = tuple(data.qids[nothing].tolist())
    if not isinstance(ranker, RunScores):
        return Coverage(data.queries, unanswered)
    return Coverage(data.queries, unanswered, ranker.unjudged_queries, ranker.documents, ranker.unjudged_documents)
