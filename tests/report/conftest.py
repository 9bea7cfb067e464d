"""Reports to look at: of a small choice, and of hostile names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankinite as rk
from rankinite.report import of_choice, of_comparison

HOSTILE = (
    "<script>document.title = 'broken'</script>",
    "</script><img src=x onerror=\"document.title = 'broken'\">",
    "a \"quoted\" 'name' & <b>bold</b>",
    "line\u2028and\u2029paragraph {{program}} <!--",
)
"""Names that would break a page that took them for HTML or for a program."""


@pytest.fixture(scope="session")
def hostile_data():
    """Queries, documents, features and a file, all with hostile names; the last queries have others."""
    rng = np.random.default_rng(5)
    queries, documents = 30, 8
    grades = rng.integers(0, 4, queries * documents)
    names = [*HOSTILE, *(f"query {number}" for number in range(len(HOSTILE), queries))]
    return rk.Dataset.from_rows(
        np.column_stack([grades + rng.normal(0, noise, len(grades)) for noise in (3.0, 2.0, 1.0, 0.5)]),
        grades,
        np.repeat(names, documents),
        HOSTILE,
        doc_ids=np.asarray([f"{HOSTILE[row % 4]} {row}" for row in range(len(grades))]),
        source=HOSTILE[1],
    )


@pytest.fixture(scope="session")
def hostile(hostile_data):
    """A comparison of rankers with hostile names."""
    rankers = {
        HOSTILE[0]: rk.Feature(0),
        HOSTILE[1]: rk.LambdaMART.plain(trees=5, leaves=4, min_rows=5).fit(hostile_data),
        "last": rk.Feature(3),
    }
    comparison = rk.compare(rankers, hostile_data, ["ndcg@5", "err"], resamples=200)
    facts = {HOSTILE[2]: {HOSTILE[3]: HOSTILE[0]}}
    return of_comparison(comparison, hostile_data, rankers, after=HOSTILE[1], facts=facts, title=HOSTILE[1])


@pytest.fixture(scope="session")
def market():
    """A background ranker with the data it comes from, and target, validation and test data of another domain."""
    world = rk.World(documents=8, features=5, noise=0.3)
    web, target, valid, test = (
        rk.synthesise(queries, part=part, domain=domain, world=world, doc_ids=True)
        for queries, part, domain in ((60, "train", 0), (20, "train", 1), (12, "valid", 1), (25, "test", 1))
    )
    background = rk.LambdaMART.plain(trees=12, leaves=6, min_rows=5, rate=0.3).fit(web, valid)
    return background, web, target, valid, replace(test, source="test.txt")


@pytest.fixture(scope="session")
def tuned(market):
    """A search in which some settings are refused and some dropped."""
    web, test = market[1], market[4]
    space = {
        "rate": {"low": 0.001, "high": 0.5, "log": True},
        "row_share": {"low": 0.5, "high": 1.0},
        "leaves": [2, 4],
        "min_rows": [3, 5, 8, 10**6],
    }
    learner = rk.LambdaMART.plain(trees=8, min_rows=3, patience=3)
    return rk.tune(learner, web, space=space, folds=3, trials=24, sampler="random", generation=8, test=test)


@pytest.fixture(scope="session")
def choice(market):
    background, _, target, valid, test = market
    methods = ["lambdaboost", "trada-splits", "additive", "average"]
    return rk.adapt.choose(background, target, valid, test=test, methods=methods, also=["err"])


@pytest.fixture(scope="session")
def adapted(choice, market):
    _, _, target, valid, test = market
    return of_choice(choice, target, test=test, data={"valid": valid}, facts={"Run": {"command": "rankinite adapt", "seed": 0}})
