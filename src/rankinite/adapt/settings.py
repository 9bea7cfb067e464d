"""What a forest says of how it was trained, and learners that train the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal, get_args

from rankinite.rankers import mart
from rankinite.rankers.boosting import Boosting
from rankinite.rankers.forest import Forest
from rankinite.rankers.lambdamart import LambdaMART
from rankinite.rankers.mart import MART
from rankinite.rankers.ranknet_trees import RankNetTrees

LAMBDA: Literal["lambda"] = "lambda"
PAIRS: Literal["pairs"] = "pairs"
Loss = Literal["lambda", "pairs", "squared", "graded", "binary", "balanced"]
"""What forests are trained for: a measure, pairs, or the grades of single documents in the ways that MART knows."""
LOSSES = {"LambdaMART": LAMBDA, "RankNetTrees": PAIRS}
"""The loss of learners that have but one."""
LOSS_SETTINGS = ("sigma", "max_grade", "relevant")
"""What a loss has besides its name."""


def told(forest: Forest | None, name: str) -> list[Any]:
    """What the trainings of a forest say of a setting, the last one first: without what is unsaid or said before."""
    found: list[Any] = []
    settings: Any = None if forest is None else forest.settings
    while isinstance(settings, Mapping):
        level: Mapping[str, Any] = settings
        value = level.get(name, LOSSES.get(str(level.get("learner"))) if name == "loss" else None)
        if value is not None and value not in found:
            found.append(value)
        settings = level.get("base")
    return found


def last_told(forest: Forest | None, name: str, otherwise: Any = None) -> Any:
    """What the last training that says something of a setting says."""
    return next(iter(told(forest, name)), otherwise)


def loss_of(forest: Forest | None, given: str | None = None) -> Loss:
    """What a forest was trained for; λ-gradients where it does not say so or was trained in parts for different losses."""
    losses: list[Any] = told(forest, "loss") if given is None else [given]
    return losses[0] if len(losses) == 1 and losses[0] in get_args(Loss) else LAMBDA


def with_loss_of(forest: Forest, learner: LambdaMART, loss: Loss) -> Boosting:
    """The learner of a forest's loss that grows trees like this one, watching the measure that it climbs."""
    if loss == LAMBDA:
        return learner
    kind = RankNetTrees if loss == PAIRS else MART
    settings: dict[str, Any] = {f.name: getattr(learner, f.name) for f in fields(kind) if hasattr(learner, f.name)}
    settings |= {f.name: last_told(forest, f.name, f.default) for f in fields(kind) if f.name in LOSS_SETTINGS}
    if kind is MART:
        settings["loss"] = loss
    settings["watch"] = learner.watched()
    return kind(**settings)


assert {LAMBDA, PAIRS, *get_args(mart.Loss)} == set(get_args(Loss))
