"""Tuning at equal minutes: rankinite.tune against the same search with LightGBM, on five folds of mq2007.

    RANKINITE_DATA=… python benchmarks/tuning.py [--minutes 2] [--folds 5] [--data mq2007]

Everything but the learner is the same: Optuna's proposals, in generations of eight; folds of the queries; racing over folds;
two fits at a time, one thread each; bins made once per fold. LightGBM stops early by its own NDCG@10 on the fold's validation
part. Both searches have the same space. The two take turns, so that neither has the quieter machine.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from time import perf_counter
from typing import Any

import lightgbm
import numpy as np

import rankinite as rk
from _measure import machine, sized, write_section
from quality import folds
from rankinite.data.folds import k_folds
from rankinite.engine.parallel import run, thread_count
from rankinite.tuning.evaluator import FoldValue
from rankinite.tuning.proposals import Proposer
from rankinite.tuning.result import choose_setting
from rankinite.tuning.search import Budget, SettingsSearch
from rankinite.tuning.space import space_of

TREES, PATIENCE, INNER, GENERATION = sized((500, 50, 5, 8), (10, 5, 3, 2))
MEASURE = rk.NDCG(10)
NAMES = {
    "rate": "learning_rate",
    "leaves": "num_leaves",
    "min_rows": "min_data_in_leaf",
    "row_share": "bagging_fraction",
    "node_feature_share": "feature_fraction_bynode",
    "l2": "lambda_l2",
}
"""A setting of ours, and what LightGBM calls it."""
LEARNER = rk.LambdaMART.plain(trees=TREES, patience=PATIENCE, train_history=False)
FIXED = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "bagging_freq": 1, "verbosity": -1, "num_threads": 1,
         "feature_pre_filter": False, "max_bin": 255, "deterministic": False}  # fmt: skip


class LightGBM:
    """What ``Evaluator`` is to a search, with LightGBM for a learner."""

    def __init__(self, train: rk.Dataset) -> None:
        self.folds = k_folds(train, INNER)
        self.at_once = thread_count()
        self._binned = [self._bin(fold) for fold in self.folds]

    @staticmethod
    def _bin(fold: Any) -> tuple[lightgbm.Dataset, lightgbm.Dataset]:
        train = dataset(fold.train)
        valid = train.create_valid(fold.valid.features, fold.valid.grades, group=np.diff(fold.valid.offsets))
        return train.construct(), valid.construct()

    def known(self, _piece: Any) -> None:
        return None

    def values(self, pieces: Any) -> list[FoldValue]:
        return run(self._value, pieces)

    def _value(self, piece: Any) -> FoldValue:
        start, (settings, number) = perf_counter(), piece
        train, valid = self._binned[number]
        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        model = lightgbm.train({**FIXED, **named(settings)}, train, TREES, valid_sets=[valid], callbacks=[stop])
        scores = model.predict(self.folds[number].test.features, num_iteration=model.best_iteration, num_threads=1)
        per_query = rk.evaluate(scores, self.folds[number].test, [MEASURE])[MEASURE].per_query
        size = sum(tree["num_leaves"] for tree in model.dump_model(num_iteration=model.best_iteration)["tree_info"])
        return FoldValue(per_query[~np.isnan(per_query)], model.best_iteration, size, perf_counter() - start)


def dataset(data: rk.Dataset) -> lightgbm.Dataset:
    settings = {"verbosity": -1, "feature_pre_filter": False, "max_bin": 255, "num_threads": 1}
    return lightgbm.Dataset(data.features, data.grades, group=np.diff(data.offsets), params=settings, free_raw_data=False)


def named(settings: Any) -> dict[str, Any]:
    return {NAMES[name]: value for name, value in settings.items()}


def tuned_lightgbm(train: rk.Dataset, test: rk.Dataset, minutes: float) -> tuple[np.ndarray, int]:
    """The scores of the test part, and the trials done."""
    proposer = Proposer(space_of("default", LEARNER, train.rows), LEARNER, "tpe", 0)
    search = SettingsSearch(proposer, LightGBM(train), Budget(10_000, 60.0 * minutes), generation=GENERATION)
    search.run()
    complete = search.complete()
    chosen = complete[choose_setting(np.asarray([one.values() for one in complete]), [one.size for one in complete])]
    settings = {**FIXED, **named(chosen.settings), "num_threads": thread_count()}
    return lightgbm.train(settings, dataset(train), chosen.rounds).predict(test.features), len(search.tried)


def tuned_rankinite(train: rk.Dataset, test: rk.Dataset, minutes: float) -> tuple[np.ndarray, int]:
    found = rk.tune(LEARNER, train, folds=INNER, minutes=minutes, generation=GENERATION)
    return found.ranker.score(test), len(found.trials)


SYSTEMS = {"rankinite": tuned_rankinite, "lightgbm": tuned_lightgbm}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="mq2007")
    parser.add_argument("--minutes", type=float, default=sized(2.0, 0.05))
    parser.add_argument("--folds", type=int, default=sized(5, 1))
    given = parser.parse_args()
    if not os.environ.get("RANKINITE_DATA"):
        print("RANKINITE_DATA does not name a folder with mq2007; tuning is not measured.")
        return
    parts = folds(given.data)[: given.folds]
    small = rk.synthesise(30)
    rk.tune(LEARNER, small, trials=2, folds=3)  # compiled before the clock runs
    scores: dict[str, list[np.ndarray]] = {name: [] for name in SYSTEMS}
    trials: dict[str, list[int]] = {name: [] for name in SYSTEMS}
    for number, (train, valid, test) in enumerate(parts):
        whole = rk.concat([train, valid])
        for name in (*SYSTEMS,) if number % 2 else (*reversed(SYSTEMS),):
            found, count = SYSTEMS[name](whole, test, given.minutes)
            scores[name].append(np.asarray(found))
            trials[name].append(count)
            value = rk.evaluate(scores[name][-1], test, [MEASURE])[MEASURE].mean
            print(f"fold {number + 1} {name:10} {count:4} trials, NDCG@10 {value:.4f}", flush=True)
    data = replace(rk.concat([test for _, _, test in parts]), source=f"{given.data}, test parts of {len(parts)} folds")
    result = rk.compare({name: np.concatenate(each) for name, each in scores.items()}, data, [MEASURE, rk.ERR(max_grade=2)])
    pair = result.pair("rankinite", "lightgbm", MEASURE)
    counted = [f"| {name} | {', '.join(map(str, each))} | {sum(each)} |" for name, each in trials.items()]
    low, high = pair.interval
    ratio = sum(trials["rankinite"]) / sum(trials["lightgbm"])
    text = "\n\n".join(
        [
            machine(["numba", "numpy", "optuna", "lightgbm"]),
            f"{given.minutes:g} minutes for each search. " + " ".join((__doc__ or "").split("\n\n")[2].split()),
            "\n".join(["| | trials by fold | all |", "|---|---|--:|", *counted]),
            f"**{ratio:.2f}** times the trials. NDCG@10 of what was found: {pair.difference:+.4f} ({low:+.4f} to {high:+.4f}).",
            result.to_markdown(),
        ]
    )
    print(text)
    write_section(f"Tuning at equal minutes: {given.data}", text)


if __name__ == "__main__":
    main()
