"""Diversity: how much the members of an ensemble differ, what each adds to the others, and how many are enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from rankinite.checks import check_count
from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.ensembles.weight_finders import ScoredMembers
from rankinite.evaluation.compare import compare
from rankinite.evaluation.evaluate import evaluate
from rankinite.evaluation.scorers import Scorer
from rankinite.frames import ArrowTable, Tabular, arrow_of
from rankinite.grid import Grid, GridResult, number
from rankinite.measures.base import Measure, sign_of
from rankinite.measures.spelling import as_measures
from rankinite.seeds import generator
from rankinite.short_names import short_source

DRAWS = 40
"""Subsets of a size that are tried at most."""
SIZES = 12
"""Sizes of ensembles at which the curve is taken at most."""
RESAMPLES = 100
"""Few: of the comparison only intervals are used, which need none."""


@dataclass(frozen=True)
class Contribution:
    """One member beside the others."""

    name: str
    alone: float
    """The measure of the member alone."""
    errors: float
    """The mean correlation of its errors with those of each other member."""
    scores: float
    """The mean correlation of its scores within queries with those of each other member."""
    without: float
    """The measure of the average of all others."""
    adds: float
    """What the average of all gains by it; below 0 where it harms."""
    interval: tuple[float, float]
    """The confidence interval of that, paired by query."""


@dataclass(frozen=True)
class SizePoint:
    """Averages of some number of members."""

    size: int
    mean: float
    """The mean of the measure over the subsets of that size that were tried."""
    lowest: float
    highest: float
    subsets: int
    """How many were tried: all there are, or a random sample."""


@dataclass(frozen=True, eq=False)
class Diversity(GridResult, Tabular):
    """How much members differ on judged queries. The error of a member on a query is what its measure lacks to the best."""

    measure: Measure
    source: str
    """The judged data."""
    together: float
    """The measure of the average of all."""
    members: tuple[Contribution, ...]
    correlations: tuple[tuple[float, ...], ...]
    """The correlation over queries of the errors of every two members, in their order; NaN where one has no spread."""
    curve: tuple[SizePoint, ...]
    """The measure by the size of the ensemble."""

    @property
    def names(self) -> tuple[str, ...]:
        """The members."""
        return tuple(member.name for member in self.members)

    def grid(self) -> Grid:
        """Every member: alone, how alike the others, and what it adds to them."""
        rows = tuple(
            (
                *(one.name, number(one.alone), number(one.errors, 2), number(one.scores, 2), number(one.without)),
                f"{number(one.adds, signed=True)} ({' to '.join(number(end, signed=True) for end in one.interval)})",
            )
            for one in self.members
        )
        notes = (
            f"The average of all has {number(self.together)}. Adds: all less all without it, 95 % interval paired by query.",
            "Correlations are means over the other members: of errors over queries, of scores within queries.",
        )
        header = ("member", str(self.measure), "errors correlate", "scores correlate", "without it", "adds")
        return Grid(header, rows, title=f"Diversity on {short_source(self.source)}", notes=notes)

    def correlations_grid(self) -> Grid:
        """The correlation of errors of every two members."""
        rows = tuple(
            (name, *(number(value, 2) for value in row)) for name, row in zip(self.names, self.correlations, strict=True)
        )
        return Grid(("errors correlate", *self.names), rows)

    def curve_grid(self) -> Grid:
        """The measure by the size of the ensemble."""
        rows = tuple((str(one.size), *map(number, (one.mean, one.lowest, one.highest)), str(one.subsets)) for one in self.curve)
        return Grid(("members", f"{self.measure}, mean", "lowest", "highest", "subsets"), rows, align="rrrrr")

    def to_arrow(self) -> ArrowTable:
        """One row per member."""
        return arrow_of(
            [
                {
                    "member": one.name,
                    "measure": str(self.measure),
                    "alone": one.alone,
                    "errors_correlate": one.errors,
                    "scores_correlate": one.scores,
                    "without": one.without,
                    "adds": one.adds,
                    "low": one.interval[0],
                    "high": one.interval[1],
                }
                for one in self.members
            ]
        )

    def __str__(self) -> str:
        return "\n\n".join(grid.text() for grid in self._grids())

    def _repr_html_(self) -> str:
        return "\n".join(grid.html() for grid in self._grids())

    def _grids(self) -> list[Grid]:
        return [self.grid(), self.correlations_grid(), self.curve_grid()]


def diversity(
    rankers: Mapping[str, Scorer], data: Dataset, measure: Measure | str = "ndcg@10", *, draws: int = DRAWS, seed: int = 0
) -> Diversity:
    """How much rankers that share a scale differ on judged queries that trained none of them.

    ``draws``: how many subsets of a size the curve tries at most, drawn with ``seed``.

    >>> members = {name: part for name, (_, part) in zip(average.trainers, ranker.parts)}      # doctest: +SKIP
    >>> print(diversity(members, test))                                                        # doctest: +SKIP
    """
    return diversity_of(ScoredMembers.of(rankers, data), as_measures(measure)[0], draws=draws, seed=seed)


def diversity_of(members: ScoredMembers, measure: Measure, *, draws: int = DRAWS, seed: int = 0) -> Diversity:
    """The same from scores."""
    check_count("diversity", "draws", draws)
    scores, sign = members.data.features.astype(float), sign_of(measure)
    subsets = {"all": members.names, **{f"all but {name}": members.but(name) for name in members.names}}
    averages = {label: members.average(names) for label, names in subsets.items()}
    compared = compare(averages, members.data, [measure], against=["all"], resamples=RESAMPLES)
    alone = [evaluate(ranker, members.data, [measure])[measure] for ranker in members.rankers.values()]
    values = np.asarray([one.per_query for one in alone])
    errors = _correlations(values[:, ~np.isnan(values).any(axis=0)])
    alike = _correlations(_centred(scores, members.data).T)
    rows: list[Contribution] = []
    for place, name in enumerate(members.names):
        pair = compared.pair("all", f"all but {name}", measure)
        low, high = sorted(sign * end for end in pair.interval)
        rows.append(
            Contribution(
                name=name,
                alone=alone[place].mean,
                errors=_mean_of_others(errors, place),
                scores=_mean_of_others(alike, place),
                without=compared[f"all but {name}"][measure].mean,
                adds=sign * pair.difference,
                interval=(low, high),
            )
        )
    return Diversity(
        measure=measure,
        source=members.data.source,
        together=compared["all"][measure].mean,
        members=tuple(rows),
        correlations=tuple(tuple(row) for row in errors.tolist()),
        curve=_curve(members, measure, draws, seed),
    )


def _centred(scores: Floats, data: Dataset) -> Floats:
    """Scores less their mean within each query: no ranking sees more."""
    starts, sizes = data.offsets[:-1], np.diff(data.offsets)
    return scores - np.repeat(np.add.reduceat(scores, starts, axis=0) / sizes[:, None], sizes, axis=0)


def _correlations(rows: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):  # rows without spread correlate with nothing
        return np.asarray(np.corrcoef(rows))


def _mean_of_others(table: Floats, place: int) -> float:
    others = np.delete(table[place], place)
    known = others[~np.isnan(others)]
    return float(known.mean()) if len(known) else float("nan")


def _curve(members: ScoredMembers, measure: Measure, draws: int, seed: int) -> tuple[SizePoint, ...]:
    rng, count, sign = generator(seed), len(members.names), sign_of(measure)
    sizes = np.unique(np.geomspace(1, count, SIZES).round().astype(int)) if count > SIZES else np.arange(1, count + 1)
    points: list[SizePoint] = []
    for size in sizes.tolist():
        values = [sign * members.value(names, measure) for names in _subsets(members.names, size, draws, rng)]
        points.append(SizePoint(size, float(np.mean(values)), min(values), max(values), len(values)))
    return tuple(points)


def _subsets(names: tuple[str, ...], size: int, draws: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """All subsets of a size, or, where these are many, some that are drawn."""
    if comb(len(names), size) <= draws:
        return list(combinations(names, size))
    drawn = [sorted(rng.choice(len(names), size, replace=False).tolist()) for _ in range(draws)]
    return [tuple(names[place] for place in places) for places in drawn]
