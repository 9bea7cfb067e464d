"""Click logs: what users would have clicked of judged documents, shown in the order of a ranker.

A session shows the best documents of one query, best first. A document of relevance r = (2^grade − 1)/(2^highest − 1) attracts
the click of a user who looks at it with probability a = noise + (1 − noise)·r. Where users look is said by a click model; how
likely they are to look at each position, on average, is the true examination, which is kept apart from the log.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from rankinite.checks import check_choice, check_count, check_number, check_seed
from rankinite.choices import ClickModel
from rankinite.data.dataset import Dataset
from rankinite.data.dataset_checks import check_judged
from rankinite.data.grouping import as_text, check_order
from rankinite.data.io.output_files import write_atomically
from rankinite.engine.kernel import GRADE, INDEX, SCORE, Flags, Floats, Indices
from rankinite.errors import DataError

if TYPE_CHECKING:
    from rankinite.data.io.text_files import AnyPath

TRUST = 0.65
"""How often a document that does not deserve it is clicked at the first position, for being there; further down, less."""
QUERIES, CLICKS = range(2)
"""What a stream of random numbers is for."""


@dataclass(frozen=True, kw_only=True)
class ClickSettings:
    """How clicks are simulated; two logs with equal settings from the same data and scores are the same."""

    model: ClickModel = "position"
    """How users look at results: position, cascade or trust."""
    eta: float = 1.0
    """How fast interest falls: position k is looked at with probability (1/k)^η, and a cascade goes on with the ratio of these;
    0 is no bias at all."""
    noise: float = 0.1
    """The chance that a document of no relevance is clicked when it is looked at."""
    shown: int = 10
    """The documents of a session, at most."""
    seed: int = 0
    """Another seed draws other queries and clicks."""

    def __post_init__(self) -> None:
        check_choice("ClickSettings", "model", self.model, get_args(ClickModel))
        check_number("ClickSettings", "eta", self.eta, 0.0)
        check_number("ClickSettings", "noise", self.noise, 0.0, 1.0)
        check_count("ClickSettings", "shown", self.shown)
        check_seed("ClickSettings", self.seed)


@dataclass(frozen=True, eq=False)
class ClickLog:
    """A simulated log, and what no log tells."""

    data: Dataset
    """One query per session, its grades 1 for clicked documents and 0 for others, with positions. Session n of query "7" is
    "7~n"; ``batches`` holds the query that each session is of."""
    examination: Floats
    """How likely position 1, 2, … was looked at, on average over the log."""
    settings: ClickSettings

    def write_examination(self, path: AnyPath) -> None:
        """Write the true examination as a CSV file, apart from the log."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["position", "examination"])
        writer.writerows([place, repr(value)] for place, value in enumerate(self.examination.tolist(), 1))
        with write_atomically(Path(path)) as handle:
            handle.write(text.getvalue().encode())


def simulate_clicks(data: Dataset, scores: Any, sessions: int = 100_000, settings: ClickSettings | None = None) -> ClickLog:
    """A log of sessions, each of a query drawn at random, whose documents a ranker has put in order.

    >>> log = simulate_clicks(judged, weak.score(judged), 100_000, ClickSettings(eta=1.0))          # doctest: +SKIP
    >>> ranker = LambdaMART(debias="pairwise").fit(log.data)                                        # doctest: +SKIP

    ``scores``: one per row, by which documents are shown; rows of equal scores in their order. Only grades decide what is
    clicked when it is looked at.
    """
    settings = settings or ClickSettings()
    check_judged(data)
    check_count("simulate_clicks", "sessions", sessions)
    check_order(scores, data)
    order = _shown_order(data, np.asarray(scores, SCORE))
    queries = np.sort(_stream(settings.seed, QUERIES).integers(0, data.queries, sessions))
    sizes = np.minimum(np.diff(data.offsets)[queries], settings.shown)
    offsets = np.concatenate((np.zeros(1, INDEX), np.cumsum(sizes)))
    places = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    rows = order[np.repeat(data.offsets[:-1][queries], sizes) + places]
    looked, clicked = _clicks(_attraction(data, settings.noise)[rows], places, offsets, settings)
    log = Dataset(
        features=data.features[rows],
        grades=clicked.astype(GRADE),
        offsets=offsets,
        qids=_session_names(data, queries),
        feature_names=data.feature_names,
        doc_ids=None if data.doc_ids is None else data.doc_ids[rows],
        batches=data.qids[queries],
        source=f"clicks on {data.source}",
        positions=(places + 1).astype(np.int32),
    )
    longest = int(sizes.max())
    shown = np.bincount(places, minlength=longest)
    return ClickLog(log, np.bincount(places, looked, minlength=longest) / shown, settings)


