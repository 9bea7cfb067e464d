"""Running: the cases of the items asked for, here or on a cluster, each finished one kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from rankinite.engine.work import ProgressCallback, WorkProgress
from rankinite.errors import ArgumentError, listed
from rankinite.reproduce.catalogue import PAPERS, experiment_called, item_called, items
from rankinite.reproduce.experiment import Case, Experiment, Lab, Outcomes
from rankinite.reproduce.item import Item, Reproduced
from rankinite.reproduce.kept_outcomes import KeptOutcomes, Made
from rankinite.reproduce.outcome import Outcome
from rankinite.reproduce.pages import write_pages
from rankinite.workers.cluster import Where, in_force, using

RESULTS = "results"
"""The folder of kept outcomes, below that of the pages."""


@dataclass(frozen=True)
class Reproduction:
    """Items with what was found."""

    found: Sequence[Reproduced]
    made: Sequence[Made] = ()
    """The circumstances of every case."""
    left_out: Sequence[str] = ()
    """What was not run, and why."""
    pages: Sequence[Path] = field(default_factory=list[Path])
    """The files written."""

    def __str__(self) -> str:
        return "\n\n\n".join(one.text() for one in self.found)


def run(
    paper: str | None = None, *names: str, data: Path | str | None = None, quick: bool = False, out: Path | str | None = None,
    redo: bool = False, watch: ProgressCallback | None = None, cluster: Where | None = None,
) -> Reproduction:  # fmt: skip
    """Reproduce tables and figures of the papers: all of them, those of one paper, or those named.

    ``data``: the folder with mq2007, mq2008 and classic; without it artificial data alone are used. ``quick``: a version of a
    few seconds each, which decides nothing. ``out``: a folder for finished cases, from which an interrupted run goes on, and
    for the pages. ``redo``: make finished cases again. ``cluster``: what runs the cases, as in :func:`rankinite.cluster`.

    >>> print(run("002", "figure-1"))                                                         # doctest: +SKIP
    """
    chosen = asked(paper, names)
    lab = Lab(None if data is None else _checked(Path(data)).resolve(), quick)
    folder = None if out is None else Path(out)
    kept = KeptOutcomes(None if folder is None else outcomes_folder(folder, quick=quick))
    experiments = {own.name: own for item in chosen for own in item.experiments}
    with using(cluster):
        outcomes = _outcomes(list(experiments.values()), lab, kept, watch, redo=redo)
    found = [Reproduced(item, _results(item, outcomes)) for item in chosen]
    left = [] if lab.data is not None else _needing_data(list(experiments.values()), lab)
    pages = [] if folder is None else write_kept(folder, quick=quick)
    return Reproduction(found, [made for _, made in outcomes.values()], left, pages)


def asked(paper: str | None, names: Sequence[str]) -> list[Item]:
    """The items of a paper, or those named; all without a paper."""
    own = [item for item in items() if paper in {None, item.paper}]
    if not own:
        raise ArgumentError(f"there is no paper {paper!r}", value=paper, rule=f"Papers are {listed(PAPERS)}")
    return [item_called(str(paper), name) for name in names] if names else own


def write_kept(folder: Path, *, quick: bool = False) -> list[Path]:
    """Write the pages from the outcomes that are kept in a folder, and run nothing."""
    return write_pages(kept_items(folder, Lab(quick=quick)), _pages_folder(folder, quick=quick), quick=quick)


def outcomes_folder(folder: Path, *, quick: bool) -> Path:
    """Where finished cases are kept."""
    return _pages_folder(folder, quick=quick) / "reproduction" / RESULTS


def _pages_folder(folder: Path, *, quick: bool) -> Path:
    return folder / "quick" if quick else folder


Key = tuple[str, str]
"""The experiment and the case."""


def _outcomes(
    experiments: Sequence[Experiment], lab: Lab, kept: KeptOutcomes, watch: ProgressCallback | None, *, redo: bool
) -> dict[Key, tuple[Outcome, Made]]:
    """The outcomes of all cases, those kept first."""
    pieces = [(experiment, case) for experiment in experiments for case in experiment.possible(lab)]
    found: dict[Key, tuple[Outcome, Made]] = {}
    total = sum(_work(case, lab) for _, case in pieces) or 1.0
    done = 0.0

    def tell(experiment: Experiment, case: Case, *, resumed: bool) -> None:
        nonlocal done
        done += _work(case, lab)
        if watch is not None:
            seconds = found[experiment.name, case.name][1].seconds
            watch(
                WorkProgress(f"{experiment.name}: {case.name}", done / total, finished=True, resumed=resumed, seconds=seconds)
            )

    for experiment, case in pieces:
        known = None if redo else kept.get(experiment, case)
        if known is not None:
            found[experiment.name, case.name] = known
            tell(experiment, case, resumed=True)
    left = [(experiment, case) for experiment, case in pieces if (experiment.name, case.name) not in found]

    def take(place: int, answer: tuple[bytes, float]) -> None:
        (experiment, case), (content, seconds) = left[place], answer
        outcome = Outcome.from_bytes(content)  # as it will be read again: rounded
        found[experiment.name, case.name] = outcome, kept.put(experiment, case, outcome, seconds)
        tell(experiment, case, resumed=False)

    orders = [(experiment.name, case.name, lab) for experiment, case in left]
    workers = in_force()
    if workers is not None:
        workers.run(run_case, orders, take)
    else:
        for place, order in enumerate(orders):
            take(place, run_case(order))
    return {(e.name, c.name): found[e.name, c.name] for e, c in pieces}


def _work(case: Case, lab: Lab) -> float:
    """How much of the work a case is; quick ones are about alike."""
    return 1.0 if lab.quick else case.seconds


def run_case(order: tuple[str, str, Lab]) -> tuple[bytes, float]:
    """Run a case, perhaps on a worker: its outcome as bytes, and the seconds it took."""
    name, called, lab = order
    experiment = experiment_called(name)
    case = next(case for case in experiment.cases(lab) if case.name == called)
    started = perf_counter()
    return experiment.run(case, lab).to_bytes(), perf_counter() - started


def _results(item: Item, outcomes: dict[Key, tuple[Outcome, Made]]) -> Outcomes:
    names = {experiment.name for experiment in item.experiments}
    cases = {(e.name, case.name): case for e in item.experiments for case in (*e.cases(Lab()), *e.cases(Lab(quick=True)))}
    return Outcomes([(cases[key], outcome) for key, (outcome, _) in outcomes.items() if key[0] in names])


def kept_items(folder: Path, lab: Lab) -> list[tuple[Reproduced, list[Made]]]:
    """All items with the outcomes that are kept in a folder, and their circumstances."""
    kept = KeptOutcomes(outcomes_folder(folder, quick=lab.quick))
    found: list[tuple[Reproduced, list[Made]]] = []
    for item in items():
        own = [(case, kept.get(e, case)) for e in item.experiments for case in e.cases(lab)]
        results = Outcomes([(case, one[0]) for case, one in own if one is not None])
        made = [one[1] for _, one in own if one is not None]
        found.append((Reproduced(item, results, len(own) - len(made)), made))
    return found


def _needing_data(experiments: Sequence[Experiment], lab: Lab) -> list[str]:
    return [f"{own.name}: {case.name}" for own in experiments for case in own.cases(lab) if case.real]


def _checked(folder: Path) -> Path:
    if not folder.is_dir():
        remedy = "Give one with mq2007, mq2008 and classic"
        raise ArgumentError("is no folder", owner="reproduce", setting="data", value=str(folder), remedy=remedy)
    return folder
