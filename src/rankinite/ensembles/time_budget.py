"""TimePlan: an ensemble scaled down to the minutes there are, from a few timed fits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from rankinite.checks import check_positive
from rankinite.data.dataset import Dataset
from rankinite.data.folds import split
from rankinite.data.io.output_files import write_atomically
from rankinite.data.io.sealed_files import digest
from rankinite.ensembles.trainers import Augmented, Bag, Seeds, Summarised
from rankinite.learners.base import Trainer

SAMPLE, SAMPLE_ROWS = 0.1, 20_000
"""The share of the queries that fits are timed on; of few rows, where a fit's beginning counts, more."""
FEWER = (5, 3, 1)
"""Fits per bag, or per seeds, that are tried one after the other before members are left out."""
LEAST = 2
"""Members that are always trained."""


@dataclass(frozen=True)
class TimePlan:
    """What to train in the time there is."""

    recipe: str
    """A hash of the members it was made for."""
    minutes: float
    most_fits: int | None
    """Fits per bag, or per seeds; None: as many as the recipe says."""
    left_out: tuple[str, ...]
    """Members that are not trained, the costliest first."""
    seconds: float
    """The time that the rest will take, as far as known."""

    def applied(self, trainers: Mapping[str, Trainer]) -> dict[str, Trainer]:
        """The members to train."""
        return {name: thinned(one, self.most_fits) for name, one in trainers.items() if name not in self.left_out}

    def sentences(self) -> tuple[str, ...]:
        """What was left out, and whether the rest fits."""
        fits = "one fit" if self.most_fits == 1 else f"at most {self.most_fits} fits"
        told = [] if self.most_fits is None else [f"bags and seeds have {fits} instead of all"]
        told += [f"left out: {', '.join(self.left_out)}"] if self.left_out else []
        told = told or ["nothing is left out"]
        about = f"about {self.seconds / 60:.3g} minutes for {self.minutes:g}"
        over = " (two members are always trained)" if self.seconds > self.minutes * 60 else ""
        return (f"{about}{over}: {'; '.join(told)}",)

    def write(self, path: Path) -> None:
        """Keep the plan, so that a run that goes on trains the same members."""
        values = {**vars(self), "left_out": list(self.left_out)}
        lines = [f"{name} = {json.dumps(value)}" for name, value in values.items() if value is not None]
        with write_atomically(path) as handle:
            handle.write("\n".join([*lines, ""]).encode())


def kept_plan(path: Path, trainers: Mapping[str, Trainer], minutes: float) -> TimePlan | None:
    """The plan that was kept for these members and minutes; None where there is none."""
    import tomllib

    try:
        content: Any = {"most_fits": None, **tomllib.loads(path.read_text("utf-8"))}
        plan = TimePlan(**content)
        plan = replace(plan, left_out=tuple(plan.left_out))  # TOML has lists
    except (OSError, ValueError, TypeError, KeyError):  # none, or not ours: it is made again
        return None
    return plan if (plan.recipe, plan.minutes) == (_recipe_key(trainers), minutes) else None


def plan_for(trainers: Mapping[str, Trainer], data: Dataset, minutes: float, *, rounds: float = 1.0) -> TimePlan:
    """Time each learner on a sample of the queries, and leave out what does not fit into the minutes.

    First bags and seeds have fewer fits, of 5, then 3, then 1; then the costliest member is left out, again and again, until
    two are left. A fit's time is taken to grow with its rows, and how often a member fits is known. ``rounds``: how often
    everything is trained: a choice on queries held out trains it once more.
    """
    check_positive("plan_for", "minutes", minutes)
    timed = _timed(trainers, data)
    levels = [None, *(fits for fits in FEWER if any(thinned(one, fits) != one for one in trainers.values()))]
    costs: dict[str, float] = {}
    for fits in levels:
        costs = {name: rounds * _cost(thinned(one, fits), timed) for name, one in trainers.items()}
        if sum(costs.values()) <= minutes * 60:
            return TimePlan(_recipe_key(trainers), minutes, fits, (), sum(costs.values()))
    left_out: list[str] = []
    while len(costs) > LEAST and sum(costs.values()) > minutes * 60:
        left_out.append(max(costs, key=lambda name: costs[name]))
        del costs[left_out[-1]]
    return TimePlan(_recipe_key(trainers), minutes, levels[-1], tuple(left_out), sum(costs.values()))


def thinned(trainer: Trainer, most: int | None) -> Trainer:
    """The trainer with at most so many fits in each of its bags and seeds."""
    inside: Any = trainer
    if most is None:
        return trainer
    if isinstance(trainer, Bag) and (trainer.members or trainer.parts) > most:
        inside = replace(trainer, members=most)
    elif isinstance(trainer, Seeds) and trainer.count > most:
        inside = replace(trainer, count=most)
    below = getattr(inside, "trainer", None)
    return inside if below is None else replace(inside, trainer=thinned(below, most))


def _cost(trainer: Trainer, timed: Mapping[str, float]) -> float:
    """The seconds that a trainer takes on all data."""
    inside: Any = getattr(trainer, "trainer", None)
    if inside is None:
        return timed[_key(trainer)]
    own = _cost(inside, timed)
    if isinstance(trainer, Bag):
        return own * (trainer.members or trainer.parts) * (1.0 - 1.0 / trainer.parts)
    if isinstance(trainer, Seeds):
        return own * trainer.count
    if isinstance(trainer, Augmented):
        return own * (1.0 + trainer.share * trainer.copies)
    if isinstance(trainer, Summarised):
        return own + sum(trainer.folds * _cost(source, timed) for source in trainer.sources)
    return own


def _timed(trainers: Mapping[str, Trainer], data: Dataset) -> dict[str, float]:
    """The seconds that each learner takes on all data, from a sample; the better of two, as the first may compile."""
    share = max(SAMPLE, SAMPLE_ROWS / max(data.rows, 1))
    sample = split(data, (share,))[0] if share < 1.0 and data.queries >= 10 else data
    found: dict[str, float] = {}
    for learner in (one for trainer in trainers.values() for one in _learners(trainer)):
        if _key(learner) not in found:
            found[_key(learner)] = min(_seconds(learner, sample) for _ in range(2)) * data.rows / sample.rows
    return found


def _seconds(learner: Trainer, data: Dataset) -> float:
    start = perf_counter()
    learner.fit(data)
    return perf_counter() - start


def _learners(trainer: Any) -> Iterator[Trainer]:
    """The learners inside a trainer."""
    inside = getattr(trainer, "trainer", None)
    if inside is None:
        yield trainer
        return
    yield from _learners(inside)
    for source in getattr(trainer, "sources", ()):
        yield from _learners(source)


def _key(learner: Trainer) -> str:
    """The learner's settings but its seed, which takes no time."""
    return json.dumps({**learner.settings(), "seed": 0}, sort_keys=True)


def _recipe_key(trainers: Mapping[str, Trainer]) -> str:
    return digest(json.dumps([[name, one.settings()] for name, one in trainers.items()]).encode())