def _stream(seed: int, purpose: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(purpose,))))


def _shown_order(data: Dataset, scores: Floats) -> Indices:
    """The rows of each query, the highest score first."""
    if scores.shape != (data.rows,) or not np.isfinite(scores).all():
        raise DataError(
            f"the scores have shape {scores.shape}, or are not all finite",
            place=data.source,
            value=scores.shape,
            rule=f"Documents are shown by their scores: one finite number for each of the {data.rows} rows",
            remedy="Give ranker.score(data)",
        )
    return np.lexsort((-scores, data.query_of_row()))


def _attraction(data: Dataset, noise: float) -> Floats:
    """How likely each row is clicked by a user who looks at it."""
    highest = float(data.grades.max())
    if highest <= 0 or data.grades.min() < 0 or highest > 60:
        raise DataError(
            f"grades run from {data.grades.min():g} to {highest:g}",
            place=data.source,
            value=(float(data.grades.min()), highest),
            rule="Grades from 0 up to at most 60, some of them above 0, say how much a document attracts",
            remedy="Map them with map_grades",
        )
    relevance = (np.exp2(data.grades.astype(SCORE)) - 1.0) / (np.exp2(highest) - 1.0)
    return noise + (1.0 - noise) * relevance


def _session_names(data: Dataset, queries: Indices) -> Any:
    """The qids of sessions: those of query "7" are "7~1", "7~2", …; ``queries`` are sorted."""
    first = np.searchsorted(queries, np.arange(data.queries))
    numbers = np.arange(len(queries)) - first[queries] + 1
    return np.strings.add(np.strings.add(data.qids[queries], as_text(["~"])), as_text(numbers))


def _clicks(attraction: Floats, places: Indices, offsets: Indices, settings: ClickSettings) -> tuple[Floats, Flags]:
    """Of every shown document, how likely it was looked at given what came before, and whether it was clicked."""
    random = _stream(settings.seed, CLICKS)
    interest: Floats = np.asarray((places + 1.0) ** -settings.eta, SCORE)
    if settings.model == "cascade":
        return _cascade(attraction, places, offsets, settings.eta, random)
    if settings.model == "trust":
        attraction = attraction + (1.0 - attraction) * TRUST * interest
    return interest, random.random(len(places)) < interest * attraction


def _cascade(
    attraction: Floats, places: Indices, offsets: Indices, eta: float, random: np.random.Generator
) -> tuple[Floats, Flags]:
    """From the top down: a click ends the session; without one the user goes on to position k with probability ((k−1)/k)^η."""
    draws = random.random((2, len(places)))
    goes_on = (places == 0) | (draws[0] < (np.maximum(places, 1) / (places + 1.0)) ** eta)
    wants = draws[1] < attraction
    ends = _before(~goes_on, offsets, itself=True) | _before(wants, offsets, itself=False)
    looked = ~ends
    return looked.astype(SCORE), looked & wants


def _before(flags: Flags, offsets: Indices, *, itself: bool) -> Flags:
    """Whether a flag is set at a row further up in the same session, or at the row itself."""
    counts = np.cumsum(flags)
    at_start = np.repeat(counts[offsets[:-1]] - flags[offsets[:-1]], np.diff(offsets))
    return (counts if itself else counts - flags) > at_start
