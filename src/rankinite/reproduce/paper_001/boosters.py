"""LambdaBoost and LambdaSMART as paper 001 sets them (§5.2), the latter also as its Figure 4 varies it (§5.3)."""

from __future__ import annotations

from collections.abc import Mapping

from rankinite.data.dataset import Dataset
from rankinite.engine.kernel import Floats
from rankinite.evaluation.scorers import Scorer
from rankinite.learners.lambdaboost import LambdaBoost
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures import NDCG, AveNDCG
from rankinite.models.base import Fitted
from rankinite.reproduce.adaptation import MEASURE
from rankinite.reproduce.experiment import Lab

MEASURES = (NDCG(1), NDCG(3), NDCG(10), AveNDCG(10))
AVERAGE = str(MEASURES[-1])
"""AveNDCG, the mean of NDCG@1 to NDCG@10, by which the paper compares."""
BACK, OWN, BOOST, SMART = "Back.", "In-domain", "λ-Boost", "λ-SMART"
LEAVES = (2, 5, 10, 20)
"""Figure 4's; LambdaBoost is L = 1."""
DRAWN, PLAIN = "with randomisation", "without randomisation"
SHARES = {PLAIN: 1.0, DRAWN: 0.7}
"""Of a node's rows and of the features, drawn before each split."""
SETTINGS = """LambdaBoost: at most 500 rounds at rate 0.5. LambdaSMART: at most 500 trees of 20 leaves at rate 0.5, plain λ
and least-squares splits, 70 % of the rows and of the features drawn anew at every node. Both start from the background's
scores as they are, and end after 100 rounds without gain on the validation queries; the best round is kept."""


def trees(leaves: int, how: str) -> str:
    """What LambdaSMART with so many leaves, with or without randomisation, is called."""
    return f"λ-SMART, L = {leaves}, {how}"


def boost(base: Scorer, train: Dataset, valid: Dataset, lab: Lab) -> Fitted:
    """LambdaBoost from a background."""
    learner = LambdaBoost(
        measure=MEASURE, rounds=lab.size(500, 20), rate=0.5, patience=100, step="least-squares", train_history=False
    )
    return learner.fit(train, valid, base=base)


def smarts(base: Scorer, train: Dataset, valid: Dataset, draw: int, lab: Lab) -> dict[str, Fitted]:
    """LambdaSMART from a background with every number of leaves, with and without randomisation."""
    found: dict[str, Fitted] = {}
    for leaves in LEAVES:
        for how, share in SHARES.items():
            learner = LambdaMART.paper(
                measure=MEASURE, trees=lab.size(500, 10), leaves=leaves, rate=0.5, node_row_share=share,
                node_feature_share=share, patience=100, seed=draw, train_history=False,
            )  # fmt: skip
            found[trees(leaves, how)] = learner.fit(train, valid, base=base)
    return found


def gain(leaves: int) -> str:
    """What randomisation adds to LambdaSMART with so many leaves, query by query."""
    return f"{trees(leaves, DRAWN)}, less {PLAIN}"


def gains(values: Mapping[str, Mapping[str, Floats]]) -> dict[str, dict[str, Floats]]:
    """What randomisation adds, for every number of leaves."""
    return {
        gain(leaves): {AVERAGE: values[trees(leaves, DRAWN)][AVERAGE] - values[trees(leaves, PLAIN)][AVERAGE]}
        for leaves in LEAVES
    }
