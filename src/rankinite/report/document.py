"""Report: the contents of a report as plain data, numbers, texts and tuples of them, which JSON can hold.

Numbers that are undefined are None. Large columns are tuples of their own, one entry per query or document, so that the file
stays small.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from rankinite.report.diversity_section import DiversitySection
from rankinite.report.explanation_section import ExplanationSection
from rankinite.report.folds_section import FoldsSection
from rankinite.report.handover import Handover
from rankinite.report.importance_section import FeatureLosses, Importance
from rankinite.report.moved_section import MovedTrees, MovedWeights
from rankinite.report.movers import Movers
from rankinite.report.search_section import SearchSection
from rankinite.report.serving_section import ServingSection

Number: TypeAlias = float | None
"""A number, or None where there is none."""


@dataclass(frozen=True)
class Figure:
    """One of the few numbers shown large at the top."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class FigureGroup:
    """Figures of one source, apart from those of another."""

    title: str
    """Which data they are of, and what these decided."""
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class SystemResult:
    """One system by one measure."""

    mean: Number
    low: Number
    """The ends of the mean's confidence interval."""
    high: Number
    spread: str
    """The text behind the mean: half the interval, or both ends, with the decimals of the table."""
    better_than: str
    """The letters of the systems that it is significantly better than."""


@dataclass(frozen=True)
class Gain:
    """One system against a baseline, by the first measure."""

    difference: float
    low: Number
    high: Number
    p: float
    """Corrected for the number of pairs."""
    p_text: str
    """The same as it is printed: one that resampling cannot tell from zero has ``<``."""
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class System:
    """One line of a table."""

    letter: str
    name: str
    what: str
    """What it is, in a few words; may be empty."""
    chosen: bool
    results: tuple[SystemResult, ...]
    """One per measure."""
    gains: tuple[Gain | None, ...]
    """One per baseline; None against itself, or where the pair was not tested."""
    size: str
    seconds: Number
    microseconds: Number = None
    """What scoring a document takes, where it was measured."""


@dataclass(frozen=True)
class ResultTable:
    """Systems by measures on one set of queries."""

    title: str
    source: str
    measures: tuple[str, ...]
    higher_is_better: tuple[bool, ...]
    baselines: tuple[str, ...]
    systems: tuple[System, ...]
    """The best by the first measure first."""
    alpha: float
    """The level of significance."""
    notes: tuple[str, ...]
    """What is true of this table."""
    marks: tuple[str, ...] = ()
    """What the marks in it mean; a page with several tables has each of these lines once."""
    decimals: tuple[int, ...] = ()
    """Of the means by each measure: as many as show two digits of half the intervals."""
    gain_decimals: tuple[int, ...] = ()
    """The same of the gains over each baseline."""


@dataclass(frozen=True)
class CurveLine:
    """One method's learning curve."""

    name: str
    means: tuple[float, ...]
    gains: tuple[Number, ...]
    """Over the background, one per size; empty for the background itself."""
    lows: tuple[Number, ...]
    highs: tuple[Number, ...]


@dataclass(frozen=True)
class TargetSizeCurve:
    """The measure by the number of target queries trained on."""

    measure: str
    sizes: tuple[int, ...]
    chosen: str
    lines: tuple[CurveLine, ...]
    decimals: int = 4
    """Of means and gains: as many as show two digits of half the intervals of gains."""


@dataclass(frozen=True)
class Training:
    """The measure during one training, every few rounds."""

    name: str
    unit: str
    measure: str
    every: int
    """Entry k of ``train`` and ``valid`` is the value after k × every rounds; the last entry that after all."""
    rounds: int
    train: tuple[Number, ...]
    valid: tuple[Number, ...]
    best: int
    """The round chosen."""
    best_value: Number
    """The value there, on the validation data if there were some."""
    stopped: str
    examination: tuple[tuple[str, Number, Number], ...] = ()
    """Where clicks were debiased: positions, and how often they are clicked and skipped, 1 being the first."""
    held_out: tuple[Number, ...] = ()
    """Where held-out queries chose the round: the mean over other, smaller trainings, entry k after k × every rounds."""
    held_out_rounds: int = 0
    """The rounds of its last entry."""
    held_out_parts: int = 0
    """How many smaller trainings there were."""


