"""Training as a ranker records it: its settings as JSON has them, the learner they name, and its history as a drawing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankinite.errors import ArgumentError, cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankinite.models.history import History


MISSING_VALUES = "missing_values"
"""The setting by which a forest says whether its training data had missing values; older ones do not say."""


def learner_of(settings: Mapping[str, Any]) -> str | None:
    """The learner that a ranker's settings name."""
    learner = settings.get("learner")
    return learner if isinstance(learner, str) else None


def by_learner(settings: Mapping[str, Any]) -> str:
    """The same as it follows the name of a ranker: " by LambdaMART", or nothing."""
    learner = learner_of(settings)
    return "" if learner is None else f" by {learner}"


def plain_settings(settings: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """A copy of a ranker's settings as they will come back from a file."""
    try:
        return json.loads(json.dumps(dict(settings), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(
            f"cannot be written as JSON ({cut(error)})",
            owner=owner,
            setting="settings",
            value=settings,
            rule="Settings are texts, finite numbers, True, False, None, and lists and dictionaries of these",
        ) from error


def drawn_history(ranker: object, history: History | None, axes: Axes | None, unit: str) -> Axes:
    """A drawing of the measure after every round or epoch (the unit) of training."""
    from rankinite.models.plots import plot_history

    if history is None:
        raise ArgumentError(
            "there is no history to draw",
            place=repr(ranker),
            rule="Only rankers that were trained have one",
            remedy="Train one with a learner's fit",
        )
    return plot_history(history, axes, unit)
