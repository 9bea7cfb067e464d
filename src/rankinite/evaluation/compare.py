"""Comparison: which of several rankers is better on the same queries, and is it more than chance?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, listed, quoted
from rankinite.evaluation.caveats import TrainingOverlaps, overlap_warnings
from rankinite.evaluation.evaluate import Evaluation, evaluate_system
from rankinite.evaluation.pair_tests import TESTS, PairTest, Test, compare_pairs, floor_note
from rankinite.evaluation.scorers import RankerLike, with_scores_read
from rankinite.evaluation.significance import exact_mean
from rankinite.frames import ArrowTable, TabularByQuery, arrow_of, finite, pandas_of, polars_of
from rankinite.grid import Grid, half_note, number, percent
from rankinite.measures.base import Measure, sign_of
from rankinite.measures.conventions import Convention
from rankinite.measures.conventions import convention as convention_of
from rankinite.measures.ranking import Ties
from rankinite.measures.spelling import as_measures
from rankinite.plurals import counted
from rankinite.short_names import short_source

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(TabularByQuery):
    """Every system by every measure, and every pair of systems tested."""

    evaluations: Mapping[str, Evaluation]
    """System name → its evaluation, in the order of the rankers."""
    pairs: tuple[PairTest, ...]
    """Measure by measure, every pair of systems that was tested, in the same order."""
    test: Test
    """The test that decides about significance."""
    alpha: float
    """The level of significance."""
    resamples: int
    seed: int

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.evaluations)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order asked for."""
        return self._shared.measures

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind: which systems were trained on these queries, return nothing for some, or were matched."""
        overlaps = {name: result.overlap for name, result in self.evaluations.items()}
        uncovered = (f"{name}: {text}" for name, result in self.evaluations.items() for text in result.coverage.warnings)
        notes = (f"{name}: {text}." for name, result in self.evaluations.items() for text in result.notes)
        return (*overlap_warnings(overlaps, self._shared.source), *uncovered, *notes)

    @property
    def letters(self) -> dict[str, str]:
        """System name → its letter."""
        return {name: _letter(place) for place, name in enumerate(self.evaluations)}

    def __getitem__(self, system: str) -> Evaluation:
        if system not in self.evaluations:
            raise ArgumentError(
                f"no system is named {quoted(system)}", value=system, rule=f"The systems are {listed(self.systems)}"
            )
        return self.evaluations[system]

    def pair(self, first: str, second: str, measure: Measure | str) -> PairTest:
        """The tests of two systems, seen from the first."""
        sides, wanted = {first, second}, self[first][measure].measure
        for pair in self.pairs:
            if pair.measure == wanted and {pair.first, pair.second} == sides:
                return pair if pair.first == first else pair.mirrored()
        self[second]  # an unknown name has its own error
        if first == second:
            raise ArgumentError(
                f"{quoted(first)} cannot be compared with itself", value=first, remedy="Give two different systems"
            )
        raise ArgumentError(
            f"{quoted(first)} and {quoted(second)} were not compared, as `against=…` names neither",
            value=(first, second),
            remedy="Leave it out to test all pairs",
        )

    def better_than(self, system: str, measure: Measure | str) -> tuple[str, ...]:
        """The systems that ``system`` is significantly better than."""
        wanted = self[system][measure].measure
        return tuple(
            pair.second if pair.first == system else pair.first
            for pair in self.pairs
            if pair.measure == wanted and pair.better == system and pair.p(self.test).holm <= self.alpha
        )

    def best(self, measure: Measure | str) -> tuple[str, ...]:
        """The systems with the best mean."""
        means = {name: evaluation[measure].mean for name, evaluation in self.evaluations.items()}
        top = (max if self._shared[measure].measure.higher_is_better else min)(means.values())
        return tuple(name for name, mean in means.items() if math.isclose(mean, top, rel_tol=1e-12, abs_tol=1e-12))

    def grid(self) -> Grid:
        """Systems × measures: mean, half the interval, and the letters of the systems it is significantly better than."""
        rows: list[tuple[str, ...]] = []
        strong: set[tuple[int, int]] = set()
        for row, (name, letter) in enumerate(self.letters.items()):
            cells: list[str] = []
            for column, result in enumerate(self.evaluations[name].results):
                letters = [self.letters[other] for other in self.better_than(name, result.measure)]
                beaten = ("" if len(self.systems) <= 26 else ",").join(letters)
                cells.append(f"{number(result.mean)} {result.spread}" + (f" >{beaten}" if beaten else ""))
                if name in self.best(result.measure):
                    strong.add((row, 2 + column))
            rows.append((letter, name, *cells))
        header = ("", "system", *map(str, self.measures))
        title = short_source(self._shared.source)
        return Grid(header, tuple(rows), "l" * len(header), title, self._notes(), frozenset(strong))

    def _notes(self) -> tuple[str, ...]:
        shared = self._shared
        counts: dict[tuple[int, int], list[str]] = {}
        for result in shared.results:
            counts.setdefault((result.queries, result.skipped), []).append(str(result.measure))
        pairs = len(self.pairs) // len(self.measures)
        corrected = f"Holm-corrected over {pairs} pair{'s' * (pairs > 1)}; alpha {self.alpha:g}"
        spreads = (result.spread for evaluation in self.evaluations.values() for result in evaluation.results)
        half = half_note(f"{percent(shared.confidence)} confidence interval of the mean", spreads)
        letters = f">: significantly better than the systems of these letters ({self.test} test, paired by query; {corrected})."
        drawn = f"; {self.resamples} resamples, seed {self.seed}" if pairs else ""
        return (
            *self.warnings,
            f"{half}. * or bold: best mean." if pairs else f"{half}.",
            *((letters,) if pairs else ()),
            *(
                f"{', '.join(names)}: {counted(queries, 'query')}, {skipped} skipped."
                for (queries, skipped), names in counts.items()
            ),
            f"Convention {shared.convention}, ties {shared.ties}{drawn}.",
        )

    def pairs_grid(self) -> Grid:
        """Every pair: difference, wins / ties / losses, and the p-values of the three tests, raw and Holm-corrected."""
        interval = f"{percent(self._shared.confidence)} interval"
        header = ("measure", "first", "second", "difference", interval, "wins/ties/losses")
        rows = tuple(
            (
                str(pair.measure),
                pair.first,
                pair.second,
                number(pair.difference, signed=True),
                " to ".join(number(end, signed=True) for end in pair.interval),
                f"{pair.wins}/{pair.ties}/{pair.losses}",
                *(text for test in TESTS for text in (pair.p(test).raw_text, pair.p(test).holm_text)),
            )
            for pair in self.pairs
        )
        names = tuple(name for test in TESTS for name in (test, "Holm"))
        below = floor_note(pair.p(test) for pair in self.pairs for test in TESTS)
        drawn = f"{self.resamples} resamples, seed {self.seed}"
        note = f"p-values of the paired tests, each raw and Holm-corrected; {drawn}{below}."
        return Grid((*header, *names), rows, "lll" + "r" * 9, f"{short_source(self._shared.source)}: pairs", (note,))

    def plot_means(self, measure: Measure | str | None = None, axes: Axes | None = None) -> Axes:
        """Draw every system's mean with its interval, by the first measure if none is named; the best mean stands out."""
        from rankinite.drawing import BLUE, ORANGE, draw_intervals, literal

        measure = self.measures[0] if measure is None else measure
        results = [evaluation[measure] for evaluation in self.evaluations.values()]
        best = self.best(measure)
        canvas = draw_intervals(
            axes,
            self.systems,
            [result.mean for result in results],
            [result.interval for result in results],
            [ORANGE if name in best else BLUE for name in self.systems],
        )
        shared = self._shared
        canvas.set_xlabel(f"mean {results[0].measure} and its {percent(shared.confidence)} interval; orange: best mean")
        canvas.set_title(literal(f"{short_source(shared.source)}: {counted(results[0].queries, 'query')}"))
        return canvas

    def plot_gains(self, first: str, second: str, measure: Measure | str | None = None, axes: Axes | None = None) -> Axes:
        """Draw what ``first`` gains over ``second`` on every query, the largest gain on the left, by the first measure if none
        is named.
        """
        from rankinite.drawing import BLUE, GREY, INK, ORANGE, axes_of, literal, plain, short

        measure = self.measures[0] if measure is None else measure
        pair = self.pair(first, second, measure)
        change = sign_of(pair.measure) * (self[first][measure].per_query - self[second][measure].per_query)
        gains = np.sort(change[~np.isnan(change)])[::-1]
        canvas = axes_of(axes, 7.0, 4.2)
        edges = np.arange(len(gains) + 1)
        for side, colour in ((np.maximum(gains, 0.0), BLUE), (np.minimum(gains, 0.0), ORANGE)):
            canvas.stairs(side, edges, fill=True, color=colour)
        mean = exact_mean(gains)
        canvas.axhline(0.0, color=GREY, linewidth=0.8)
        canvas.axhline(mean, color=INK, linestyle="--", linewidth=1.0, label=f"mean {mean:+.4f}")
        canvas.set_xlim(0, len(gains))
        canvas.set_xlabel(f"queries, sorted: {pair.wins:,} gain, {pair.ties:,} stay, {pair.losses:,} lose")
        canvas.set_ylabel(f"gain in {pair.measure}")
        canvas.set_title(literal(f"{short(first)} over {short(second)}"))
        canvas.legend(frameon=False)
        return plain(canvas)

    def to_markdown(self, *, pairs: bool = False) -> str:
        """The table in Markdown; with ``pairs``, the table of pairs below it."""
        return "\n\n".join(grid.markdown() for grid in self._grids(pairs))

    def to_latex(self, *, pairs: bool = False, caption: str | None = None, label: str | None = None) -> str:
        """The table in LaTeX, which needs the package booktabs; with ``pairs``, the table of pairs below it.

        ``caption``, itself LaTeX, is in place of the title. The pairs keep their title, and their label ends in ``-pairs``.
        """
        first = self.grid().latex(caption, label)
        return f"{first}\n\n{self.pairs_grid().latex(label=label and f'{label}-pairs')}" if pairs else first

    def to_text(self, *, pairs: bool = False) -> str:
        """The table for a terminal; with ``pairs``, the table of pairs below it."""
        return "\n\n".join(grid.text() for grid in self._grids(pairs))

    def to_arrow(self, *, per_query: bool = False) -> ArrowTable:
        """One row per system and measure, or, with ``per_query``, the value of every query, missing where it was skipped.

        ``better_than`` holds the systems that it is significantly better than, separated by "; ".
        """
        return arrow_of(self.query_records() if per_query else self.records())

    def records(self) -> list[dict[str, Any]]:
        """Every system by every measure as a flat record."""
        return [
            {"system": name, **record, "better_than": "; ".join(self.better_than(name, record["measure"]))}
            for name, evaluation in self.evaluations.items()
            for record in evaluation.records()
        ]

    def query_records(self) -> list[dict[str, Any]]:
        """The value of every query for every system by every measure as a flat record."""
        return [
            {"system": name, **record} for name, evaluation in self.evaluations.items() for record in evaluation.query_records()
        ]

    def pairs_to_arrow(self) -> ArrowTable:
        """One row per pair of systems and measure: the difference, its intervals, wins, ties, losses and all p-values."""
        return arrow_of([pair.record() for pair in self.pairs])

    def pairs_to_pandas(self) -> pd.DataFrame:
        """The rows of :meth:`pairs_to_arrow` as a pandas frame."""
        return pandas_of(self.pairs_to_arrow())

    def pairs_to_polars(self) -> pl.DataFrame:
        """The rows of :meth:`pairs_to_arrow` as a polars frame."""
        return polars_of(self.pairs_to_arrow())

    def to_csv(self) -> str:
        """One line per system and measure, with all digits."""
        rows = tuple(
            (
                name,
                str(result.measure),
                *map(repr, (result.mean, *result.interval)),
                str(result.queries),
                str(result.skipped),
                "; ".join(self.better_than(name, result.measure)),
            )
            for name, evaluation in self.evaluations.items()
            for result in evaluation.results
        )
        return Grid(("system", "measure", "mean", "low", "high", "queries", "skipped", "better than"), rows).csv()

    def pairs_to_csv(self) -> str:
        """One line per pair and measure, with all digits."""
        rows = [pair.record() for pair in self.pairs]
        return Grid(tuple(rows[0]), tuple(tuple(map(str, row.values())) for row in rows)).csv()

    def to_json(self) -> str:
        """Everything there is; what is undefined or infinite is null."""
        content = {
            "test": self.test,
            "correction": "holm",
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.seed,
            "warnings": list(self.warnings),
            "systems": {
                name: {
                    **evaluation.to_dict(),
                    "better_than": {str(measure): list(self.better_than(name, measure)) for measure in self.measures},
                }
                for name, evaluation in self.evaluations.items()
            },
            "pairs": [
                {key: finite(value) if isinstance(value, float) else value for key, value in pair.record().items()}
                for pair in self.pairs
            ],
        }
        return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.grid().html()

    @property
    def _shared(self) -> Evaluation:
        """One of the evaluations: what they share can be read from any."""
        return next(iter(self.evaluations.values()))

    def _grids(self, pairs: bool) -> list[Grid]:
        return [self.grid(), self.pairs_grid()] if pairs else [self.grid()]


