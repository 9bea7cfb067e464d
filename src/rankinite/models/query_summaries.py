"""QuerySummaries: a ranker that also looks at how other rankers score the whole query (paper 004 §4.2, models M4 and M8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.data.identity import QuerySketch
from rankinite.engine.kernel import SCORE, Features, Floats, Reals
from rankinite.errors import ArgumentError, DataError
from rankinite.evaluation.scorers import Scorer
from rankinite.grid import Grid
from rankinite.models.base import Fitted, Part, line_of, names_of, part_scores, sketches_of, split_scores, stored_part
from rankinite.models.explanations.contributions import Contributions, Sampling
from rankinite.models.files.container import DAMAGED, Stored
from rankinite.models.files.loading import build
from rankinite.models.inputs import NamedMatrix, check_meaning, feature_matrix
from rankinite.models.query_scores import SUMMARIES, grouped, summed_up
from rankinite.plurals import counted


@dataclass(frozen=True, eq=False, repr=False)
class QuerySummaries(Fitted):
    """A ranker over the features of a document and summaries of other rankers' scores of its query.

    Of each source there are four: the highest and the mean score of all documents, and of the three it ranks first. They are
    the same for all documents of a query, and say something of the query rather than of the document.
    """

    sources: tuple[Scorer, ...]
    """The rankers whose scores are summed up."""
    top: Fitted
    """The ranker over the features, followed by the summaries of each source."""

    about_title = "over the features and the summaries"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))
        if not isinstance(self.top, Fitted) or len(names_of(self.top)) <= len(summary_names(len(self.sources))):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
            raise ArgumentError(
                f"has no features besides the summaries of {counted(len(self.sources), 'ranker')}",
                owner="QuerySummaries",
                setting="top",
                value=self.top,
                remedy="Give a ranker that was trained on features and summaries",
            )

    def __repr__(self) -> str:
        return f"<QuerySummaries: {self.top!r} with those of {', '.join(type(one).__name__ for one in self.sources)}>"

    @property
    def _plain(self) -> tuple[str, ...]:
        """The features of ``top`` that are no summaries."""
        return names_of(self.top)[: -len(summary_names(len(self.sources)))]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that it needs, or any source does."""
        return tuple(dict.fromkeys([*self._plain, *(name for one in self.sources for name in names_of(one))]))

    @property
    def trained_on(self) -> tuple[QuerySketch | None, ...]:
        """Which queries its sources were trained on, which are those of ``top``: its own sketch is of rows with summaries."""
        return tuple(sketch for one in self.sources for sketch in sketches_of(one))

    @property
    def needs_queries(self) -> bool:
        """A score depends on the other documents of its query."""
        return True

    def inside(self) -> tuple[Part, ...]:
        """The sources."""
        return tuple(map(Part, self.sources))

    def with_inside(self, rankers: Sequence[Scorer]) -> QuerySummaries:
        """The same over summaries of other rankers."""
        return replace(self, sources=tuple(rankers))

    def about(self) -> Fitted:
        """The ranker on top."""
        return self.top

    @property
    def kind(self) -> str:
        """What it is called in a sentence."""
        return "ranker with query summaries"

    def summary(self) -> list[tuple[str, str]]:
        """What is on top."""
        return [("top", self.top.line())]

    def tables(self, most: int | None) -> list[Grid]:
        """The sources."""
        rows = tuple((str(number), line_of(one)) for number, one in enumerate(self.sources))
        return [Grid(("source", "ranker"), rows, "rl", notes=("Look into one with --part.",))]

    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        sources = [one.facts() if isinstance(one, Fitted) else {} for one in self.sources]
        return super().facts() | {"top": self.top.facts(), "sources": sources}

    def sizes(self) -> dict[str, int]:
        """The size of the ranker on top."""
        return self.top.sizes()

    def score(self, features: Dataset | npt.ArrayLike, qid: npt.ArrayLike | None = None) -> Floats:
        """One score per row; ``qid``: the query of each row, where the features do not come with them."""
        return part_scores(self.top, self.extended(features, qid), qid).astype(SCORE)

    def extended(self, features: Dataset | npt.ArrayLike, qid: npt.ArrayLike | None) -> Reals:
        """The features of the ranker on top: those of the documents, then the summaries."""
        check_meaning(features, (self._plain, *map(names_of, self.sources)), "ranker with query summaries")
        matrix, columns = feature_matrix(features, self._plain)
        plain = matrix if columns is None else matrix[:, columns]
        return np.column_stack((plain, summaries_of(self.sources, features, qid)))

    def split_scores(self, features: Dataset | npt.ArrayLike, sampling: Sampling) -> Contributions:
        """Those of the features and summaries of the ranker on top: summaries are features like the others."""
        return split_scores(self.top, NamedMatrix(self.extended(features, None), names_of(self.top)), sampling)

    def stored(self) -> Stored:
        """Its content in a model file: the ranker on top, then the sources, the arrays of each with its number before them."""
        facts: list[dict[str, Any]] = []
        arrays: dict[str, npt.NDArray[Any]] = {}
        for number, part in enumerate((self.top, *self.sources)):
            inside = stored_part(part, f"source {number - 1}")
            facts.append(inside.described())
            arrays |= {f"{number}/{name}": array for name, array in inside.arrays.items()}
        return Stored("query-summaries", {"top": facts[0], "sources": facts[1:]}, arrays)

    @classmethod
    def from_stored(cls, stored: Stored) -> QuerySummaries:
        """The ranker of a model file."""
        top: Any = build(stored.part(stored.facts.get("top"), "0/"))
        listed = stored.fact("sources", cast("type[list[Any]]", list))
        sources = tuple(build(stored.part(facts, f"{number}/")) for number, facts in enumerate(listed, 1))
        try:
            return cls(sources, top)
        except ArgumentError as problem:
            raise DataError(problem.problem, place="top", value=type(top).__name__, remedy=DAMAGED) from problem


def summary_names(sources: int) -> tuple[str, ...]:
    """The names of the summaries of so many rankers, as features."""
    return tuple(f"{summary} of ranker {number}" for number in range(sources) for summary in SUMMARIES)


def summaries_of(sources: Sequence[Scorer], features: Any, qid: npt.ArrayLike | None = None) -> Features:
    """The summaries of the rankers' scores: rows × sources · summaries."""
    found: list[Features] = []
    for one in sources:
        scores = part_scores(one, features, qid).astype(SCORE)
        found.append(summed_up(scores, *grouped(scores, features, qid)))
    return np.column_stack(found)
