"""Caveats of an evaluation: queries and documents that a ranker does not return or that nobody judged (:class:`Coverage`), and
queries that it was trained on (:class:`TrainingOverlap`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.data.identity import Contents, QuerySketch, contents_of, unite_sketches
from rankinite.data.io.trec import RunScores
from rankinite.engine.kernel import Floats
from rankinite.errors import listed
from rankinite.plurals import agreeing

MOST_QUERIES = 5
"""The most queries that are named in a sentence; the others are counted."""
MOST_RANKERS = 3
"""The most rankers that are named in a sentence; the others are counted."""


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
                f"({listed(self.unanswered, MOST_QUERIES)}): each counts as nothing found, as with trec_eval -c."
            )
        if self.unjudged_queries:
            found.append(
                f"queries of the run that nobody judged are left out: {len(self.unjudged_queries)} "
                f"({listed(self.unjudged_queries, MOST_QUERIES)})."
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


@runtime_checkable
class TrainedRanker(Protocol):
    """A ranker that knows which queries it was trained on."""

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """One sketch for each part that learnt from judged queries; None for one that does not know which."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingOverlap:
    """How many queries of some data a ranker was trained on."""

    queries: int
    """Those trained on."""
    of: int
    """All queries of the data."""
    exact: bool = True
    """Whether that is their number; else it is an estimate, as large sketches keep only some of the queries."""
    known: bool = True
    """Whether the training queries of all parts of the ranker are known; else there may be more."""

    @property
    def is_of_concern(self) -> bool:
        """Whether some queries were trained on, or may have been."""
        return self.queries > 0 or not self.known

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"trained_on": self.queries, "of": self.of, "exact": self.exact, "known": self.known}


class TrainingOverlaps:
    """The overlap of data with what each of several rankers was trained on."""

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self._contents: dict[tuple[str, ...], Contents] = {}

    def of(self, *rankers: object) -> TrainingOverlap | None:
        """That of rankers taken together; None where none of them learns: scores, features and scorers from elsewhere."""
        sketches = [sketch for ranker in rankers if isinstance(ranker, TrainedRanker) for sketch in ranker.trained_on]
        if not sketches:
            return None
        found, estimates = np.zeros(self._data.queries, np.bool_), [0]
        exact, known = True, all(sketch is not None and sketch.complete for sketch in sketches)
        for sketch in _by_features(sketches):
            contents = self._known_by(sketch.features)
            hits, covered = sketch.found(contents), sketch.covered(contents)
            found |= hits
            if sketch.level:
                share = int(hits.sum()) / max(1, int(covered.sum()))
                estimates.append(round(share * int(contents.identifiable.sum())))
                exact = exact and not hits.any()
            # Without these features, or without any query that the sketch covers, nothing found means nothing.
            has_features = set(sketch.features) <= set(self._data.feature_names)
            known = known and bool(hits.any() or (covered.any() and has_features))
        return TrainingOverlap(max(int(found.sum()), *estimates), self._data.queries, exact=exact, known=known)

    def _known_by(self, features: tuple[str, ...]) -> Contents:
        if features not in self._contents:
            self._contents[features] = contents_of(self._data, features)
        return self._contents[features]


def _by_features(sketches: Iterable[QuerySketch | None]) -> list[QuerySketch]:
    """One sketch for all that were made of the same features."""
    groups: dict[tuple[str, ...], list[QuerySketch]] = {}
    for sketch in sketches:
        if sketch is not None:
            groups.setdefault(sketch.features, []).append(sketch)
    joined = [reduce(unite_sketches, group[1:], group[0]) for group in groups.values()]
    return [sketch for sketch in joined if sketch is not None]


def overlap_warnings(overlaps: Mapping[str, TrainingOverlap | None], source: str) -> tuple[str, ...]:
    """What to bear in mind of rankers, by name, that were judged by ``source``: one sentence for all alike."""
    groups: dict[TrainingOverlap, list[str]] = {}
    for name, overlap in overlaps.items():
        if overlap is not None and overlap.is_of_concern:
            groups.setdefault(overlap, []).append(name)
    return tuple(_warning(names, overlap, source) for overlap, names in groups.items())


def _warning(names: list[str], overlap: TrainingOverlap, source: str) -> str:
    shown = names if len(names) <= MOST_RANKERS + 1 else [*names[:MOST_RANKERS], f"{len(names) - MOST_RANKERS} others"]
    several = len(names) > 1
    who = " and ".join([", ".join(shown[:-1]), shown[-1]] if several else shown)
    verb = "were" if several else "was"
    if not overlap.queries:
        return f"It is not known whether {who} {verb} trained on queries of {source}."
    how_many = ("" if overlap.known else "at least ") + ("" if overlap.exact else "about ")
    met = f"trained on {how_many}{overlap.queries} of the {overlap.of} {agreeing(overlap.of, 'query')} of {source}"
    return f"{who} {verb} {met}, which flatters {'them' if several else 'it'}."
