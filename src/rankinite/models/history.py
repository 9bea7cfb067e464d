"""History: how training went, as a ranker records it, with its settings as JSON has them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rankinite.engine.kernel import SCORE, Floats, frozen
from rankinite.errors import ArgumentError, DataError, cut, quoted
from rankinite.gradients.examination import Examination
from rankinite.models.files.container import DAMAGED, Stored
from rankinite.pickles import StablePickle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class History(StablePickle):
    """The measure after every round of training: entry r is its value after r rounds, entry 0 what training began with."""

    measure: str
    """What was measured, as ``parse_measure`` reads it."""
    train: Floats
    """The values on the training data; empty when they were not taken."""
    valid: Floats
    """The values on the validation data; empty when there were none."""
    best: int
    """How many rounds were kept."""
    stopped: str
    """Why training ended: "finished", "early" (no better on the validation data), "interrupted", …."""
    steps: Floats = field(default_factory=lambda: np.empty(0))
    """The exact weight of each round's tree (the mean of several), where weights were looked for; else empty."""
    examination: Examination | None = None
    """How prominently positions were looked at, as estimated in the last round, where clicks were debiased; else None."""
    held_out: Floats = field(default_factory=lambda: np.empty(0))
    """Where held-out training queries chose the number of rounds: the mean of the measure over trainings without one part each,
    on what each had not seen. Those are other, smaller trainings than the one that made the model. Else empty."""
    held_out_parts: int = 0
    """How many such trainings there were."""

    def __post_init__(self) -> None:
        for name in ("train", "valid", "steps", "held_out"):
            values = frozen(np.ascontiguousarray(getattr(self, name), SCORE))
            if values.ndim != 1 or np.isinf(values).any():
                raise ArgumentError(
                    "is not one value per round, each finite or NaN",
                    owner="History",
                    setting=name,
                    value=values,
                    remedy="Give a list of numbers, one per round",
                )
            object.__setattr__(self, name, values)
        for name, what in (("best", "rounds kept"), ("held_out_parts", "parts held out")):
            if getattr(self, name) < 0:
                raise ArgumentError(
                    f"is negative, but is the number of {what}",
                    owner="History",
                    setting=name,
                    value=getattr(self, name),
                    remedy="Give a whole number from 0 on",
                )

    @property
    def rounds(self) -> int:
        """How many rounds were trained, those that were not kept included."""
        return max(len(self.train), len(self.valid), self.best + 1) - 1

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; NaN is null. :meth:`from_dict` gives the same numbers back to the bit."""
        return {
            "measure": self.measure,
            "train": _without_nan(self.train),
            "valid": _without_nan(self.valid),
            "best": int(self.best),
            "stopped": self.stopped,
            **({"steps": self.steps.tolist()} if len(self.steps) else {}),
            **({} if self.examination is None else {"examination": self.examination.to_dict()}),
            **(
                {"held_out": _without_nan(self.held_out), "held_out_parts": int(self.held_out_parts)}
                if len(self.held_out)
                else {}
            ),
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> History:
        """A history from what :meth:`to_dict` gave."""
        measure, best, stopped = facts.get("measure"), facts.get("best"), facts.get("stopped")
        if not isinstance(measure, str) or type(best) is not int or not isinstance(stopped, str):
            raise DataError(
                f"measure {quoted(measure)}, best {quoted(best)} and stopped {quoted(stopped)} are not those of a training",
                place="history",
                value=(measure, best, stopped),
                rule="They are a text, a whole number of rounds, and the reason why training ended",
                remedy=DAMAGED,
            )
        parts = facts.get("held_out_parts", 0)
        if type(parts) is not int:
            raise DataError(
                f"{quoted(parts)} is not the number of parts held out",
                place="history: held_out_parts",
                value=parts,
                rule="It is a whole number",
                remedy=DAMAGED,
            )
        train, valid, steps, held_out = (
            _with_nan(name, facts.get(name, [])) for name in ("train", "valid", "steps", "held_out")
        )
        return cls(measure, train, valid, best, stopped, steps, _examination(facts.get("examination")), held_out, parts)


def _examination(facts: Any) -> Examination | None:
    if facts is None:
        return None
    try:
        return Examination.from_dict(facts)
    except (ArgumentError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise DataError(
            f"{quoted(facts)} are not curves of examination",
            place="history: examination",
            value=facts,
            rule="They are lists of positions and of numbers above 0, all of one length",
            remedy=DAMAGED,
        ) from problem


def stored_history(stored: Stored) -> History | None:
    """The history of a ranker in a model file; None where it has none."""
    return None if stored.facts.get("history") is None else History.from_dict(stored.fact("history", dict))


def _without_nan(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _with_nan(name: str, values: Any) -> Floats:
    entries: Any = cast("list[Any]", values) if isinstance(values, list) else [values]
    odd = [entry for entry in entries if type(entry) not in (int, float, type(None))]
    if not isinstance(values, list) or odd:
        wrong = odd[0] if odd else values
        raise DataError(
            f"{quoted(wrong)} is not a list of values",
            place=f"history: {name}",
            value=wrong,
            rule="There must be a list of a number or null per round",
            remedy=DAMAGED,
        )
    try:
        return np.asarray([math.nan if entry is None else float(entry) for entry in entries], SCORE)
    except OverflowError as error:
        raise DataError(
            "a number is too large for a float",
            place=f"history: {name}",
            value=max(entries, key=lambda entry: abs(entry or 0)),
            remedy=DAMAGED,
        ) from error


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
