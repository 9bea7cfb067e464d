"""Every way to adapt, by name, the simpler ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from rankinite.adapt.interpolate import interpolate
from rankinite.adapt.lambdaboost import lambdaboost
from rankinite.adapt.neighbours import Neighbours, neighbours
from rankinite.adapt.pool import pool
from rankinite.adapt.smart import smart
from rankinite.adapt.task import TUNING, Task
from rankinite.adapt.tuning import trained
from rankinite.errors import RankiniteError
from rankinite.rankers.base import Fitted

Kind = Literal["baseline", "interpolation", "linear", "tuned trees", "added trees", "trained anew", "average"]


@dataclass(frozen=True)
class Method:
    """A way from what there is to a ranker."""

    name: str
    what: str
    """What it does, in a few words."""
    kind: Kind
    fit: Callable[[Task], Fitted]
    cost: float
    """About how long it takes, compared with the others: for the estimate of the time that is left."""
    needs_forest: bool = False
    needs_data: bool = False

    def refusal(self, task: Task) -> str | None:
        """Why it cannot be tried; None: it can."""
        if self.needs_data and task.background_data is None:
            return "needs the background's data"
        if self.needs_forest and task.forest is None:
            return "needs a background that is a forest with one score"
        if self.kind == "tuned trees" and task.forest is not None:
            try:
                task.how.check(task.forest, task.target)
            except RankiniteError as problem:
                return refusal_of(problem)
        return None


def refusal_of(problem: RankiniteError) -> str:
    """Why a method was not tried that refuses, as the end of a sentence."""
    return f"as it refuses: {problem}".rstrip(".")


def _with_trees(task: Task) -> Fitted:
    return trained(task.learner(task.added), task.target, base=task.tuned)


def _interpolated(task: Task) -> Fitted:
    return interpolate(tuple(task.backgrounds.values()), task.target, task.valid, own=(task.own,), **_told(task))


def _neighbours(task: Task) -> Fitted:
    assert task.background_data is not None
    like = Neighbours(same_scale=True)  # that was checked when the task was made
    rankers = tuple(task.backgrounds.values())
    return neighbours(rankers, task.target, task.background_data, task.valid, which=like, own=task.own, **_told(task))


def _pool(weight: float) -> Callable[[Task], Fitted]:
    def fit(task: Task) -> Fitted:
        assert task.background_data is not None
        return pool(task.background_data, task.target, weight=weight, learner=task.learner(task.size), same_scale=True)

    return fit


def _of_others(_task: Task) -> Fitted:
    raise AssertionError("the average is made of the trials of others, not fitted")


def _told(task: Task) -> dict[str, Any]:
    return {"measure": task.measure, "folds": TUNING, "seed": task.seed, "allow_overlap": True}  # choose has checked it


METHODS: tuple[Method, ...] = (
    Method("background", "the background as it is", "baseline", lambda task: task.background, 0.1),
    Method("interpolate", "background and target ranker, weighted", "interpolation", _interpolated, 6.0),
    Method(
        "lambdaboost",
        "background plus a linear correction",
        "linear",
        lambda task: lambdaboost(task.background, task.target, task.valid, **_told(task)),
        6.0,
    ),
    Method(
        "trada", "the background's trees, their values tuned", "tuned trees", lambda task: task.tuned, 5.0, needs_forest=True
    ),
    Method(
        "trada-splits",
        "… their thresholds too",
        "tuned trees",
        lambda task: task.tuned_as(replace(task.how, splits=True)),
        7.0,
        needs_forest=True,
    ),
    Method("trada-trees", "tuned trees, and a tenth more", "tuned trees", _with_trees, 0.5, needs_forest=True),
    Method(
        "additive",
        "the background and a tenth more trees",
        "added trees",
        lambda task: trained(task.learner(task.added), task.target, base=task.forest),
        0.3,
        needs_forest=True,
    ),
    Method(
        "smart",
        "LambdaSMART: trees boosted from the background",
        "added trees",
        lambda task: smart(task.background, task.target, task.valid, **_told(task)),
        5.0,
    ),
    Method("target", "trained on the target alone", "baseline", lambda task: task.own.ranker, 0.1),
    Method("neighbours", "background, target and kNN ranker, weighted", "interpolation", _neighbours, 9.0, needs_data=True),
    Method("pool", "trained on both data sets", "trained anew", _pool(1.0), 7.0, needs_data=True),
    Method("pool-10", "… the target counting ten times", "trained anew", _pool(10.0), 8.0, needs_data=True),
)
"""All but the average of them, which is made of what they give."""
AVERAGE = Method("average", "the mean of unlike methods", "average", _of_others, 0.0)
"""The mean of scaled scores, which needs no choice."""
AVERAGED: tuple[tuple[str, ...], ...] = (
    ("lambdaboost",),
    ("trada-splits", "trada", "trada-trees", "smart", "additive"),
    ("pool-10", "pool", "neighbours", "interpolate"),
)
"""Its parts: a linear correction, adapted trees, and what is trained anew; of each kind the first method that there is."""
