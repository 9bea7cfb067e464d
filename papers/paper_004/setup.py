"""What the experiments of paper 004 share: data in place of the challenge's (§2), and the settings of the models (§4.2).

The data are LETOR's parts, and artificial worlds of the challenge's shape.
"""

from __future__ import annotations

from collections.abc import Mapping

from papers.data import RECOVERED, fold_cases, letor_folds
from papers.experiment import Case, Floats, RunContext, Values, judged
from rankinite import (
    ERR,
    MART,
    NDCG,
    Dataset,
    Fold,
    LambdaMART,
    LambdaRank,
    Scorer,
    TrainableMeasure,
    World,
    concat,
    synthesise,
)

WEB = ("mq2007", "mq2008")
DIVISIONS = (1, 3)
"""Folds whose validation and test parts have no queries in common."""
WORLDS = 5
QUERIES = {"train": 600, "valid": 400, "test": 1500}
QUICK = {"train": 60, "valid": 60, "test": 60}
ERR_NAME, NDCG_NAME = "err", "ndcg@10"
"""What the measures are called in outcomes, whatever the highest grade."""
ABOUT_WORLDS = f"""Artificial worlds: {WORLDS} seeds, {QUERIES["train"]} training queries of 24 documents with 100 features, a
polynomial cut into grades 0 to 4, label noise of half its spread, {QUERIES["test"]:,} test queries."""
ABOUT_WEB = f"""The challenge's 19,944 training queries are not public; mq2007 and mq2008 (1,692 and 784 queries, grades 0 to 2)
stand in for them. {RECOVERED}"""
ABOUT_SPLIT = """Models train on three parts of LETOR's five and are tested on the other two, as the paper's train on 60 % and
are tested on 40 %; two such divisions have no test query in common."""


def err(case: Case) -> ERR:
    """ERR with the highest grade of the data: 2 in LETOR's, 4 in artificial ones as in the challenge's."""
    return ERR(max_grade=2 if case.real else 4)


def judged_by_both(rankers: Mapping[str, Scorer | Floats], data: Dataset, case: Case) -> Values:
    """The values of every query by ERR and NDCG@10."""
    values = judged(rankers, data, [err(case), NDCG(10)])
    return {name: dict(zip((ERR_NAME, NDCG_NAME), measured.values(), strict=True)) for name, measured in values.items()}


def world_of(case: Case) -> World:
    """The artificial world of a case."""
    return World(features=100, documents=24, terms=20, noise=0.5, seed=case.settings["world"])


def world_cases(context: RunContext, seconds: float) -> list[Case]:
    """A case per artificial world."""
    return [
        Case(f"world {seed}", f"world {seed}", settings={"world": seed}, seconds=seconds)
        for seed in range(1, context.size(WORLDS, 1) + 1)
    ]


def division_cases(name: str, context: RunContext, seconds: float) -> list[Case]:
    """The divisions of a data set into three parts to train on and two to test on."""
    return [case for case in fold_cases(name, context, seconds) if case.settings["fold"] in DIVISIONS]


def fold_of(case: Case, context: RunContext) -> Fold:
    """The training, validation and test queries of a case."""
    if case.real:
        return letor_folds(context, case.data)[case.settings["fold"] - 1]
    sizes, world = QUICK if context.quick else QUERIES, world_of(case)
    return Fold(
        synthesise(sizes["train"], part="train", world=world),
        synthesise(sizes["valid"], part="valid", world=world),
        synthesise(sizes["test"], part="test", world=world),
    )


def division_of(case: Case, context: RunContext) -> tuple[Dataset, Dataset]:
    """What models train on, and what they are tested on: of LETOR's data all that is left."""
    train, valid, test = fold_of(case, context)
    return train, concat([valid, test]) if case.real else test


ABOUT_MODELS = """LambdaMART and MART: plain λ and least-squares splits, 16 leaves of at least 20 rows, rate 0.1, at most 300
trees, 50 without gain end training. (The paper does not name the best of the settings it tried: rates 0.01 to 0.5, 50 to 400
leaves, 3,000 trees; such forests learn data as small as ours by heart.) LambdaRank: 25 hidden units and rate 0.001, the
paper's best, with Adam where the paper takes plain steps; at most 500 epochs, 20 without gain end training, one restart."""


def forest(context: RunContext, measure: TrainableMeasure | None = None) -> LambdaMART:
    """LambdaMART, for NDCG unless another measure is given."""
    return LambdaMART.paper(
        measure=measure or NDCG(10), trees=context.size(300, 8), leaves=16, min_rows=20, rate=0.1, patience=50, seed=0,
        train_history=False,
    )  # fmt: skip


def net(context: RunContext, measure: TrainableMeasure | None = None) -> LambdaRank:
    """LambdaRank with two layers."""
    return LambdaRank(
        measure=measure or NDCG(10), hidden=(25,), optimiser="adam", rate=0.001, epochs=context.size(500, 3), patience=20,
        decay=0.8, restarts=1, seed=0, train_history=False,
    )  # fmt: skip


def points(context: RunContext) -> MART:
    """MART; the challenge's ensemble trains it for the probabilities of grades."""
    return MART.paper(
        trees=context.size(300, 8), leaves=16, min_rows=20, rate=0.1, patience=50, seed=0, watch=NDCG(10), train_history=False
    )
