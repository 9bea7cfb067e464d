"""CustomTrees: boosted trees on a loss that is a function of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankinite.checks import check_number
from rankinite.errors import ArgumentError
from rankinite.foreign_settings.answers import answers_foreign_names
from rankinite.learners.boosting import Boosting, StepSettings

if TYPE_CHECKING:
    from rankinite.data.dataset import Dataset
    from rankinite.gradients.base import Objective


@answers_foreign_names
@dataclass(frozen=True, kw_only=True)
class CustomTrees(StepSettings, Boosting):
    """Gradient boosted trees on a loss of your own.

    >>> def squared(scores, grades, offsets):
    ...     return grades - scores, np.ones_like(scores)
    >>> ranker = CustomTrees(loss=squared).fit(train, valid)                                   # doctest: +SKIP
    """

    loss: Callable[..., Any]
    """A function of scores, grades and offsets: one float64 number for each row of the training data, and the rows at which
    queries begin, with the number of rows at the end. It returns push (minus the gradient of the cost by the score: positive
    where the score should rise) and curvature (the second derivative, not negative), one number for each row. Both are
    multiplied by the weight of the row's query afterwards."""
    start: float = 0.0
    """The score that training starts from where there is no base."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_steps()
        if not callable(self.loss) or isinstance(self.loss, type):
            raise ArgumentError(
                "is not a function",
                owner="CustomTrees",
                setting="loss",
                value=self.loss,
                rule="It is called with scores, grades and offsets, and returns push and curvature",
                remedy="For a loss with a name, choose LambdaMART, RankNetTrees or MART",
            )
        check_number("CustomTrees", "start", self.start)
        object.__setattr__(self, "start", float(self.start))

    def objective(self, train: Dataset) -> Objective:
        """The function, bound to the training data."""
        from rankinite.gradients.function_loss import FunctionLoss

        return FunctionLoss(train, self.loss, self.start)
