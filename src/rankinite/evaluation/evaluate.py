"""Evaluation: how good a ranker is on judged data, as means with confidence intervals and the value of every query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats, Strings
from rankinite.errors import DataError, MeasureError
from rankinite.evaluation.caveats import Coverage, TrainingOverlap, TrainingOverlaps, coverage_of, overlap_warnings
from rankinite.evaluation.scorers import RankerLike, Scorer, match_to, scores_of, with_scores_read
from rankinite.evaluation.significance import mean_bounds, t_interval, within_bounds
from rankinite.evaluation.values import mean_of, values_per_query
from rankinite.frames import ArrowTable, TabularByQuery, arrow_of, finite
from rankinite.grid import Grid, GridResult, number, percent, spread
from rankinite.measures.base import Measure
from rankinite.measures.conventions import Convention
from rankinite.measures.conventions import convention as convention_of
from rankinite.measures.ranking import Ties, check_ties
from rankinite.measures.spelling import as_measures, read_measure
from rankinite.plurals import counted
from rankinite.short_names import short_source


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The values of one measure."""

    measure: Measure
    """The measure asked for."""
    mean: float
    """The mean over the queries counted."""
    interval: tuple[float, float]
    """Student's confidence interval of the mean over queries, cut to what the measure can be; all of that when one query is
    counted."""
    per_query: Floats
    """One value per query of the data, NaN where it was skipped."""

    @property
    def spread(self) -> str:
        """What is printed after the mean: half the interval as ``±0.0284``, or both ends where the measure's range cuts it."""
        return spread(self.mean, self.interval)

    @property
    def queries(self) -> int:
        """The number of queries counted."""
        return len(self.per_query) - self.skipped

    @property
    def skipped(self) -> int:
        """The number of queries left out."""
        return int(np.count_nonzero(np.isnan(self.per_query)))


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation(GridResult, TabularByQuery):
    """The values of every measure for one ranker; ``evaluation["ndcg@10"]`` is the :class:`Result` of one."""

    results: tuple[Result, ...]
    """One per measure, in the order asked for."""
    qids: Strings
    """The queries, in the order of each result's ``per_query``."""
    convention: str
    """The name of the convention followed."""
    ties: Ties
    """What tied scores mean."""
    confidence: float
    """The confidence of the intervals."""
    source: str
    """The data evaluated on."""
    coverage: Coverage
    """Queries without an answer, and what a TREC run returns without a judgement."""
    overlap: TrainingOverlap | None = None
    """How many of the queries the ranker was trained on; None for scores, features and other rankers that do not learn."""
    notes: tuple[str, ...] = ()
    """Which features of the data were taken for those of a model that does not know their names."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind: queries that the ranker was trained on, does not answer, or that nobody judged; notes."""
        found = (
            *overlap_warnings({"the ranker": self.overlap}, self.source),
            *self.coverage.warnings,
            *(f"{note}." for note in self.notes),
        )
        return tuple(text[0].upper() + text[1:] for text in found)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order asked for."""
        return tuple(result.measure for result in self.results)

    def __getitem__(self, measure: Measure | str) -> Result:
        for result in self.results:
            if measure in (result.measure, str(result.measure)):
                return result
        if isinstance(measure, str) and (parsed := read_measure(measure)) in self.measures:
            return self[parsed]
        raise MeasureError(
            f"{measure} was not evaluated", value=str(measure), rule=f"Evaluated were {', '.join(map(str, self.measures))}"
        )

    def grid(self) -> Grid:
        """The table that is printed."""
        rows = tuple(
            (
                str(result.measure),
                number(result.mean),
                " to ".join(map(number, result.interval)),
                str(result.queries),
                str(result.skipped),
            )
            for result in self.results
        )
        return Grid(
            header=("measure", "mean", f"{percent(self.confidence)} interval", "queries", "skipped"),
            rows=rows,
            title=f"{short_source(self.source)}: {counted(len(self.qids), 'query')}",
            notes=(*self.warnings, f"Convention {self.convention}, ties {self.ties}. Intervals: Student's t over queries."),
        )

    def to_arrow(self, *, per_query: bool = False) -> ArrowTable:
        """One row per measure; with ``per_query`` one per measure and query, whose value is missing where it was skipped."""
        return arrow_of(self.query_records() if per_query else self.records())

    def records(self) -> list[dict[str, Any]]:
        """The mean of every measure as a flat record, undefined values as None."""
        return [
            {
                "measure": str(result.measure),
                "mean": finite(result.mean),
                "low": finite(result.interval[0]),
                "high": finite(result.interval[1]),
                "queries": result.queries,
                "skipped": result.skipped,
            }
            for result in self.results
        ]

    def query_records(self) -> list[dict[str, Any]]:
        """The value of every query by every measure as a flat record, None where it was skipped."""
        return [
            {"measure": str(result.measure), "qid": qid, "value": finite(value)}
            for result in self.results
            for qid, value in zip(self.qids.tolist(), result.per_query.tolist(), strict=True)
        ]

    def to_csv(self) -> str:
        """One line per measure, with all digits."""
        rows = tuple((str(r.measure), *map(repr, (r.mean, *r.interval)), str(r.queries), str(r.skipped)) for r in self.results)
        return Grid(("measure", "mean", "low", "high", "queries", "skipped"), rows).csv()

    def to_json(self) -> str:
        """Everything there is, per-query values by qid; what is undefined or infinite is null."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def to_dict(self) -> dict[str, Any]:
        """The content of :meth:`to_json`."""
        return {
            "data": self.source,
            "convention": self.convention,
            "ties": self.ties,
            "confidence": self.confidence,
            "overlap": self.overlap.to_dict() if self.overlap is not None and self.overlap.is_of_concern else None,
            "coverage": self.coverage.to_dict(),
            "warnings": list(self.warnings),
            "measures": {
                str(result.measure): {
                    "mean": finite(result.mean),
                    "interval": [finite(end) for end in result.interval],
                    "queries": result.queries,
                    "skipped": result.skipped,
                    "higher_is_better": result.measure.higher_is_better,
                    "per_query": dict(zip(self.qids.tolist(), map(finite, result.per_query.tolist()), strict=True)),
                }
                for result in self.results
            },
        }


