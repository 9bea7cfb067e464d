"""Which ranker is better, and is it more than chance? Several rankers on the same queries."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy.typing as npt

from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError
from rankinite.evaluation.bounds import half_note
from rankinite.evaluation.evaluate import Evaluation, Result, evaluate_ranker, finite, percent
from rankinite.evaluation.inputs import Scorer, as_measures
from rankinite.evaluation.pairs import TESTS, PairTest, Test, compare_pairs, floor_note
from rankinite.evaluation.training_overlap import TrainingOverlaps, overlap_warnings
from rankinite.grid import Grid, number
from rankinite.measures.base import Measure
from rankinite.measures.conventions import Convention
from rankinite.measures.conventions import convention as convention_of
from rankinite.measures.ranking import Ties

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Every system by every measure, and every pair of systems tested."""

    evaluations: Mapping[str, Evaluation]
    """System name → its evaluation, in the order given."""
    pairs: tuple[PairTest, ...]
    """Measure by measure, every pair of systems that was tested, in the order given."""
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
        return self._any.measures

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind: which systems were trained on these queries, and which return nothing for some of them."""
        overlaps = {name: result.overlap for name, result in self.evaluations.items()}
        uncovered = (f"{name}: {text}" for name, own in self.evaluations.items() for text in own.coverage.warnings)
        return (*overlap_warnings(overlaps, self._any.source), *uncovered)

    @property
    def letters(self) -> dict[str, str]:
        """System name → its letter."""
        return {name: _letter(place) for place, name in enumerate(self.evaluations)}

    def __getitem__(self, system: str) -> Evaluation:
        if system not in self.evaluations:
            raise ArgumentError(f"no system is named {system!r}. The systems are {', '.join(map(repr, self.systems))}.")
        return self.evaluations[system]

    def pair(self, first: str, second: str, measure: Measure | str) -> PairTest:
        """The tests of two systems, seen from the first."""
        sides, wanted = {first, second}, self[first][measure].measure
        for pair in self.pairs:
            if pair.measure == wanted and {pair.first, pair.second} == sides:
                return pair if pair.first == first else pair.mirrored()
        self[second]  # an unknown name has its own error
        if first == second:
            raise ArgumentError(f"{first!r} cannot be compared with itself. Give two different systems.")
        raise ArgumentError(f"{first!r} and {second!r} were not compared, as against= names neither. Leave it out to test all.")

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
        top = (max if self._any[measure].measure.higher_is_better else min)(means.values())
        return tuple(name for name, mean in means.items() if math.isclose(mean, top, rel_tol=1e-12, abs_tol=1e-12))

    def grid(self) -> Grid:
        """Systems × measures: mean, half the interval, and the letters of the systems it is significantly better than."""
        rows = tuple(
            (letter, name, *(self._cell(name, measure) for measure in self.measures)) for name, letter in self.letters.items()
        )
        best = {
            (row, 2 + column)
            for column, measure in enumerate(self.measures)
            for row, name in enumerate(self.systems)
            if name in self.best(measure)
        }
        header = ("", "system", *map(str, self.measures))
        return Grid(header, rows, "l" * len(header), self._any.source, self._notes(), frozenset(best))

    def pairs_grid(self) -> Grid:
        """Every pair: difference, wins / ties / losses, and the p-values of the three tests, raw and Holm-corrected."""
        confidence = percent(self._any.confidence)
        header = ("measure", "first", "second", "difference", f"{confidence} interval", "wins/ties/losses")
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
        return Grid((*header, *names), rows, "lll" + "r" * 9, f"{self._any.source}: pairs", (note,))

    def plot_means(self, measure: Measure | str | None = None, axes: Axes | None = None) -> Axes:
        """Draw every system's mean with its interval, by the first measure if none is named."""
        from rankinite.evaluation.plots import plot_means

        return plot_means(self, self.measures[0] if measure is None else measure, axes)

    def plot_gains(self, first: str, second: str, measure: Measure | str | None = None, axes: Axes | None = None) -> Axes:
        """Draw what ``first`` gains over ``second`` on every query, sorted, by the first measure if none is named."""
        from rankinite.evaluation.plots import plot_gains

        return plot_gains(self, first, second, self.measures[0] if measure is None else measure, axes)

    def to_markdown(self, *, pairs: bool = False) -> str:
        """The table in Markdown; with ``pairs``, the table of pairs below it."""
        return "\n\n".join(grid.markdown() for grid in self._grids(pairs))

    def to_latex(self, *, pairs: bool = False) -> str:
        """The table in LaTeX; with ``pairs``, the table of pairs below it."""
        return "\n\n".join(grid.latex() for grid in self._grids(pairs))

    def to_text(self, *, pairs: bool = False) -> str:
        """The table for a terminal; with ``pairs``, the table of pairs below it."""
        return "\n\n".join(grid.text() for grid in self._grids(pairs))

    def to_csv(self) -> str:
        """One line a system and measure, with all digits."""
        rows = tuple(
            (
                name,
                str(r.measure),
                *map(repr, (r.mean, *r.interval)),
                str(r.queries),
                str(r.skipped),
                self._beaten_names(name, r),
            )
            for name, evaluation in self.evaluations.items()
            for r in evaluation.results
        )
        return Grid(("system", "measure", "mean", "low", "high", "queries", "skipped", "better than"), rows).csv()

    def pairs_to_csv(self) -> str:
        """One line a pair and measure, with all digits."""
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
                    "better_than": {str(m): list(self.better_than(name, m)) for m in self.measures},
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
    def _any(self) -> Evaluation:
        """One of the evaluations: what they share can be read from any."""
        return next(iter(self.evaluations.values()))

    def _grids(self, pairs: bool) -> list[Grid]:
        return [self.grid(), self.pairs_grid()] if pairs else [self.grid()]

    def _beaten(self, name: str, result: Result) -> str:
        letters = [self.letters[other] for other in self.better_than(name, result.measure)]
        return ("" if len(self.systems) <= 26 else ",").join(letters)

    def _beaten_names(self, name: str, result: Result) -> str:
        return "; ".join(self.better_than(name, result.measure))

    def _cell(self, name: str, measure: Measure) -> str:
        result = self.evaluations[name][measure]
        beaten = self._beaten(name, result)
        return f"{number(result.mean)} {result.spread}" + (f" >{beaten}" if beaten else "")

    def _notes(self) -> tuple[str, ...]:
        shared = self._any
        counts: dict[tuple[int, int], list[str]] = {}
        for result in shared.results:
            counts.setdefault((result.queries, result.skipped), []).append(str(result.measure))
        pairs = len(self.pairs) // len(self.measures)
        decided = (
            f"{self.test} test, paired by query; Holm-corrected over {pairs} pair{'s' * (pairs > 1)}; alpha {self.alpha:g}"
        )
        spreads = (result.spread for evaluation in self.evaluations.values() for result in evaluation.results)
        half = half_note(f"{percent(shared.confidence)} confidence interval of the mean", spreads)
        return (
            *self.warnings,
            f"{half}. * or bold: best mean.",
            f">: significantly better than the systems of these letters ({decided}).",
            *(f"{', '.join(names)}: {queries} queries, {skipped} skipped." for (queries, skipped), names in counts.items()),
            f"Convention {shared.convention}, ties {shared.ties}; {self.resamples} resamples, seed {self.seed}.",
        )


