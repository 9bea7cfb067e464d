"""Settings that a forest was trained with, as its model file records them, and learners that train the same way."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import Any, Literal, get_args

from rankinite.checks import MOST
from rankinite.errors import DataError, MeasureError, quoted
from rankinite.learners import mart
from rankinite.learners.base import FUNCTION_CODE
from rankinite.learners.boosting import Boosting
from rankinite.learners.lambdamart import LambdaMART
from rankinite.learners.mart import MART
from rankinite.learners.ranknet_trees import RankNetTrees
from rankinite.measures.base import Measure
from rankinite.measures.registry import known_measures
from rankinite.measures.spelling import as_measures
from rankinite.models.files.container import DAMAGED
from rankinite.models.forest import Forest

LAMBDA: Literal["lambda"] = "lambda"
PAIRS: Literal["pairs"] = "pairs"
Loss = Literal["lambda", "pairs", "squared", "graded", "binary", "balanced"]
"""What forests are trained for: a measure, pairs, or the grades of single documents by one of MART's losses."""
LOSSES = {"LambdaMART": LAMBDA, "RankNetTrees": PAIRS}
"""The loss of learners that have only one."""
LOSS_SETTINGS = ("sigma", "max_grade", "relevant")
"""The settings of losses."""


def _is_whole(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MOST


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_count_of_grades(value: Any) -> bool:
    """Whether this maps highest grades to the number of queries that have them."""
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
"""What each setting that methods look up may be: a model file may contain anything."""


def recorded_values(forest: Forest | None, name: str) -> list[Any]:
    """The values of a setting in all trainings of a forest that record it, the last training first, each value once."""
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
        place = f"the background's setting {name}"
        raise DataError(f"{quoted(value)} is no value that a learner can have had", place=place, value=value, remedy=DAMAGED)
    return value


def last_recorded(forest: Forest | None, name: str, default: Any = None) -> Any:
    """The value of a setting in the last training that records it."""
    return next(iter(recorded_values(forest, name)), default)


def recorded_measure(forest: Forest) -> Measure | None:
    """The measure that a forest was trained for, ndcg@10 where none is recorded; None where only its name is known.

    A model file contains no function; and of a registered measure the package may be missing here.
    """
    name: str = last_recorded(forest, "measure", "ndcg@10")
    code: Any = forest.settings.get(FUNCTION_CODE)
    is_function = isinstance(code, Mapping) and "measure" in code
    if not is_function or name in known_measures():
        with suppress(MeasureError):
            return as_measures(name)[0]
    return None


def loss_of(forest: Forest | None, declared: str | None = None) -> Loss:
    """The loss of a forest: the one declared, else the one recorded; λ-gradients where there is none or there are several."""
    losses: list[Any] = recorded_values(forest, "loss") if declared is None else [declared]
    return losses[0] if len(losses) == 1 and losses[0] in get_args(Loss) else LAMBDA


def with_loss_of(forest: Forest, learner: LambdaMART, loss: Loss) -> Boosting:
    """A learner with a forest's loss that grows trees like this one and watches the measure that this one climbs."""
    if loss == LAMBDA:
        return learner
    kind = RankNetTrees if loss == PAIRS else MART
    settings: dict[str, Any] = {f.name: getattr(learner, f.name) for f in fields(kind) if hasattr(learner, f.name)}
    settings |= {f.name: last_recorded(forest, f.name, f.default) for f in fields(kind) if f.name in LOSS_SETTINGS}
    if kind is MART:
        settings["loss"] = loss
    settings["watch"] = learner.watched()
    return kind(**settings)


assert {LAMBDA, PAIRS, *get_args(mart.Loss)} == set(get_args(Loss))