def evaluate(
    ranker: RankerLike,
    data: Dataset,
    measures: Sequence[Measure | str] | Measure | str,
    *,
    convention: str | Convention = "rankinite",
    ties: Ties | None = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Measure a ranker, scores (one per row of ``data``), or the file of a TREC run or of scores, given by its path.

    Where reading has regrouped the rows of ``data``, an array must state its order: ``data.from_input_order(scores)`` for
    scores in the order of the source, ``data.in_row_order(scores)`` for scores in that of the data's rows.

    By default queries whose documents all have one grade are skipped, as are those for which a measure is undefined, and
    tied scores count their exact expected value; ``convention`` names the habits of another tool and ``ties``
    overrides its rule for ties. The result warns when the ranker was trained on some of the queries, of queries for which no
    document is returned, which count as nothing found, and of queries of a TREC run that nobody judged. A model that does not
    know the names of its features is matched to the data by position, as :func:`rankinite.match_features` does, with a note.
    Where the data are judgements without features (qrels), documents that a run returns and nobody judged count as grade 0.

    >>> evaluate(Feature(0), test, ["ndcg@10", "err"])["ndcg@10"].mean                # doctest: +SKIP
    """
    rules = convention_of(convention)
    asked = as_measures(measures, rules)
    readable, data = with_scores_read({"": ranker}, data)
    return evaluate_system("", readable[""], data, asked, rules, ties, confidence, TrainingOverlaps(data))


def evaluate_system(
    name: str,
    ranker: Scorer | npt.ArrayLike,
    data: Dataset,
    measures: Sequence[Measure],
    convention: Convention,
    ties: Ties | None,
    confidence: float,
    overlaps: TrainingOverlaps,
) -> Evaluation:
    """Measure a ranker, called ``name`` in messages, or scores; ``overlaps`` are those of the data."""
    matched, notes = match_to(ranker, data)
    scores = scores_of(matched, data, name)
    if not data.queries:
        raise DataError(
            "there are no queries, so there is nothing to evaluate",
            place=data.source,
            value=0,
            remedy="Give data with at least one query",
        )
    rule = convention.ties if ties is None else ties
    check_ties(rule, data.doc_ids)
    results: list[Result] = []
    for measure, values in zip(measures, values_per_query(scores, data, measures, convention, rule), strict=True):
        mean = mean_of(measure, values, data)
        counted = values[~np.isnan(values)]
        interval = within_bounds(t_interval(counted, confidence), mean, mean_bounds(measure, counted))
        values.flags.writeable = False
        results.append(Result(measure, mean, interval, values))
    return Evaluation(
        results=tuple(results),
        qids=data.qids,
        convention=convention.name,
        ties=rule,
        confidence=confidence,
        source=data.source,
        coverage=coverage_of(matched, scores, data),
        overlap=overlaps.of(matched),
        notes=notes,
    )
