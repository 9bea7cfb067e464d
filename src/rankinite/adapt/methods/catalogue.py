"""Catalogue of all methods of adaptation, the simpler ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from rankinite.adapt.background_settings import LAMBDA
from rankinite.adapt.groundwork import TUNING, Groundwork
from rankinite.adapt.guards.grade_scales import check_predicted
from rankinite.adapt.held_out import trained
from rankinite.adapt.methods.interpolate import How, interpolate
from rankinite.adapt.methods.lambdaboost import lambdaboost
from rankinite.adapt.methods.neighbours import Neighbours, neighbours
from rankinite.adapt.methods.pool import pool
from rankinite.adapt.methods.smart import nodes_drawn, rows_drawn, smart
from rankinite.adapt.task import Task
from rankinite.errors import ArgumentError, RankiniteError
from rankinite.learners.lambdamart import LambdaMART
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest

Kind = Literal["baseline", "interpolation", "linear", "tuned trees", "added trees", "trained anew", "average"]


@dataclass(frozen=True)
class AdaptationMethod:
    """A method that makes a ranker for the target of a task."""

    name: str
    what: str
    """What it does, in a few words."""
    kind: Kind
    fit: Callable[[Groundwork], Fitted]
    cost: float
    """Roughly how long it takes compared with the others, to estimate the time that is left."""
    needs_forest: bool = False
    needs_data: bool = False
    lambda_form_of: str | None = None
    """The method of which this is the form with λ-gradients, for backgrounds trained for another loss."""
    usual: bool = True
    """Whether it is tried without being asked for; other variants of the papers are not."""

    def is_usual(self, work: Groundwork) -> bool:
        """Whether it is tried on this task without being asked for."""
        return self.usual and not (self.lambda_form_of and work.loss == LAMBDA)

    def refusal(self, work: Groundwork) -> RankiniteError | None:
        """Why it cannot be tried; None: it can."""
        if self.needs_data and work.task.background_data is None:
            return ArgumentError("It needs the background's data", value=NO_DATA, remedy="Give `background_data`")
        if self.needs_forest and work.forest is None:
            problem = "It needs a background that is a forest with one score"
            return ArgumentError(problem, value="forest", remedy="Give one, such as LambdaMART's")
        if self.lambda_form_of and work.loss == LAMBDA:
            return ArgumentError(
                f"It is the same as {self.lambda_form_of}, as the background was trained on λ-gradients",
                value=self.lambda_form_of,
                remedy=f"Ask for {self.lambda_form_of}",
            )
        return self._refusal_of_forest(work, work.forest) if self.needs_forest and work.forest is not None else None

    def _refusal_of_forest(self, work: Groundwork, forest: Forest) -> RankiniteError | None:
        try:
            if self.kind == "tuned trees":
                work.tuning.check(forest, work.task.target)
            elif work.loss == "squared" and not (self.lambda_form_of or work.tuning.same_scale):
                check_predicted(forest, work.task.target)
        except RankiniteError as problem:
            return problem
        return None


NO_DATA = "background_data"
"""The value of the error of methods that are refused because the background's data are missing."""


def _more_trees(work: Groundwork, base: Forest | None, *, climb: bool = False) -> Fitted:
    """A tenth more trees, by the loss of the background or, to ``climb`` the measure, by λ-gradients."""
    return trained((work.lambda_learner if climb else work.learner)(work.added), work.task.target, base=base)


def _interpolated(work: Groundwork, how: How | None = None) -> Fitted:
    rankers, task = tuple(work.task.backgrounds.values()), work.task
    return interpolate(rankers, task.target, task.valid, how=how, own=(work.target_ranker,), **_shared(task))


def _lambdaboost(work: Groundwork) -> Fitted:
    return lambdaboost(work.background, work.task.target, work.task.valid, **_shared(work.task))


def _smart(work: Groundwork) -> Fitted:
    return smart(work.background, work.task.target, work.task.valid, **_shared(work.task))


def _paper_smart(work: Groundwork, learner: Callable[..., LambdaMART]) -> Fitted:
    """LambdaSMART as in a paper: its λ and splits, the background's scores as they are."""
    task, maker = work.task, learner(work.task.measure, work.task.seed, preset="paper")
    return smart(work.background, task.target, task.valid, learner=maker, scale=None, **_shared(task))


def _neighbours(work: Groundwork) -> Fitted:
    task, rankers = work.task, tuple(work.task.backgrounds.values())
    assert task.background_data is not None
    like = Neighbours(same_scale=True)  # the scales were checked when the task was made
    known: dict[str, Any] = {"which": like, "own": work.target_ranker}
    return neighbours(rankers, task.target, task.background_data, task.valid, **known, **_shared(task))


def _pool(weight: float, *, climb: bool = False) -> Callable[[Groundwork], Fitted]:
    def fit(work: Groundwork) -> Fitted:
        assert work.task.background_data is not None
        learner = (work.lambda_learner if climb else work.learner)(work.size)
        return pool(work.task.background_data, work.task.target, weight=weight, learner=learner, same_scale=True)

    return fit


