"""Data in place of the challenge's (§2): LETOR's parts, and artificial worlds of the challenge's shape."""

from __future__ import annotations

from collections.abc import Mapping

from rankinite.data.dataset import Dataset
from rankinite.data.folds import Fold
from rankinite.data.joining import concat
from rankinite.data.synthetic import World, synthesise
from rankinite.engine.kernel import Floats
from rankinite.evaluation.scorers import Scorer
from rankinite.measures import ERR, NDCG
from rankinite.reproduce.data_sets import RECOVERED, fold_cases, letor_folds
from rankinite.reproduce.experiment import Case, Lab
from rankinite.reproduce.outcome import Values, judged

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
    found = judged(rankers, data, [err(case), NDCG(10)])
    return {name: dict(zip((ERR_NAME, NDCG_NAME), values.values(), strict=True)) for name, values in found.items()}


def world_of(case: Case) -> World:
    """The artificial world of a case."""
    return World(features=100, documents=24, terms=20, noise=0.5, seed=case.settings["world"])


def world_cases(lab: Lab, seconds: float) -> list[Case]:
    """A case per artificial world."""
    return [
        Case(f"world {seed}", f"world {seed}", settings={"world": seed}, seconds=seconds)
        for seed in range(1, lab.size(WORLDS, 1) + 1)
    ]


def division_cases(name: str, lab: Lab, seconds: float) -> list[Case]:
    """The divisions of a data set into three parts to train on and two to test on."""
    return [case for case in fold_cases(name, lab, seconds) if case.settings["fold"] in DIVISIONS]


def fold_of(case: Case, lab: Lab) -> Fold:
    """The training, validation and test queries of a case."""
    if case.real:
        return letor_folds(lab, case.data)[case.settings["fold"] - 1]
    sizes, world = QUICK if lab.quick else QUERIES, world_of(case)
    return Fold(
        synthesise(sizes["train"], part="train", world=world),
        synthesise(sizes["valid"], part="valid", world=world),
        synthesise(sizes["test"], part="test", world=world),
    )


def division_of(case: Case, lab: Lab) -> tuple[Dataset, Dataset]:
    """What models train on, and what they are tested on: of LETOR's data all that is left."""
    train, valid, test = fold_of(case, lab)
    return train, concat([valid, test]) if case.real else test
