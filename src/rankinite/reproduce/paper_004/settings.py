"""Settings of the models (§4.2), the same in all tables."""

from __future__ import annotations

from rankinite.learners.lambdamart import LambdaMART
from rankinite.learners.lambdarank import LambdaRank
from rankinite.learners.mart import MART
from rankinite.measures import NDCG
from rankinite.measures.base import TrainableMeasure
from rankinite.reproduce.experiment import Lab

ABOUT_MODELS = """LambdaMART and MART: plain λ and least-squares splits, 16 leaves of at least 20 rows, rate 0.1, at most 300
trees, 50 without gain end training. (The paper does not name the best of the settings it tried: rates 0.01 to 0.5, 50 to 400
leaves, 3,000 trees; such forests learn data as small as ours by heart.) LambdaRank: 25 hidden units and rate 0.001, the
paper's best, with Adam where the paper takes plain steps; at most 500 epochs, 20 without gain end training, one restart."""


def forest(lab: Lab, measure: TrainableMeasure | None = None) -> LambdaMART:
    """LambdaMART."""
    return LambdaMART.paper(
        measure=measure or NDCG(10), trees=lab.size(300, 8), leaves=16, min_rows=20, rate=0.1, patience=50, seed=0,
        train_history=False,
    )  # fmt: skip


def net(lab: Lab, measure: TrainableMeasure | None = None) -> LambdaRank:
    """LambdaRank with two layers."""
    return LambdaRank(
        measure=measure or NDCG(10), hidden=(25,), optimiser="adam", rate=0.001, epochs=lab.size(500, 3), patience=20,
        decay=0.8, restarts=1, seed=0, train_history=False,
    )  # fmt: skip


def points(lab: Lab) -> MART:
    """MART; the challenge's ensemble trains it for the probabilities of grades."""
    return MART.paper(
        trees=lab.size(300, 8), leaves=16, min_rows=20, rate=0.1, patience=50, seed=0, watch=NDCG(10), train_history=False
    )
