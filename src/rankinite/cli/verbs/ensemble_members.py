"""Members of ``rankinite ensemble``: those of its recipe, scaled down to the time there is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankinite.cli import trainer_arguments as trainers
from rankinite.cli.messages import busy, say_all
from rankinite.errors import ArgumentError
from rankinite.plurals import counted

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.ensembles import Average

CHALLENGE, SEEDS, BAG = "challenge", "seeds", "bag"
PLAN = "plan.toml"
KINDS = {"trees": "lambdamart", "net": "lambdarank", "points": "mart"}
"""The learners of the challenge: the option and what it must name."""


@dataclass(frozen=True)
class Recipe:
    """The options that say what to train."""

    name: str
    trees: str
    net: str
    points: str
    max_grade: int
    members: int | None

    def average(self, keep: Path) -> Average:
        """The members as trainers, each kept in a folder once it is trained."""
        from rankinite.ensembles import Average, bag_members, challenge, seed_members
        from rankinite.ensembles.recipes import MEMBERS

        if self.members is not None and self.name not in (SEEDS, BAG):
            remedy = f"Leave it out, or choose `recipe='{SEEDS}'` or `recipe='{BAG}'`"
            raise ArgumentError("is not for this recipe", setting="members", value=self.members, remedy=remedy)
        if self.name == CHALLENGE:
            made = [trainers.learner(option, getattr(self, option), kind) for option, kind in KINDS.items()]
            return challenge(*made, max_grade=self.max_grade, keep=keep)
        if self.name in (SEEDS, BAG):
            one, count = trainers.one_trainer("trees", self.trees), MEMBERS if self.members is None else self.members
            return Average(seed_members(one, count) if self.name == SEEDS else bag_members(one, count), keep)
        return Average(trainers.recipe(Path(self.name)), keep)

    def subsets(self, average: Average) -> dict[str, tuple[str, ...]]:
        """The paper's subsets of the challenge, as far as their members are trained."""
        from rankinite.ensembles.recipes import CHALLENGE_SUBSETS

        if self.name != CHALLENGE:
            return {}
        return {name: some for name, some in CHALLENGE_SUBSETS.items() if set(some) <= set(average.trainers)}


def planned(average: Average, data: Dataset, minutes: float | None, out: Path, rounds: float) -> Average:
    """The members that fit into the minutes, as planned now or, where a run goes on, then; prints what is left out."""
    from rankinite.ensembles.time_budget import kept_plan, plan_for

    if minutes is None:
        return average
    plan = kept_plan(out / PLAN, average.trainers, minutes)
    if plan is None:
        with busy("timing fits"):
            plan = plan_for(average.trainers, data, minutes, rounds=rounds)
        plan.write(out / PLAN)
    say_all(plan.sentences())
    return replace(average, trainers=plan.applied(average.trainers))


def say_damaged(average: Average, data: Dataset) -> None:
    """Print a note on kept members that cannot be used, and are made again."""
    from rankinite.ensembles.fits import Fit, FitInputs, KeptFits

    if average.keep is None or not Path(average.keep).is_dir():
        return
    kept = KeptFits(average.keep)
    for name, trainer in average.trainers.items():
        kept.get(name, Fit(trainer, FitInputs(data)))
    say_all(kept.notes)


def size_line(out: Path, members: int, sizes: dict[str, int]) -> str:
    """One line on the model."""
    parts = (f"{count:,} {kind}" if kind.endswith("s") else counted(count, kind) for kind, count in sizes.items())
    return f"{out}: {counted(members, 'member')}, {', '.join(parts)}"
