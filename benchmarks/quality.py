"""How well rankers rank real held-out queries: mq2007 and mq2008, five LETOR folds, each system tuned on validation data.

    RANKINITE_DATA=… python benchmarks/quality.py [--data mq2007 mq2008] [--systems …]

Every system gets the same small grid (leaves 8, 16 or 32; CatBoost: depth 3, 4 or 5; rate 0.05 or 0.1; at most 300 trees)
and the number of trees with the best NDCG@10 on the fold's validation part. The test parts of the five folds are evaluated
together, alike for all: expected NDCG@10 and ERR under ties, queries of one grade skipped, mean and 95 % interval over queries.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import rankinite as rk
from _measure import machine, write_section

TREES, STEP = 300, 5
LEAVES, RATES = (8, 16, 32), (0.05, 0.1)
MEASURES = [rk.NDCG(10), rk.ERR(max_grade=2)]
Scores = Callable[[rk.Dataset], np.ndarray]


def folds(name: str) -> list[tuple[rk.Dataset, rk.Dataset, rk.Dataset]]:
    folder = Path(os.environ["RANKINITE_DATA"]) / name
    parts = [rk.read(folder / f"S{k}.txt.gz") for k in range(1, 6)]
    return [(rk.concat([parts[(k + i) % 5] for i in range(3)]), parts[(k + 3) % 5], parts[(k + 4) % 5]) for k in range(5)]


def value(scores: np.ndarray, data: rk.Dataset) -> float:
    return rk.evaluate(np.asarray(scores, float), data, [rk.NDCG(10)])[rk.NDCG(10)].mean


def best_rounds(valid: rk.Dataset, scores_of_step: Callable[[int], np.ndarray]) -> tuple[float, int]:
    """The best validation value and its number of trees, looked at every few trees; scores of steps are added up."""
    total, found = np.zeros(valid.rows), []
    for first in range(0, TREES, STEP):
        total += scores_of_step(first)
        found.append((value(total, valid), first + STEP))
    return max(found)


def rankinite(settings: dict[str, object]):
    def train(fold, leaves: int, rate: float) -> tuple[float, Scores]:
        learner = rk.LambdaMART(trees=TREES, leaves=leaves, rate=rate, patience=None, train_history=False, **settings)
        forest = learner.fit(fold[0], fold[1])
        return float(forest.history.valid[forest.history.best]), forest.score

    return train


def averaged(settings: dict[str, object], seeds: int):
    """The mean of forests that differ in their seed alone: what is drawn at random then matters less."""

    def train(fold, leaves: int, rate: float) -> tuple[float, Scores]:
        forests = [rankinite({**settings, "seed": seed})(fold, leaves, rate)[1] for seed in range(seeds)]

        def scores(data: rk.Dataset) -> np.ndarray:
            return np.mean([score(data) for score in forests], axis=0)

        return value(scores(fold[1]), fold[1]), scores

    return train


def lightgbm(fold, leaves: int, rate: float) -> tuple[float, Scores]:
    import lightgbm as library

    train = library.Dataset(fold[0].features, fold[0].grades, group=np.diff(fold[0].offsets), params={"verbosity": -1})
    settings = {"objective": "lambdarank", "num_leaves": leaves, "learning_rate": rate, "verbosity": -1, "num_threads": 2}
    model = library.train(settings, train, TREES)
    best, rounds = best_rounds(fold[1], lambda n: model.predict(fold[1].features, start_iteration=n, num_iteration=STEP))
    return best, lambda data: model.predict(data.features, num_iteration=rounds)


def xgboost(fold, leaves: int, rate: float) -> tuple[float, Scores]:
    import xgboost as library

    train = library.DMatrix(fold[0].features, fold[0].grades, qid=fold[0].query_of_row())
    settings = {"objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": leaves}
    model = library.train({**settings, "max_depth": 0, "eta": rate, "nthread": 2}, train, TREES)

    def scores(data: rk.Dataset, first: int, last: int) -> np.ndarray:
        return model.inplace_predict(data.features, iteration_range=(first, last))

    best, rounds = best_rounds(fold[1], lambda n: scores(fold[1], n, n + STEP))
    return best, lambda data: scores(data, 0, rounds)


def catboost(fold, leaves: int, rate: float) -> tuple[float, Scores]:
    import catboost as library

    model = library.CatBoostRanker(
        loss_function="YetiRank",
        iterations=TREES,
        depth=leaves.bit_length() - 1,
        learning_rate=rate,
        thread_count=2,
        verbose=False,
        allow_writing_files=False,
        random_seed=0,
    ).fit(fold[0].features, fold[0].grades, group_id=fold[0].query_of_row())
    staged = enumerate(model.staged_predict(fold[1].features, eval_period=STEP))
    best, rounds = max((value(scores, fold[1]), min(STEP * (n + 1), TREES)) for n, scores in staged)
    return best, lambda data: model.predict(data.features, ntree_end=rounds)


DRAWN = {"shape": "symmetric", "row_share": 0.7, "node_feature_share": 0.5}
SYSTEMS = {
    "rankinite": rankinite(DRAWN),
    "rankinite, mean of five seeds": averaged(DRAWN, 5),
    "rankinite, plain": rankinite({}),
    "rankinite, as in the papers": rankinite({"criterion": "mse", "normalise": False}),
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "catboost": catboost,
}


def tuned(train, fold) -> Scores:
    """The model with the best validation value of the grid."""
    return max((train(fold, leaves, rate) for leaves, rate in itertools.product(LEAVES, RATES)), key=lambda found: found[0])[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=["mq2007", "mq2008"])
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS))
    given = parser.parse_args()
    if not os.environ.get("RANKINITE_DATA"):
        print("RANKINITE_DATA does not name a folder with mq2007 and mq2008; quality is not measured.")
        return
    about = [machine(["lightgbm", "xgboost-cpu", "catboost"]), (__doc__ or "").split("\n\n", 2)[2]]
    for name in given.data:
        parts = folds(name)
        scores = {system: [] for system in given.systems}
        for number, fold in enumerate(parts):
            for system in given.systems:
                started = time.perf_counter()
                scores[system].append(np.asarray(tuned(SYSTEMS[system], fold)(fold[2]), float))
                spent = time.perf_counter() - started
                print(
                    f"{name} fold {number + 1} {system:30} {value(scores[system][-1], fold[2]):.4f} {spent:6.0f} s", flush=True
                )
        test = replace(rk.concat([fold[2] for fold in parts]), source=f"{name}, test parts of five folds")
        result = rk.compare({system: np.concatenate(each) for system, each in scores.items()}, test, MEASURES)
        print(result.to_markdown(), flush=True)
        if given.systems == list(SYSTEMS):
            write_section(f"Quality on {name}", "\n\n".join([*about, result.to_markdown()]))


if __name__ == "__main__":
    main()
