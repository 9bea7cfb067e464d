"""What papers 000 and 001 adapt with: LambdaRank nets of a background and of the target, and their interpolation."""

from __future__ import annotations

from collections.abc import Sequence

from rankinite.combine.inexact_weights import powell
from rankinite.data.dataset import Dataset
from rankinite.data.folds import split
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.lambdarank import LambdaRank
from rankinite.measures import NDCG
from rankinite.models.base import Fitted
from rankinite.reproduce.experiment import Lab

MEASURE = NDCG(10)
"""What everything is trained for."""
ONE_YEAR = ("43", "46")
"""The first is 0 in all of mq2008, the second in all rows of mq2007 but one: a net of one year meets the other unprepared."""
BACKGROUND_VALID, TARGET_VALID = 0.1, 0.25
"""Shares of a background's queries and of the target's that validate."""
NETS = """Nets are trained with Adam at rate 0.001, where the paper takes plain steps of 0.00001, and end where NDCG@10 is
best on validation queries: a tenth of the background's, a quarter of the target's. The latter also choose the number of
rounds of boosting and, by Powell's search for NDCG@10, the weights of interpolation."""


def of_both_years(data: Dataset) -> Dataset:
    """mq2007 or mq2008 with the features alone that vary in both."""
    return data.select_features([name for name in data.feature_names if name not in ONE_YEAR])


def with_valid(data: Dataset, draw: int, share: float = TARGET_VALID) -> tuple[Dataset, Dataset]:
    """Training and validation queries, divided anew in every draw."""
    train, valid = split(data, (1.0 - share, share), seed=draw)
    return train, valid


def net(hidden: int, draw: int, lab: Lab) -> LambdaRank:
    """Two layers with so many hidden units."""
    return LambdaRank(
        measure=MEASURE, hidden=(hidden,), optimiser="adam", rate=0.001, epochs=lab.size(200, 5), patience=15, decay=0.8,
        restarts=0, seed=draw, train_history=False,
    )  # fmt: skip


def background_net(data: Dataset, draw: int, lab: Lab) -> Fitted:
    """The background ranker of both papers: 15 hidden units."""
    return net(15, draw, lab).fit(*with_valid(data, draw, BACKGROUND_VALID))


def interpolated(rankers: Sequence[Scorer], valid: Dataset) -> Fitted:
    """A weighted sum of rankers; its weights are the best that Powell's search finds on the target's validation queries."""
    return powell(rankers, valid, MEASURE, most=2000).ranker
