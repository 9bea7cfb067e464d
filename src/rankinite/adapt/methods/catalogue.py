"""Every way to adapt, by name, the simpler ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from rankinite.adapt.background_settings import LAMBDA
from rankinite.adapt.guards.grade_scales import check_predicted
from rankinite.adapt.held_out import trained
from rankinite.adapt.methods.interpolate import How, interpolate
from rankinite.adapt.methods.lambdaboost import lambdaboost
from rankinite.adapt.methods.neighbours import Neighbours, neighbours
from rankinite.adapt.methods.pool import pool
from rankinite.adapt.methods.smart import nodes_drawn, rows_drawn, smart
from rankinite.adapt.task import TUNING, Task
from rankinite.errors import RankiniteError
from rankinite.learners.lambdamart import LambdaMART
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest

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
    lambda_form_of: str | None = None
    """The method that this one is with λ-gradients, for backgrounds trained on another loss."""
    usual: bool = True
    """Whether it is tried without being asked for; other variants of the papers are not."""

    def is_usual(self, task: Task) -> bool:
        """Whether it is tried without being asked for."""
        return self.usual and not (self.lambda_form_of and task.loss == LAMBDA)

    def refusal(self, task: Task) -> str | None:
        """Why it cannot be tried; None: it can."""
        if self.needs_data and task.background_data is None:
            return "needs the background's data"
        if self.needs_forest and task.forest is None:
            return "needs a background that is a forest with one score"
        if self.lambda_form_of and task.loss == LAMBDA:
            return f"is the same as {self.lambda_form_of} unless the background was trained on another loss than λ-gradients"
        if self.needs_forest and task.forest is not None:
            try:
                if self.kind == "tuned trees":
                    task.how.check(task.forest, task.target)
                elif task.loss == "squared" and not (self.lambda_form_of or task.how.same_scale):
                    check_predicted(task.forest, task.target)
            except RankiniteError as problem:
                return refusal_of(problem)
        return None


def refusal_of(problem: RankiniteError) -> str:
    """Why a method was not tried that refuses, as the end of a sentence."""
    return f"as it refuses: {problem}".rstrip(".")


def _more_trees(task: Task, base: Forest | None, *, climb: bool = False) -> Fitted:
    """A tenth more trees, by the loss of the background or, to ``climb`` the measure, by λ-gradients."""
    return trained((task.lambda_learner if climb else task.learner)(task.added), task.target, base=base)


def _interpolated(task: Task, how: How | None = None) -> Fitted:
    rankers = tuple(task.backgrounds.values())
    return interpolate(rankers, task.target, task.valid, how=how, own=(task.own,), **_told(task))


def _smart(task: Task, learner: Callable[..., LambdaMART]) -> Fitted:
    """LambdaSMART as a paper has it: its own λ and splits, the background's scores as they are."""
    maker = learner(task.measure, task.seed, preset="paper")
    return smart(task.background, task.target, task.valid, learner=maker, scale=None, **_told(task))


def _neighbours(task: Task) -> Fitted:
    assert task.background_data is not None
    like = Neighbours(same_scale=True)  # that was checked when the task was made
    rankers = tuple(task.backgrounds.values())
    return neighbours(rankers, task.target, task.background_data, task.valid, which=like, own=task.own, **_told(task))


def _pool(weight: float, *, climb: bool = False) -> Callable[[Task], Fitted]:
    def fit(task: Task) -> Fitted:
        assert task.background_data is not None
        learner = (task.lambda_learner if climb else task.learner)(task.size)
        return pool(task.background_data, task.target, weight=weight, learner=learner, same_scale=True)

    return fit


def _of_others(_task: Task) -> Fitted:
    raise AssertionError("the average is made of the trials of others, not fitted")


def _told(task: Task) -> dict[str, Any]:
    return {"measure": task.measure, "folds": TUNING, "seed": task.seed, "allow_overlap": True}  # choose has checked it


