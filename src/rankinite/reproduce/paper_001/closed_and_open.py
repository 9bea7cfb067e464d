"""Closed and open tests: how rankers are judged on both, and the tables of paper 001, which all have one layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rankinite.data.dataset import Dataset
from rankinite.evaluation.scorers import Scorer
from rankinite.grid import Grid, number
from rankinite.reproduce.differences import mean_of
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.outcome import Outcome, Values, judged
from rankinite.reproduce.paper_001.boosters import AVERAGE, MEASURES

CLOSED, OPEN = "closed", "open"
HEADINGS = ("NDCG@1", "NDCG@3", "NDCG@10", "AveNDCG")
Row = tuple[float | None, float | None, float | None, float | None]
"""A ranker's values in the paper, under the headings; None where the text has lost them."""


class Tested(NamedTuple):
    """What rankers are judged on."""

    closed: Dataset
    opens: Mapping[str, Dataset]


def judge(shown: Mapping[str, Scorer], varied: Mapping[str, Scorer], tested: Tested) -> Outcome:
    """The rankers of tables by all measures, those of Figure 4 by AveNDCG, with the means on each open test."""

    def values(data: Dataset) -> Values:
        return {**judged(varied, data, [AVERAGE]), **judged(shown, data, MEASURES)}

    closed, opened = values(tested.closed), {name: values(data) for name, data in tested.opens.items()}
    means = {name: {one: float(np.nanmean(own[one][AVERAGE])) for one in shown} for name, own in opened.items()}
    return Outcome(both_tests(closed, list(opened.values())), facts={OPEN: means})


def both_tests(closed: Values, opened: Sequence[Values]) -> dict[str, Values]:
    """The closed test and, if there is any, the open one; queries of all open tests are one test."""
    if not opened:
        return {CLOSED: closed}
    joined = {
        system: {m: np.concatenate([own[system][m] for own in opened]) for m in measured}
        for system, measured in opened[0].items()
    }
    return {CLOSED: closed, OPEN: joined}


def table(results: Outcomes, test: str, paper: Mapping[str, Row], kinds: tuple[str, str]) -> list[Grid]:
    """One table of the paper: real data, artificial data, and every unit by itself."""
    grids: list[Grid] = []
    for kind, own in zip(kinds, (results.where(real=True), results.where(real=False)), strict=True):
        units = [unit for unit in own.units if mean_of(own.where(unit=unit), next(iter(paper)), AVERAGE, test)]
        if units:
            grids.append(_as_in_the_paper(own, test, paper, f"{test.capitalize()} test, {kind} (mean of {len(units)})"))
            grids.append(_unit_by_unit(own, test, list(paper), units))
            grids += _open_tests(own, list(paper)) if test == OPEN and not own.where(real=True) else []
    return grids


def _as_in_the_paper(results: Outcomes, test: str, paper: Mapping[str, Row], title: str) -> Grid:
    header = [text for heading in HEADINGS for text in (heading, "paper")]
    rows: list[tuple[str, ...]] = []
    for system, theirs in paper.items():
        ours = [_mean(results, system, str(measure), test) for measure in MEASURES]
        told = ["–" if value is None else number(value) for value in theirs]
        rows.append((system, *(cell for both in zip(ours, told, strict=True) for cell in both)))
    return Grid(("ranker", *header), tuple(rows), title=title)


def _unit_by_unit(results: Outcomes, test: str, systems: Sequence[str], units: Sequence[str]) -> Grid:
    rows = [(unit, *(_mean(results.where(unit=unit), system, AVERAGE, test) for system in systems)) for unit in units]
    return Grid(("AveNDCG of each", *systems), tuple(rows))


def _open_tests(results: Outcomes, systems: Sequence[str]) -> list[Grid]:
    """The open tests of artificial data apart: they ask for different things."""
    names = dict.fromkeys(name for _, outcome in results for name in outcome.facts[OPEN])
    rows = [
        (name, *(number(float(np.mean([outcome.facts[OPEN][name][system] for _, outcome in results]))) for system in systems))
        for name in names
    ]
    return [Grid(("AveNDCG of each open test", *systems), tuple(rows))]


def _mean(results: Outcomes, system: str, measure: str, test: str) -> str:
    found = mean_of(results, system, measure, test)
    return "–" if found is None else number(found.mean)
