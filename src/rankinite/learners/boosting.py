"""Boosting: the settings that all learners of trees share. The loop itself is in ``boosting_run``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from rankinite.checks import check_choice, check_count, check_rate
from rankinite.learners.base import Callback, Learner
from rankinite.trees.settings import TreeSettings

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.scorers import Scorer
    from rankinite.models.blend import Blend
    from rankinite.models.forest import Forest

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
        from rankinite.learners.start import checked_data, matched_base
        from rankinite.learners.together import boost_anywhere

        train = checked_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        return boost_anywhere(self, train, valid, matched_base(base, train), callbacks)

    def facts(self, train: Dataset) -> dict[str, Any]:  # noqa: ARG002 - for learners that have something to say of it
        """What the model file keeps of the training data besides: nothing, for most losses."""
        return {}
