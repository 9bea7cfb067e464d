"""Comparison: which of several rankers is better on the same queries, and is it more than chance?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankinite.data.dataset import Dataset
from rankinite.errors import ArgumentError, listed, quoted
from rankinite.evaluation import tables
from rankinite.evaluation.evaluate import Evaluation, evaluate_ranker
from rankinite.evaluation.given_scores import RankerLike, settled
from rankinite.evaluation.inputs import as_measures, matched_to
from rankinite.evaluation.pairs import TESTS, PairTest, Test, compare_pairs
from rankinite.evaluation.training_overlap import TrainingOverlaps, overlap_warnings
from rankinite.frames import ArrowTable, TabularByQuery, arrow_of, pandas_of, polars_of
from rankinite.grid import Grid
from rankinite.measures.base import Measure
from rankinite.measures.conventions import Convention
from rankinite.measures.conventions import convention as convention_of
from rankinite.measures.ranking import Ties

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
        return self._any.measures

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind: which systems were trained on these queries, return nothing for some, or were matched."""
        overlaps = {name: result.overlap for name, result in self.evaluations.items()}
        uncovered = (f"{name}: {text}" for name, result in self.evaluations.items() for text in result.coverage.warnings)
        notes = (f"{name}: {text}." for name, result in self.evaluations.items() for text in result.notes)
        return (*overlap_warnings(overlaps, self._any.source), *uncovered, *notes)

    @property
    def letters(self) -> dict[str, str]:
        """System name → its letter."""
        return {name: tables.letter(place) for place, name in enumerate(self.evaluations)}

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
        top = (max if self._any[measure].measure.higher_is_better else min)(means.values())
        return tuple(name for name, mean in means.items() if math.isclose(mean, top, rel_tol=1e-12, abs_tol=1e-12))

    def grid(self) -> Grid:
        """Systems × measures: mean, half the interval, and the letters of the systems it is significantly better than."""
        return tables.systems_grid(self)

    def pairs_grid(self) -> Grid:
        """Every pair: difference, wins / ties / losses, and the p-values of the three tests, raw and Holm-corrected."""
        return tables.pairs_grid(self)

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
        return arrow_of(tables.query_records(self) if per_query else tables.records(self))

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
        return tables.systems_csv(self)

    def pairs_to_csv(self) -> str:
        """One line per pair and measure, with all digits."""
        return tables.pairs_csv(self)

    def to_json(self) -> str:
        """Everything there is; what is undefined or infinite is null."""
        return json.dumps(tables.content(self), ensure_ascii=False, allow_nan=False, indent=1)

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
    given, data = settled({str(name): ranker for name, ranker in rankers.items()}, data)
    rules, overlaps = convention_of(convention), TrainingOverlaps(data)
    asked = as_measures(measures, rules)
    evaluations: dict[str, Evaluation] = {}
    for name, ranker in given.items():
        matched, notes = matched_to(ranker, data)
        found = evaluate_ranker(matched, name, data, asked, rules, ties, confidence)
        evaluations[name] = replace(found, overlap=overlaps.of(matched), notes=notes)
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