def compare(
    rankers: Mapping[str, Scorer | npt.ArrayLike],
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
    against: Sequence[str] | None = None,
) -> Comparison:
    """Compare rankers, or scores one a row of ``data``, by name.

    Every pair is tested by Student's paired t-test, Fisher's randomisation test and the bootstrap, with Holm's
    correction for all pairs of a measure; ``test`` chooses the one that decides what is called significant. ``against``:
    only pairs with one of these systems, the baselines, are tested, and corrected for. The result warns of systems that
    were trained on some of the queries.

    >>> print(compare({"bm25": Feature(0), "model": model}, test, [NDCG(10), ERR()]))     # doctest: +SKIP
    """
    if not isinstance(rankers, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        raise ArgumentError(f"the rankers are a {type(rankers).__name__}. Give a mapping of names, as {{'name': ranker, …}}.")
    if len({str(name) for name in rankers}) < len(rankers):
        raise ArgumentError(f"two systems have the same name among {', '.join(map(str, rankers))}. Names must differ.")
    if len(rankers) < 2:
        raise ArgumentError(f"{len(rankers)} system(s) to compare. Give at least two, as {{'name': ranker, …}}.")
    if test not in TESTS:
        raise ArgumentError(f"test={test!r} is unknown. Known are {', '.join(TESTS)}.")
    if not 0.0 < alpha < 1.0:
        raise ArgumentError(f"alpha={alpha}: it must lie between 0 and 1, for example 0.05.")
    if against is not None and not against:
        raise ArgumentError("against names no system. Give at least one, or leave it out to test all pairs.")
    unknown = [name for name in against or () if name not in rankers]
    if unknown:
        raise ArgumentError(
            f"against={unknown[0]!r}: no system has that name. The systems are {', '.join(map(repr, rankers))}."
        )
    asked, rules, overlaps = as_measures(measures), convention_of(convention), TrainingOverlaps(data)
    evaluations = {
        str(name): replace(
            evaluate_ranker(ranker, str(name), data, asked, rules, ties, confidence), overlap=overlaps.of(ranker)
        )
        for name, ranker in rankers.items()
    }
    pairs = tuple(
        pair for measure in asked for pair in compare_pairs(evaluations, measure, resamples, seed, confidence, against)
    )
    return Comparison(evaluations, pairs, test, alpha, resamples, seed)


def _letter(place: int) -> str:
    """a, b, … z, aa, ab, …"""
    before, last = divmod(place, 26)
    return (_letter(before - 1) if before else "") + "abcdefghijklmnopqrstuvwxyz"[last]
