"""Descent: the settings that all learners of nets and linear rankers share. The loop itself is in ``descent_run``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from rankinite.checks import check_choice, check_count, check_number, check_positive, check_seed, plain_numbers
from rankinite.choices import MissingValues
from rankinite.learners.base import Callback, Learner

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.evaluation.scorers import Scorer
    from rankinite.models.blend import Blend
    from rankinite.models.linear import Linear
    from rankinite.models.net import Net

Optimiser = Literal["adam", "sgd"]


@dataclass(frozen=True, kw_only=True)
class Descent(Learner):
    """Settings of every learner that trains a net, and ``fit``."""

    hidden: tuple[int, ...] = (10,)
    """Tanh units of the hidden layer, or of several, as in 20,10; none makes a linear ranker."""
    optimiser: Optimiser = "adam"
    """How weights follow the gradient: adam, or sgd, the plain steps of the papers."""
    rate: float = 0.001
    """Size of the steps: for sgd 0.001 to 0.00001 in the papers."""
    epochs: int = 100
    """Passes over the training data, at most."""
    patience: int | None = 15
    """Epochs without a better value on the validation data before training ends; no limit if none."""
    decay: float = 0.8
    """What the rate is multiplied by after an epoch that was no better, in (0, 1]."""
    restarts: int = 0
    """Further random starts; the one that does best on the validation data is kept."""
    l2: float = 0.0
    """Pulls all weights towards 0."""
    nan: MissingValues = "refuse"
    """What a missing value (NaN) is: refused, or taken for the feature's mean."""
    seed: int = 0
    """Seed of the first weights and of the order of the queries."""

    def __post_init__(self) -> None:
        from rankinite.models.weighted import checked_hidden

        plain_numbers(self)
        self.check_watch()
        name = type(self).__name__
        object.__setattr__(self, "hidden", checked_hidden(name, self.hidden))
        check_choice(name, "optimiser", self.optimiser, get_args(Optimiser))
        check_choice(name, "nan", self.nan, get_args(MissingValues))
        check_positive(name, "rate", self.rate)
        check_count(name, "epochs", self.epochs)
        if self.patience is not None:
            check_count(name, "patience", self.patience)
        check_number(name, "decay", self.decay, 0.0, 1.0, above=True)
        check_count(name, "restarts", self.restarts, 0)
        check_number(name, "l2", self.l2, 0.0)
        check_seed(name, self.seed)
        for number in ("rate", "decay", "l2"):
            object.__setattr__(self, number, float(getattr(self, number)))  # 1 and 1.0 must make the same model file

    @property
    def varies_by_seed(self) -> bool:
        """The first weights and the order of the queries are drawn."""
        return True

    def fit(
        self,
        train: Dataset,
        valid: Dataset | None = None,
        *,
        base: Scorer | None = None,
        callbacks: Sequence[Callback] = (),
        allow_overlap: bool = False,
    ) -> Net | Linear | Blend:
        """Train a ranker.

        The weights of the epoch are kept in which the watched measure was best on ``valid``; without validation data, on the
        training data. ``base`` is any ranker: the net learns what to add to its scores, and both are the result. Queries that
        ``train`` and ``valid`` share are refused unless ``allow_overlap`` is true. Ctrl-C ends training and keeps what there
        is.
        """
        from rankinite.learners.descent_run import descend
        from rankinite.learners.training_checks import match_base, refuse_categories, refuse_checkpoints, training_data

        train = training_data(train, valid, base, callbacks, allow_overlap=allow_overlap)
        refuse_categories(type(self).__name__, train)
        refuse_checkpoints(type(self).__name__, callbacks)
        return descend(self, train, valid, match_base(base, train), callbacks)
