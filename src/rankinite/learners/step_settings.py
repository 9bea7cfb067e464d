"""StepSettings: how far boosting goes along a tree (paper 000 §4, §5.6, §6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from rankinite.checks import check_choice, check_count, check_number
from rankinite.errors import ArgumentError

Step = Literal["newton", "exact", "newton-exact", "leaves"]
StepData = Literal["train", "valid"]


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """Settings of learners whose trees can be weighted exactly."""

    step: Step = "newton"
    """newton, one step a leaf; exact: leaves of the mean gradient times the weight that is best for the watched measure;
    newton-exact: newton's leaves times that weight; leaves: newton's leaves, each times its own best weight."""
    step_low: float = 0.1
    """The lowest exact weight; 0 could add the same useless tree for ever."""
    step_high: float = 5.0
    """The highest exact weight."""
    step_data: StepData = "train"
    """The queries that exact weights are chosen on: train, or valid, which overfits less."""
    reoptimise: int = 0
    """Every so many rounds the weights of all trees are improved once more, one after the other; 0: never."""

    def check_steps(self) -> None:
        """Refuse settings that mean nothing."""
        name = type(self).__name__
        check_choice(name, "step", self.step, get_args(Step))
        check_choice(name, "step_data", self.step_data, get_args(StepData))
        check_number(name, "step_low", self.step_low)
        check_number(name, "step_high", self.step_high)
        check_count(name, "reoptimise", self.reoptimise, 0)
        if self.step_low >= self.step_high:
            raise ArgumentError(
                f"must be below `step_high={self.step_high:g}`",
                owner=name,
                setting="step_low",
                value=self.step_low,
                rule="Weights run from one to the other",
            )
        constrained = getattr(self, "monotone", ())
        if constrained and (self.step in ("exact", "leaves") or self.step_low < 0.0):
            raise ArgumentError(
                f"with `step_low={self.step_low:g}` could break `monotone={constrained[0]!r}`",
                owner=name,
                setting="step",
                value=self.step,
                remedy="Choose `step='newton'`, or 'newton-exact' with weights from 0 on",
            )
        for number in ("step_low", "step_high"):
            object.__setattr__(self, number, float(getattr(self, number)))
