"""Running: the cases of the items asked for, here or on a cluster, each finished one kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from papers.experiment import Case, Experiment, Outcome, Outcomes, RunContext
from papers.item import Reproduced, experiment_named, items, items_of
from papers.pages import write_pages
from papers.results import KeptResults, Made
from rankinite import ArgumentError
from rankinite.workers.cluster import Where, in_force, using


@dataclass(frozen=True)
class Reproduction:
    """Items with what was found."""

    found: Sequence[Reproduced]
    left_out: Sequence[str] = ()
    """The cases that were not run, for want of real data."""
    pages: Sequence[Path] = ()
    """The files written."""

    def __str__(self) -> str:
        return "\n\n\n".join(map(str, self.found))


@dataclass(frozen=True)
class Step:
    """A case that is done."""

    experiment: str
    case: str
    done: float
    """The share of all work that is done, by a rough estimate."""
    seconds: float
    kept: bool
    """Whether it was kept from an earlier run."""


def run(
    paper: str | None = None, *names: str, data: Path | str | None = None, quick: bool = False, out: Path | str | None = None,
    redo: bool = False, watch: Callable[[Step], None] | None = None, cluster: Where | None = None,
) -> Reproduction:  # fmt: skip
    """Reproduce tables and figures of the papers: all of them, those of one paper, or those named.

    ``data``: the folder with mq2007, mq2008 and classic; without it artificial data alone are used. ``quick``: a version of a
    few seconds each, which decides nothing. ``out``: a folder for finished cases, from which an interrupted run goes on, and
    for the pages. ``redo``: make finished cases again. ``watch`` is given every step. ``cluster``: what runs the cases, as in
    :func:`rankinite.cluster`.

    >>> print(run("002", "figure-1"))                                                         # doctest: +SKIP
    """
    if data is not None and not Path(data).is_dir():
        remedy = "Give one with mq2007, mq2008 and classic"
        raise ArgumentError("is no folder", owner="papers", setting="data", value=str(data), remedy=remedy)
    chosen = items_of(paper, names)
    context = RunContext(None if data is None else Path(data).resolve(), quick)
    kept = KeptResults(None if out is None else _results_folder(Path(out), quick=quick))
    experiments = list({experiment.name: experiment for item in chosen for experiment in item.experiments}.values())
    with using(cluster):
        outcomes = _outcomes(experiments, context, kept, watch, redo=redo)
    found = [
        Reproduced(item, Outcomes([pair for experiment in item.experiments for pair in outcomes[experiment.name]]))
        for item in chosen
    ]
    left_out = [
        f"{experiment.name}: {case.name}"
        for experiment in experiments
        for case in experiment.cases(context)
        if case.real and context.data is None
    ]
    return Reproduction(found, left_out, [] if out is None else write_kept(Path(out), quick=quick))


def _outcomes(
    experiments: Sequence[Experiment],
    context: RunContext,
    kept: KeptResults,
    watch: Callable[[Step], None] | None,
    *,
    redo: bool,
) -> dict[str, list[tuple[Case, Outcome]]]:
    """The outcomes of all cases of every experiment, those kept first."""
    pieces = [(experiment, case) for experiment in experiments for case in experiment.possible(context)]
    works = [1.0 if context.quick else case.seconds for _, case in pieces]  # quick ones are about alike
    outcomes: dict[int, Outcome] = {}

    def take(place: int, outcome: Outcome, made: Made, *, was_kept: bool) -> None:
        outcomes[place] = outcome
        if watch is not None:
            experiment, case = pieces[place]
            done = sum(works[place] for place in outcomes) / sum(works)
            watch(Step(experiment.name, case.name, done, made.seconds, was_kept))

    for place, (experiment, case) in enumerate(pieces):
        known = None if redo else kept.get(experiment, case)
        if known is not None:
            take(place, *known, was_kept=True)
    left = [place for place in range(len(pieces)) if place not in outcomes]

    def keep(number: int, answer: tuple[dict[str, Any], float]) -> None:
        place, (record, seconds) = left[number], answer
        made = kept.put(*pieces[place], record, seconds)
        take(place, Outcome.from_record(record), made, was_kept=False)  # as it will be read again: rounded

    orders = [(experiment.name, case.name, context) for experiment, case in map(pieces.__getitem__, left)]
    workers = in_force()
    if workers is not None:
        workers.run(run_case, orders, keep)
    else:
        for number, order in enumerate(orders):
            keep(number, run_case(order))
    found: dict[str, list[tuple[Case, Outcome]]] = {experiment.name: [] for experiment in experiments}
    for place, (experiment, case) in enumerate(pieces):
        found[experiment.name].append((case, outcomes[place]))
    return found


def run_case(order: tuple[str, str, RunContext]) -> tuple[dict[str, Any], float]:
    """Run a case, perhaps on a worker: the record of its outcome, and the seconds it took."""
    experiment_name, case_name, context = order
    experiment = experiment_named(experiment_name)
    case = next(case for case in experiment.cases(context) if case.name == case_name)
    started = perf_counter()
    return experiment.record(case, context), perf_counter() - started


def write_kept(folder: Path, *, quick: bool = False) -> list[Path]:
    """Write the pages from the results that are kept in a folder, and run nothing."""
    return write_pages(kept_items(folder, quick=quick), folder / "quick" if quick else folder, quick=quick)


def kept_items(folder: Path, *, quick: bool = False) -> list[tuple[Reproduced, list[Made]]]:
    """All items with the outcomes that are kept in a folder, and their circumstances."""
    kept = KeptResults(_results_folder(folder, quick=quick))
    context = RunContext(quick=quick)
    found: list[tuple[Reproduced, list[Made]]] = []
    for item in items():
        cases = [(experiment, case) for experiment in item.experiments for case in experiment.cases(context)]
        known = [(case, kept.get(experiment, case)) for experiment, case in cases]
        results = Outcomes([(case, one[0]) for case, one in known if one is not None])
        made = [one[1] for _, one in known if one is not None]
        found.append((Reproduced(item, results, len(cases) - len(made)), made))
    return found


def _results_folder(folder: Path, *, quick: bool) -> Path:
    return (folder / "quick" if quick else folder) / "reproduction" / "results"
