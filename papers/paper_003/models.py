"""The models of paper 003 (§5.3): a base model, its trees tuned to the target (Trada), and what that is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from papers.data import Pair
from papers.experiment import Floats, RunContext, Values, judged
from rankinite import DCG, MART, Dataset, Forest, Scorer
from rankinite.adapt import Trada, pool
from rankinite.adapt.methods.trada import Responses

TREES, MORE = 300, 30
"""Trees of the base model, and those that are added to it; combination and small-data models have 330."""
RATE = 0.05
BETA = 10.0
WEIGHTS = (1, 10, 20)
"""How often a target query counts in combined data: W in the paper."""
GAINS = {"": (0, 1, 3, 7, 10), "mq2007": (0, 3, 10), "classic": (0, 10)}
"""What grades become, so that a score stands for a gain: the paper's five on artificial data, fewer on real ones."""
MEASURE = DCG(gains="linear")
"""Grades are gains, and all documents of a query count: the paper's sum runs over all that are tested."""
RELATIVE = "relative dcg"
"""DCG over the base model's mean DCG on the same test queries, so that every pair of domains counts alike."""
BASE, SMALL, ADDITIVE, ADAPTED = "base model", "small-data model", "additive model", "adapted model"
COMBINED = "combination, best W"
SETTING = f"""Base model: gradient boosted trees on squared loss, {TREES} trees of 12 leaves at rate {RATE}, no rows drawn (the
paper draws some, and does not say how many). Grades are the paper's gains 10, 7, 3, 1, 0 on artificial data, 10, 3, 0 on
LETOR's and 10, 0 on classic collections. DCG runs over all documents of a query, as the paper's sum does, and is divided by the
base model's mean on the same queries: 1 is the base model, and 0.005 (half a percent) is what matters."""
REAL = """real ones are ten pairs of domains: mq2007 → mq2008, short → long queries of mq2007, and eight pairs of classic
collections, with pools of 15 to 392 queries"""


@dataclass(frozen=True)
class Domains:
    """The data of a pair with gains for grades, and the base model of the background."""

    background: Dataset
    pool: Dataset
    test: Dataset
    base: Forest


def domains_of(pair: Pair, context: RunContext) -> Domains:
    """The data of a pair, and its base model."""
    gains = GAINS[pair.data]
    background, target, test = (with_gains(load(context), gains) for load in (pair.background, pair.pool, pair.test))
    return Domains(background, target, test, base_model(background, context))


def with_gains(data: Dataset, gains: Sequence[float]) -> Dataset:
    """The data with gains in place of grades."""
    return data.map_grades(dict(enumerate(gains)))


def boosted_trees(trees: int) -> MART:
    """Gradient boosted trees, all of the same shape."""
    return MART.paper(
        loss="squared", trees=trees, leaves=12, rate=RATE, min_rows=20, row_share=1.0, patience=None, seed=0,
        train_history=False,
    )  # fmt: skip


def base_trees(context: RunContext) -> int:
    """The trees of the base model."""
    return context.size(TREES, 20)


def base_model(background: Dataset, context: RunContext) -> Forest:
    """The base model."""
    return _forest(boosted_trees(base_trees(context)).fit(background))


def tuned(
    base: Forest, target: Dataset, beta: float, *, splits: bool = False, trim: bool = False, responses: Responses = "layers"
) -> Forest:
    """The base model's trees, tuned to the target (algorithms 1 and 2)."""
    settings = Trada(beta=beta, responses=responses, splits=splits, trim=trim, loss="squared", rate=RATE, same_scale=True)
    return settings.adapt(base, target)


def extended(forest: Forest, target: Dataset, trees: int = MORE) -> Forest:
    """The forest with more trees, boosted on what it leaves to be explained (algorithm 3, and additive models)."""
    return _forest(boosted_trees(trees).fit(target, base=forest))


def small_data(target: Dataset, context: RunContext) -> Scorer:
    """The target alone, with as many trees."""
    return boosted_trees(base_trees(context) + MORE).fit(target)


def combinations(background: Dataset, target: Dataset, context: RunContext) -> dict[str, Scorer]:
    """Both data sets as one, for every W, with as many trees."""
    learner = boosted_trees(base_trees(context) + MORE)
    return {
        combined(weight): pool(background, target, weight=float(weight), learner=learner, same_scale=True) for weight in WEIGHTS
    }


def combined(weight: int) -> str:
    """The name of a combination model."""
    return f"combination, W = {weight}"


def relative_values(systems: Mapping[str, Scorer | Floats], domains: Domains) -> dict[str, dict[str, Floats]]:
    """DCG of every test query over the base model's mean."""
    values = judged({BASE: domains.base, **systems}, domains.test, (MEASURE,))
    level = float(np.nanmean(values[BASE][str(MEASURE)]))
    return {name: {RELATIVE: measured[str(MEASURE)] / level} for name, measured in values.items()}


def best_of(names: Sequence[str], values: Values) -> tuple[dict[str, Floats], list[str]]:
    """The values of whichever system is best on the other half of the test queries, and which that is for either half.

    Chosen where it is judged, the best of several would look better than it is.
    """
    known = np.asarray([values[name][RELATIVE] for name in names])
    best, chosen = np.empty(known.shape[1]), list[str]()
    for half in (0, 1):
        place = int(np.nanmean(known[:, 1 - half :: 2], axis=1).argmax())
        best[half::2] = known[place, half::2]
        chosen.append(names[place])
    return {RELATIVE: best}, chosen


def _forest(ranker: Scorer) -> Forest:
    assert isinstance(ranker, Forest)
    return ranker