METHODS: tuple[Method, ...] = (
    Method("background", "the background as it is", "baseline", lambda task: task.background, 0.1),
    Method("interpolate", "background and target ranker, weighted", "interpolation", _interpolated, 6.0),
    Method(
        "interpolate-lambdarank", "… the weights learnt by LambdaRank (001 §3)", "interpolation",
        lambda task: _interpolated(task, "lambdarank"), 6.0, usual=False,
    ),
    Method(
        "lambdaboost", "background plus a linear correction", "linear",
        lambda task: lambdaboost(task.background, task.target, task.valid, **_told(task)), 6.0,
    ),
    Method(
        "trada", "the background's trees, their values tuned", "tuned trees", lambda task: task.tuned, 5.0, needs_forest=True
    ),
    Method(
        "trada-leaves", "… the values of leaves alone (RA in 003)", "tuned trees",
        lambda task: task.tuned_as(replace(task.how, responses="leaves")), 5.0, needs_forest=True, usual=False,
    ),
    Method(
        "trada-trim", "… branches cut off that no target row reaches (T in 003)", "tuned trees",
        lambda task: task.tuned_as(replace(task.how, trim=True)), 5.0, needs_forest=True, usual=False,
    ),
    Method(
        "trada-splits", "… their thresholds too", "tuned trees",
        lambda task: task.tuned_as(replace(task.how, splits=True)), 7.0, needs_forest=True,
    ),
    Method(
        "trada-trees", "tuned trees, and a tenth more", "tuned trees",
        lambda task: _more_trees(task, task.tuned), 0.5, needs_forest=True,
    ),
    Method(
        "trada-trees-lambda", "… these grown on λ-gradients", "tuned trees",
        lambda task: _more_trees(task, task.tuned, climb=True), 0.5, needs_forest=True, lambda_form_of="trada-trees",
    ),
    Method(
        "additive", "the background and a tenth more trees", "added trees",
        lambda task: _more_trees(task, task.forest), 0.3, needs_forest=True,
    ),
    Method(
        "additive-lambda", "… these grown on λ-gradients", "added trees",
        lambda task: _more_trees(task, task.forest, climb=True), 0.3, needs_forest=True, lambda_form_of="additive",
    ),
    Method(
        "smart", "LambdaSMART: trees boosted from the background", "added trees",
        lambda task: smart(task.background, task.target, task.valid, **_told(task)), 5.0,
    ),
    Method(
        "smart-paper", "… with the λ and splits of paper 000", "added trees",
        lambda task: _smart(task, rows_drawn), 5.0, usual=False,
    ),
    Method(
        "smart-nodes", "… of paper 001, rows and features drawn at the nodes", "added trees",
        lambda task: _smart(task, nodes_drawn), 5.0, usual=False,
    ),
    Method("target", "trained on the target alone", "baseline", lambda task: task.alone.ranker, 0.1),
    Method(
        "target-lambda", "… on λ-gradients", "trained anew", lambda task: task.own.ranker, 0.1, lambda_form_of="target"
    ),
    Method("neighbours", "background, target and kNN ranker, weighted", "interpolation", _neighbours, 9.0, needs_data=True),
    Method("pool", "trained on both data sets", "trained anew", _pool(1.0), 7.0, needs_data=True),
    Method(
        "pool-lambda", "… on λ-gradients", "trained anew", _pool(1.0, climb=True), 7.0, needs_data=True, lambda_form_of="pool"
    ),
    Method("pool-10", "… the target counting ten times", "trained anew", _pool(10.0), 8.0, needs_data=True),
    Method(
        "pool-10-lambda", "… on λ-gradients", "trained anew", _pool(10.0, climb=True), 8.0, needs_data=True,
        lambda_form_of="pool-10",
    ),
    Method("pool-20", "… the target counting 20 times (003)", "trained anew", _pool(20.0), 8.0, needs_data=True, usual=False),
)  # fmt: skip
"""All but the average of them, which is made of what they give."""
AVERAGE = Method("average", "the mean of unlike methods", "average", _of_others, 0.0)
"""The mean of scaled scores, which needs no choice."""
AVERAGED: tuple[tuple[str, ...], ...] = (
    ("lambdaboost",),
    ("trada-splits", "trada", "trada-trees", "smart", "additive"),
    ("pool-10-lambda", "pool-10", "pool-lambda", "pool", "neighbours", "interpolate"),
)
"""Its parts: a linear correction, adapted trees, and what is trained anew; of each kind the first method that there is."""
