"""Catalogue of all methods of adaptation, the simpler ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from rankinite.adapt.background_settings import LAMBDA
from rankinite.adapt.grade_scales import check_predicted
from rankinite.adapt.held_out import train
from rankinite.adapt.methods.interpolate import How, interpolate
from rankinite.adapt.methods.lambdaboost import lambdaboost
from rankinite.adapt.methods.neighbours import Neighbours, neighbours
from rankinite.adapt.methods.pool import pool
from rankinite.adapt.methods.smart import nodes_drawn, rows_drawn, smart
from rankinite.adapt.shared_fits import TUNING, SharedFits, Task
from rankinite.errors import ArgumentError, RankiniteError
from rankinite.learners.lambdamart import LambdaMART
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest

Kind = Literal["baseline", "interpolation", "linear", "tuned trees", "added trees", "train anew", "average"]


@dataclass(frozen=True)
class AdaptationMethod:
    """A method that makes a ranker for the target of a task."""

    name: str
    what: str
    """What it does, in a few words."""
    kind: Kind
    fit: Callable[[SharedFits], Fitted]
    cost: float
    """Roughly how long it takes compared with the others, to estimate the time that is left."""
    needs_forest: bool = False
    needs_data: bool = False
    lambda_form_of: str | None = None
    """The method of which this is the form with λ-gradients, for backgrounds train for another loss."""
    usual: bool = True
    """Whether it is tried without being asked for; other variants of the papers are not."""

    def is_usual(self, shared: SharedFits) -> bool:
        """Whether it is tried on this task without being asked for."""
        return self.usual and not (self.lambda_form_of and shared.loss == LAMBDA)

    def refusal(self, shared: SharedFits) -> RankiniteError | None:
        """Why it cannot be tried; None: it can."""
        if self.needs_data and shared.task.background_data is None:
            return ArgumentError("It needs the background's data", value=NO_DATA, remedy="Give `background_data`")
        if self.needs_forest and shared.forest is None:
            problem = "It needs a background that is a forest with one score"
            return ArgumentError(problem, value="forest", remedy="Give one, such as LambdaMART's")
        if self.lambda_form_of and shared.loss == LAMBDA:
            return ArgumentError(
                f"It is the same as {self.lambda_form_of}, as the background was train on λ-gradients",
                value=self.lambda_form_of,
                remedy=f"Ask for {self.lambda_form_of}",
            )
        return self._refusal_of_forest(shared, shared.forest) if self.needs_forest and shared.forest is not None else None

    def _refusal_of_forest(self, shared: SharedFits, forest: Forest) -> RankiniteError | None:
        try:
            if self.kind == "tuned trees":
                shared.tuning.check(forest, shared.task.target)
            elif shared.loss == "squared" and not (self.lambda_form_of or shared.tuning.same_scale):
                check_predicted(forest, shared.task.target)
        except RankiniteError as problem:
            return problem
        return None


NO_DATA = "background_data"
"""The value of the error of methods that are refused because the background's data are missing."""


def _more_trees(shared: SharedFits, base: Forest | None, *, climb: bool = False) -> Fitted:
    """A tenth more trees, by the loss of the background or, to ``climb`` the measure, by λ-gradients."""
    return train((shared.lambda_learner if climb else shared.learner)(shared.added), shared.task.target, base=base)


def _interpolated(shared: SharedFits, how: How | None = None) -> Fitted:
    rankers, task = tuple(shared.task.backgrounds.values()), shared.task
    return interpolate(rankers, task.target, task.valid, how=how, own=(shared.target_ranker,), **_held_out(task))


def _lambdaboost(shared: SharedFits) -> Fitted:
    return lambdaboost(shared.background, shared.task.target, shared.task.valid, **_held_out(shared.task))


def _smart(shared: SharedFits) -> Fitted:
    return smart(shared.background, shared.task.target, shared.task.valid, **_held_out(shared.task))


def _paper_smart(shared: SharedFits, learner: Callable[..., LambdaMART]) -> Fitted:
    """LambdaSMART as in a paper: its λ and splits, the background's scores as they are."""
    task, maker = shared.task, learner(shared.task.measure, shared.task.seed, preset="paper")
    return smart(shared.background, task.target, task.valid, learner=maker, scale=None, **_held_out(task))


def _neighbours(shared: SharedFits) -> Fitted:
    task, rankers = shared.task, tuple(shared.task.backgrounds.values())
    assert task.background_data is not None
    like = Neighbours(same_scale=True)  # the scales were checked when the task was made
    known: dict[str, Any] = {"which": like, "own": shared.target_ranker}
    return neighbours(rankers, task.target, task.background_data, task.valid, **known, **_held_out(task))


def _pool(weight: float, *, climb: bool = False) -> Callable[[SharedFits], Fitted]:
    def fit(shared: SharedFits) -> Fitted:
        assert shared.task.background_data is not None
        learner = (shared.lambda_learner if climb else shared.learner)(shared.size)
        return pool(shared.task.background_data, shared.task.target, weight=weight, learner=learner, same_scale=True)

    return fit


