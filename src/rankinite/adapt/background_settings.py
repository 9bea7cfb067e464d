"""What a forest says of how it was trained, and learners that train the same way."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal, get_args

from rankinite.checks import MOST
from rankinite.errors import DataError
from rankinite.learners import mart
from rankinite.learners.boosting import Boosting
from rankinite.learners.lambdamart import LambdaMART
from rankinite.learners.mart import MART
from rankinite.learners.ranknet_trees import RankNetTrees
from rankinite.models.files.container import DAMAGED
from rankinite.models.forest import Forest

LAMBDA: Literal["lambda"] = "lambda"
PAIRS: Literal["pairs"] = "pairs"
Loss = Literal["lambda", "pairs", "squared", "graded", "binary", "balanced"]
"""What forests are trained for: a measure, pairs, or the grades of single documents in the ways that MART knows."""
LOSSES = {"LambdaMART": LAMBDA, "RankNetTrees": PAIRS}
"""The loss of learners that have but one."""
LOSS_SETTINGS = ("sigma", "max_grade", "relevant")
"""What a loss has besides its name."""


def _is_whole(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MOST


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_count_of_grades(value: Any) -> bool:
    """Whether this is how many queries have which highest grade."""
    known: dict[Any, Any] = value if isinstance(value, dict) else {"": 0}
    return all(re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", str(grade)) and _is_whole(count) for grade, count in known.items())


SOUND: dict[str, Callable[[Any], bool]] = {
    "highest_grades": _is_count_of_grades,
    "learner": lambda value: isinstance(value, str),
    "leaves": _is_whole,
    "loss": lambda value: isinstance(value, str),
    "max_grade": _is_whole,
    "measure": lambda value: isinstance(value, str),
    "normalise": lambda value: isinstance(value, bool),
    "rate": lambda value: _is_number(value) and value > 0.0,
    "relevant": _is_number,
    "sigma": lambda value: _is_number(value) and value > 0.0,
    "truncation": _is_whole,
}
"""What the settings may be that methods ask for. A model file may say anything."""


def told(forest: Forest | None, name: str) -> list[Any]:
    """What the trainings of a forest say of a setting, the last one first: without what is unsaid or said before."""
    found: list[Any] = []
    settings: Any = None if forest is None else forest.settings
    while isinstance(settings, Mapping):
        level: Mapping[str, Any] = settings
        value = level.get(name, LOSSES.get(str(level.get("learner"))) if name == "loss" else None)
        if value is not None and value not in found:
            found.append(_checked(name, value))
        settings = level.get("base")
    return found


def _checked(name: str, value: Any) -> Any:
    """Refuse a setting that no learner can have had."""
    if not SOUND[name](value):
        raise DataError(f"the background's settings have {name}={value!r}, which no learner can have had. {DAMAGED}")
    return value


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
