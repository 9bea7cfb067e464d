"""Boosting: the settings that all learners of trees share, and of exact weights of trees (paper 000 §4, §5.6, §6).

The loop itself is in ``boosting_run``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from rankinite.checks import check_choice, check_count, check_number, check_rate
from rankinite.errors import ArgumentError
from rankinite.learners.base import Callback, Learner
from rankinite.trees.settings import TreeSettings

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.scorers import Scorer
    from rankinite.models.blend import Blend
    from rankinite.models.forest import Forest

Step = Literal["newton", "exact", "newton-exact", "leaves"]
StepData = Literal["train", "valid"]
Preset = Literal["plain", "paper"]
"""What settings are that are not given: those that all learners of trees share, or what the papers do where that differs."""
MOST_TREES = 1_000
"""Rounds of boosting, at most, where no number is given."""


@dataclass(frozen=True, kw_only=True)
class Boosting(Learner, TreeSettings):
    """Settings of every learner that boosts trees, and ``fit``."""

    trees: int | None = 500
    """Rounds of boosting, at most: trees, or for McRank trees for each grade. If none, up to 1,000: as many as are best on
    the validation data, or, without them, on parts of the training queries that are held out in turn."""
    rate: float = 0.1
    """Shrinkage of each tree, in (0, 1]."""
    patience: int | None = 50
    """Rounds without a better value on the validation data before training ends; no limit if none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        if self.trees is not None:
            check_count(name, "trees", self.trees)
        check_rate(name, self.rate)
        object.__setattr__(self, "rate", float(self.rate))
        if self.patience is not None:
            check_count(name, "patience", self.patience)
        self.check_watch()

    @property
    def most_trees(self) -> int:
        """Rounds of boosting, at most."""
        return MOST_TREES if self.trees is None else self.trees

    @classmethod
    def plain(cls, **settings: Any) -> Self:
        """The learner with these settings, and otherwise what all learners of trees share: see :meth:`plain_settings`."""
        return cls(**{**cls.plain_settings(), **settings})

    @classmethod
    def plain_settings(cls) -> dict[str, Any]:
        """Where what all learners of trees share differs from this learner's own defaults."""
        own = {one.name: one.default for one in fields(cls)}
        return {one.name: one.default for one in fields(Boosting) if one.default != own[one.name]}

    @classmethod
    def paper(cls, **settings: Any) -> Self:
        """The learner with these settings, and otherwise as in the papers: see :meth:`paper_settings`."""
        return cls.plain(**{**cls.paper_settings(), **settings})

    @classmethod
    def paper_settings(cls) -> dict[str, Any]:
        """Where the papers differ from :meth:`plain`: they find splits by least squares on the gradients."""
        return {"criterion": "mse"}

    @classmethod
    def preset(cls, name: Preset, **settings: Any) -> Self:
        """The learner of a preset that is known by its name."""
        check_choice(cls.__name__, "preset", name, get_args(Preset))
        return cls.paper(**settings) if name == "paper" else cls.plain(**settings)

    @property
    def varies_by_seed(self) -> bool:
        """Whether trees draw rows, queries, features or thresholds."""
        return self.is_random

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Forest | Blend:
        """Train a ranker.

        With ``valid`` the forest is cut where the watched measure is best on it. ``base`` is any ranker: training goes on from
        its scores, and it is part of the result, which is one forest when the base is one. Queries that ``train`` and
        ``valid`` share are refused unless ``allow_overlap`` is true. Ctrl-C ends training and keeps what there is.
        """
        from rankinite.learners.joint_training import train_where_configured
        from rankinite.learners.training_checks import match_base, training_data

        train = training_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        return train_where_configured(self, train, valid, match_base(base, train), callbacks)

    def facts(self, train: Dataset) -> dict[str, Any]:  # noqa: ARG002 - for learners that have something to say of it
        """What the model file keeps of the training data besides: nothing, for most losses."""
        return {}


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """Settings of learners whose trees can be weighted exactly."""

    step: Step = "newton"
    """newton, one step per leaf; exact: leaves of the mean gradient times the weight that is best for the watched measure;
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