def _of_others(_work: Groundwork) -> Fitted:
    raise AssertionError("the average is made of the trials of others, not fitted")


def _shared(task: Task) -> dict[str, Any]:
    """The settings that all methods with held-out queries have in common; ``choose`` has checked for overlap."""
    return {"measure": task.measure, "folds": TUNING, "seed": task.seed, "allow_overlap": True}


METHODS: tuple[AdaptationMethod, ...] = (
    AdaptationMethod("background", "the background as it is", "baseline", lambda work: work.background, 0.1),
    AdaptationMethod("interpolate", "background and target ranker, weighted", "interpolation", _interpolated, 6.0),
    AdaptationMethod(
        "interpolate-lambdarank", "… the weights learnt by LambdaRank (001 §3)", "interpolation",
        lambda work: _interpolated(work, "lambdarank"), 6.0, usual=False,
    ),
    AdaptationMethod("lambdaboost", "background plus a linear correction", "linear", _lambdaboost, 6.0),
    AdaptationMethod(
        "trada", "the background's trees, their values tuned", "tuned trees", lambda work: work.tuned, 5.0, needs_forest=True
    ),
    AdaptationMethod(
        "trada-leaves", "… the values of leaves alone (RA in 003)", "tuned trees",
        lambda work: work.tuned_as(replace(work.tuning, responses="leaves")), 5.0, needs_forest=True, usual=False,
    ),
    AdaptationMethod(
        "trada-trim", "… branches cut off that no target row reaches (T in 003)", "tuned trees",
        lambda work: work.tuned_as(replace(work.tuning, trim=True)), 5.0, needs_forest=True, usual=False,
    ),
    AdaptationMethod(
        "trada-splits", "… their thresholds too", "tuned trees",
        lambda work: work.tuned_as(replace(work.tuning, splits=True)), 7.0, needs_forest=True,
    ),
    AdaptationMethod(
        "trada-trees", "tuned trees, and a tenth more", "tuned trees",
        lambda work: _more_trees(work, work.tuned), 0.5, needs_forest=True,
    ),
    AdaptationMethod(
        "trada-trees-lambda", "… these grown on λ-gradients", "tuned trees",
        lambda work: _more_trees(work, work.tuned, climb=True), 0.5, needs_forest=True, lambda_form_of="trada-trees",
    ),
    AdaptationMethod(
        "additive", "the background and a tenth more trees", "added trees",
        lambda work: _more_trees(work, work.forest), 0.3, needs_forest=True,
    ),
    AdaptationMethod(
        "additive-lambda", "… these grown on λ-gradients", "added trees",
        lambda work: _more_trees(work, work.forest, climb=True), 0.3, needs_forest=True, lambda_form_of="additive",
    ),
    AdaptationMethod("smart", "LambdaSMART: trees boosted from the background", "added trees", _smart, 5.0),
    AdaptationMethod(
        "smart-paper", "… with the λ and splits of paper 000", "added trees",
        lambda work: _paper_smart(work, rows_drawn), 5.0, usual=False,
    ),
    AdaptationMethod(
        "smart-nodes", "… of paper 001, rows and features drawn at the nodes", "added trees",
        lambda work: _paper_smart(work, nodes_drawn), 5.0, usual=False,
    ),
    AdaptationMethod("target", "trained on the target alone", "baseline", lambda work: work.baseline.ranker, 0.1),
    AdaptationMethod(
        "target-lambda", "… on λ-gradients", "trained anew",
        lambda work: work.target_ranker.ranker, 0.1, lambda_form_of="target",
    ),
    AdaptationMethod(
        "neighbours", "background, target and kNN ranker, weighted", "interpolation", _neighbours, 9.0, needs_data=True
    ),
    AdaptationMethod("pool", "trained on both data sets", "trained anew", _pool(1.0), 7.0, needs_data=True),
    AdaptationMethod(
        "pool-lambda", "… on λ-gradients", "trained anew", _pool(1.0, climb=True), 7.0, needs_data=True, lambda_form_of="pool"
    ),
    AdaptationMethod("pool-10", "… the target counting ten times", "trained anew", _pool(10.0), 8.0, needs_data=True),
    AdaptationMethod(
        "pool-10-lambda", "… on λ-gradients", "trained anew", _pool(10.0, climb=True), 8.0, needs_data=True,
        lambda_form_of="pool-10",
    ),
    AdaptationMethod(
        "pool-20", "… the target counting 20 times (003)", "trained anew", _pool(20.0), 8.0, needs_data=True, usual=False
    ),
)  # fmt: skip
"""All but their average, which is made of their rankers."""
AVERAGE = AdaptationMethod("average", "the mean of unlike methods", "average", _of_others, 0.0)
"""The mean of scaled scores, which needs no choice."""
AVERAGED: tuple[tuple[str, ...], ...] = (
    ("lambdaboost",),
    ("trada-splits", "trada", "trada-trees", "smart", "additive"),
    ("pool-10-lambda", "pool-10", "pool-lambda", "pool", "neighbours", "interpolate"),
)
"""Its parts: a linear correction, adapted trees, and what is trained anew; of each kind the first method that was tried."""
