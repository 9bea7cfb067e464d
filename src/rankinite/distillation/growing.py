"""Growing: students that learn to follow the teacher's scores by least squares, as a forest or as a net."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankinite.data.dataset import Dataset
from rankinite.distillation.following import followed
from rankinite.distillation.teacher import on_scale_of
from rankinite.gradients.base import Objective
from rankinite.gradients.differences import Differences
from rankinite.learners.descent import Descent
from rankinite.learners.mart import MART
from rankinite.models.base import Fitted
from rankinite.models.forest import Forest
from rankinite.models.linear import Linear
from rankinite.models.net import Net

NET_RATE = 0.003
"""Where scores are followed, steps may be larger than where pairs are judged."""


def grow(teacher: Fitted, data: Sequence[Dataset], trees: int, *, leaves: int = 31, made: int = 0, seed: int = 0) -> Forest:
    """A forest of ``trees`` new trees that follow the teacher's scores, less their mean within each query.

    ``data``: the rows to learn from; their grades are not looked at. ``made``: copies of them with mixed features, which the
    teacher scores too. The fewer trees, the larger their steps.
    """
    rows, sketch = followed(teacher, data, made=made, seed=seed)
    learner = MART(trees=trees, leaves=leaves, rate=min(0.3, 15.0 / trees), min_rows=5, seed=seed, train_history=False)
    forest = learner.fit(rows)
    assert isinstance(forest, Forest)  # there is no base
    facts = {"learner": "distil", "method": "grow", "trees": trees, "leaves": leaves, "made": made, "seed": seed}
    return on_scale_of(teacher, replace(forest, settings=facts, history=None, sketch=sketch), data)


@dataclass(frozen=True, kw_only=True)
class ScoreNet(Descent):
    """A net whose scores follow the grades of the training data, which are another ranker's scores, within each query."""

    def objective(self, train: Dataset) -> Objective:
        """Squared loss of differences."""
        return Differences(train)


def train_net(
    teacher: Fitted, data: Sequence[Dataset], hidden: tuple[int, ...], *, made: int = 0, seed: int = 0
) -> Net | Linear:
    """A net that follows the teacher's scores, a linear ranker without ``hidden`` units; data and ``made`` as for :func:`grow`.

    The epoch is kept in which the fewest pairs of documents are ranked against the teacher.
    """
    rows, sketch = followed(teacher, data, made=made, seed=seed)
    net = ScoreNet(hidden=hidden, rate=NET_RATE, nan="mean", watch="pairwise-errors", seed=seed).fit(rows)
    assert isinstance(net, Net | Linear)  # there is no base
    facts = {"learner": "distil", "method": "net", "hidden": list(hidden), "made": made, "seed": seed}
    return on_scale_of(teacher, replace(net, settings=facts, history=None, sketch=sketch), data)