def compare(
    rankers: Mapping[str, RankerLike],
    data: Dataset,
    measures: Sequence[Measure | str] | Measure | str,
    *,
    convention: str | Convention = "rankinite",
    ties: Ties | None = None,
    test: Test = "randomisation",
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
    against: Sequence[str] | str | None = None,
) -> Comparison:
    """Compare rankers, scores (one per row of ``data``), and the files of TREC runs or scores, given by their paths; by name.

    Every pair is tested by Student's paired t-test, Fisher's randomisation test and the bootstrap, with Holm's
    correction for all pairs of a measure; ``test`` chooses the one that decides what is called significant. ``against``:
    only pairs with this system, or one of these, the baselines, are tested, and corrected for. The result warns of systems
    that were trained on some of the queries. Features are matched, arrays taken and runs read as by :func:`evaluate`.

    >>> print(compare({"bm25": Feature(0), "model": model}, test, [NDCG(10), ERR()]))     # doctest: +SKIP
    """
    against = [against] if isinstance(against, str) else against
    _check(rankers, test, alpha, against)
    readable, data = with_scores_read({str(name): ranker for name, ranker in rankers.items()}, data)
    rules, overlaps = convention_of(convention), TrainingOverlaps(data)
    asked = as_measures(measures, rules)
    evaluations = {
        name: evaluate_system(name, ranker, data, asked, rules, ties, confidence, overlaps) for name, ranker in readable.items()
    }
    pairs = tuple(
        pair for measure in asked for pair in compare_pairs(evaluations, measure, resamples, seed, confidence, against)
    )
    return Comparison(evaluations, pairs, test, alpha, resamples, seed)