@dataclass(frozen=True)
class Documents:
    """The documents of the queries: one entry per document in every column but ``offsets`` and ``left_out``.

    Those of a query are in the order of their rank after; equal ranks are ties, and a document of rank 0 was not returned.
    """

    offsets: tuple[int, ...]
    """queries + 1 positions: where each query's documents begin."""
    grades: tuple[float, ...]
    ids: tuple[str, ...] | None
    rank_before: tuple[int, ...] | None
    rank_after: tuple[int, ...]
    score_before: tuple[Number, ...] | None
    score_after: tuple[Number, ...]
    top: int
    """Where documents were left out: those kept are among this many first before or after. 0: all are here."""
    left_out: tuple[int, ...]
    """How many of each query are not here; empty when all are."""


@dataclass(frozen=True)
class Queries:
    """Every query counted, before and after; without a ranker to compare with, after alone."""

    measure: str
    higher_is_better: bool
    source: str
    note: str
    before_name: str | None
    after_name: str
    skipped: int
    qids: tuple[str, ...]
    before: tuple[float, ...] | None
    after: tuple[float, ...]
    documents: Documents
    movers: Movers | None = None
    """Which features moved documents, where that is known."""
    cutoff: int | None = None
    """How many documents the measure looks at; None if at all."""


@dataclass(frozen=True)
class GradesByRank:
    """Which share of the documents at each rank has which grade."""

    source: str
    before_name: str | None
    after_name: str
    grades: tuple[float, ...]
    queries: tuple[int, ...]
    """For each rank, how many queries have a document there."""
    before: tuple[tuple[float, ...], ...] | None
    """For each rank, one share per grade."""
    after: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Facts:
    """Facts that one must know to repeat the result, under one heading."""

    title: str
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Report:
    """Everything a report shows; parts without data are None or empty, and do not appear."""

    title: str
    verdict: tuple[str, ...]
    """Sentences: the verdict; what the queries show; how sure that is; then what else to know."""
    explanation: tuple[str, ...] = ()
    """What the other numbers mean; folded away."""
    figures: tuple[Figure, ...] = ()
    """Of the data that the verdict is about."""
    figures_title: str = ""
    """Which data these are."""
    other_figures: tuple[FigureGroup, ...] = ()
    """Those of other data, which decided nothing."""
    search: SearchSection | None = None
    tables: tuple[ResultTable, ...] = ()
    curve: TargetSizeCurve | None = None
    diversity: DiversitySection | None = None
    queries: Queries | None = None
    grades: GradesByRank | None = None
    trainings: tuple[Training, ...] = ()
    importance: Importance | None = None
    losses: FeatureLosses | None = None
    moved_trees: tuple[MovedTrees, ...] = ()
    moved_weights: tuple[MovedWeights, ...] = ()
    moved_note: str = ""
    """Which ranker was moved, and what its parts are."""
    serving: ServingSection | None = None
    facts: tuple[Facts, ...] = ()
    folds: FoldsSection | None = None
    explained: ExplanationSection | None = None
    handover: Handover | None = None
    schema: int = 2
    """The version of these data: 2 has the three verdicts of adaptation, and what the queries show first."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it."""
        shallow = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "queries"}
        others = asdict(Report(**shallow))
        # The columns of documents are long and flat: asdict would copy them entry by entry.
        if self.queries is None:
            return {**others, "queries": None}
        movers = None if self.queries.movers is None else vars(self.queries.movers)
        return {**others, "queries": {**vars(self.queries), "documents": vars(self.queries.documents), "movers": movers}}

    def to_json(self) -> str:
        """The same as text; undefined numbers are null."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