def _of_others(_shared: SharedFits) -> Fitted:
    raise AssertionError("the average is made of the trials of others, not fitted")


def _held_out(task: Task) -> dict[str, Any]:
    """The settings that all methods with held-out queries have in common; ``choose`` has checked for overlap."""
    return {"measure": task.measure, "folds": TUNING, "seed": task.seed, "allow_overlap": True}


METHODS: tuple[AdaptationMethod, ...] = (
    AdaptationMethod("background", "the background as it is", "baseline", lambda shared: shared.background, 0.1),
    AdaptationMethod("interpolate", "background and target ranker, weighted", "interpolation", _interpolated, 6.0),
    AdaptationMethod(
        "interpolate-lambdarank", "… the weights learnt by LambdaRank (001 §3)", "interpolation",
        lambda shared: _interpolated(shared, "lambdarank"), 6.0, usual=False,
    ),
    AdaptationMethod("lambdaboost", "background plus a linear correction", "linear", _lambdaboost, 6.0),
    AdaptationMethod(
        "trada", "the background's trees, their values tuned", "tuned trees",
        lambda shared: shared.tuned, 5.0, needs_forest=True,
    ),
    AdaptationMethod(
        "trada-leaves", "… the values of leaves alone (RA in 003)", "tuned trees",
        lambda shared: shared.tuned_as(replace(shared.tuning, responses="leaves")), 5.0, needs_forest=True, usual=False,
    ),
    AdaptationMethod(
        "trada-trim", "… branches cut off that no target row reaches (T in 003)", "tuned trees",
        lambda shared: shared.tuned_as(replace(shared.tuning, trim=True)), 5.0, needs_forest=True, usual=False,
    ),
    AdaptationMethod(
        "trada-splits", "… their thresholds too", "tuned trees",
        lambda shared: shared.tuned_as(replace(shared.tuning, splits=True)), 7.0, needs_forest=True,
    ),
    AdaptationMethod(
        "trada-trees", "tuned trees, and a tenth more", "tuned trees",
        lambda shared: _more_trees(shared, shared.tuned), 0.5, needs_forest=True,
    ),
    AdaptationMethod(
        "trada-trees-lambda", "… these grown on λ-gradients", "tuned trees",
        lambda shared: _more_trees(shared, shared.tuned, climb=True), 0.5, needs_forest=True, lambda_form_of="trada-trees",
    ),
    AdaptationMethod(
        "additive", "the background and a tenth more trees", "added trees",
        lambda shared: _more_trees(shared, shared.forest), 0.3, needs_forest=True,
    ),
    AdaptationMethod(
        "additive-lambda", "… these grown on λ-gradients", "added trees",
        lambda shared: _more_trees(shared, shared.forest, climb=True), 0.3, needs_forest=True, lambda_form_of="additive",
    ),
    AdaptationMethod("smart", "LambdaSMART: trees boosted from the background", "added trees", _smart, 5.0),
    AdaptationMethod(
        "smart-paper", "… with the λ and splits of paper 000", "added trees",
        lambda shared: _paper_smart(shared, rows_drawn), 5.0, usual=False,
    ),
    AdaptationMethod(
        "smart-nodes", "… of paper 001, rows and features drawn at the nodes", "added trees",
        lambda shared: _paper_smart(shared, nodes_drawn), 5.0, usual=False,
    ),
    AdaptationMethod("target", "train on the target alone", "baseline", lambda shared: shared.baseline.ranker, 0.1),
    AdaptationMethod(
        "target-lambda", "… on λ-gradients", "train anew",
        lambda shared: shared.target_ranker.ranker, 0.1, lambda_form_of="target",
    ),
    AdaptationMethod(
        "neighbours", "background, target and kNN ranker, weighted", "interpolation", _neighbours, 9.0, needs_data=True
    ),
    AdaptationMethod("pool", "train on both data sets", "train anew", _pool(1.0), 7.0, needs_data=True),
    AdaptationMethod(
        "pool-lambda", "… on λ-gradients", "train anew", _pool(1.0, climb=True), 7.0, needs_data=True, lambda_form_of="pool"
    ),
    AdaptationMethod("pool-10", "… the target counting ten times", "train anew", _pool(10.0), 8.0, needs_data=True),
    AdaptationMethod(
        "pool-10-lambda", "… on λ-gradients", "train anew", _pool(10.0, climb=True), 8.0, needs_data=True,
        lambda_form_of="pool-10",
    ),
    AdaptationMethod(
        "pool-20", "… the target counting 20 times (003)", "train anew", _pool(20.0), 8.0, needs_data=True, usual=False
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
"""Its parts: a linear correction, adapted trees, and what is train anew; of each kind the first method that was tried."""