def _check(rankers: Mapping[str, RankerLike], test: Test, alpha: float, against: Sequence[str] | None) -> None:
    """Refuse systems that cannot be told apart, and settings outside their range."""
    if not isinstance(rankers, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        raise ArgumentError(
            f"the rankers are a {type(rankers).__name__}",
            owner="compare",
            value=type(rankers).__name__,
            remedy="Give a mapping of names, as {'name': ranker, …}",
        )
    names = [str(name) for name in rankers]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ArgumentError(f"two systems are called {quoted(twice)}", owner="compare", value=twice, rule="Names must differ")
    if len(rankers) < 2:
        raise ArgumentError(
            f"fewer than two systems are compared: {listed(rankers) or 'none'}",
            owner="compare",
            value=len(rankers),
            remedy="Give at least two, as {'name': ranker, …}",
            shell_remedy="Give at least two",
        )
    if test not in TESTS:
        raise ArgumentError("is unknown", owner="compare", setting="test", value=test, rule=f"Known are {', '.join(TESTS)}")
    if not 0.0 < alpha < 1.0:
        raise ArgumentError("must lie between 0 and 1", owner="compare", setting="alpha", value=alpha, remedy="0.05 is usual")
    if against is not None and not against:
        raise ArgumentError(
            "names no system",
            owner="compare",
            setting="against",
            value=against,
            remedy="Give at least one, or leave it out to test all pairs",
        )
    for name in against or ():
        if name not in rankers:
            raise ArgumentError(
                "names no system", owner="compare", setting="against", value=name, rule=f"The systems are {listed(rankers)}"
            )


def _letter(place: int) -> str:
    """a, b, … z, aa, ab, …"""
    before, last = divmod(place, 26)
    return (_letter(before - 1) if before else "") + "abcdefghijklmnopqrstuvwxyz"[last]
