"""How well rankers rank real held-out queries: mq2007 and mq2008, five LETOR folds, each system tuned on validation data.

    RANKINITE_DATA=… python benchmarks/quality.py [--data mq2007 mq2008] [--systems …] [--plain]

Equal terms: every system gets a grid of 18 settings (leaves 8, 16 or 32, for CatBoost depth 3, 4 or 5; rate 0.05 or 0.1;
plain, rows and features drawn, or these with one more regulariser: symmetric trees, extra trees, leaves that are pulled to
0, random strength), and 60 numbers of trees, every fifth up to 300. The setting and number with the best NDCG@10 on the
fold's validation part are taken, with one seed; "five seeds" is the mean of the scores of five models with that setting,
each with its own best number of trees. The test parts of the five folds are evaluated together, alike for all: expected
NDCG@10 and ERR under ties, queries of one grade skipped, mean and 95 % interval over queries. Tuned settings and scores are
kept in .bench/quality, so an interrupted run goes on where it was, and several processes may work at once. 10,488 of the
69,623 rows of mq2007 are not as published but recovered from published models.

``--plain`` is the quick form: the 6 plain settings of every system and one seed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import rankinite as rk
from _measure import SCRATCH, claimed, machine, sized, write_section
from rankinite.engine.parallel import thread_count

TREES, STEP, SEEDS = sized((300, 5, 5), (10, 5, 2))
LEAVES, RATES = sized(((8, 16, 32), (0.05, 0.1)), ((8,), (0.1,)))
MEASURES = [rk.NDCG(10), rk.ERR(max_grade=2)]
PLAIN_ABOUT = """Equal terms, plain settings: every system gets 6 settings (leaves 8, 16 or 32, for CatBoost depth 3, 4 or 5;
rate 0.05 or 0.1; all else as it comes) and 60 numbers of trees, every fifth up to 300. The setting and number with the best
NDCG@10 on the fold's validation part are taken; one seed. The test parts of the five folds are evaluated together, alike for
all: expected NDCG@10 and ERR under ties, queries of one grade skipped, mean and 95 % interval over queries. "Paper" is the
preset of that name. 10,488 of the 69,623 rows of mq2007 are not as published but recovered from published models."""
Staged = Callable[[rk.Dataset], Iterator[np.ndarray]]
"""The scores after every fifth tree."""
Chosen = tuple[int, float, int]
"""A setting of the grid: leaves, rate, the number of the regularisation."""


def folds(name: str) -> list[tuple[rk.Dataset, rk.Dataset, rk.Dataset]]:
    folder = Path(os.environ["RANKINITE_DATA"]) / name
    parts = [rk.read(folder / f"S{k}.txt.gz") for k in range(1, 6)]
    return [(rk.concat([parts[(k + i) % 5] for i in range(3)]), parts[(k + 3) % 5], parts[(k + 4) % 5]) for k in range(5)]


def value(scores: np.ndarray, data: rk.Dataset) -> float:
    return rk.evaluate(np.asarray(scores, float), data, [rk.NDCG(10)])[rk.NDCG(10)].mean


# ---- systems: training data, leaves, rate, what else, seed → scores of any data after every fifth tree --------------------


def rankinite(train: rk.Dataset, leaves: int, rate: float, more: dict[str, Any], seed: int) -> Staged:
    learner = rk.LambdaMART.plain(trees=TREES, leaves=leaves, rate=rate, seed=seed, patience=None, train_history=False, **more)
    forest = learner.fit(train)
    return lambda data: forest.staged_scores(data, every=STEP)


def lightgbm(train: rk.Dataset, leaves: int, rate: float, more: dict[str, Any], seed: int) -> Staged:
    import lightgbm as library

    data = library.Dataset(train.features, train.grades, group=np.diff(train.offsets), params={"verbosity": -1})
    settings = {"objective": "lambdarank", "num_leaves": leaves, "learning_rate": rate, "verbosity": -1}
    model = library.train({**settings, "num_threads": thread_count(), **more, "seed": seed}, data, TREES)

    def part(data: rk.Dataset, first: int) -> np.ndarray:
        return model.predict(data.features, start_iteration=first, num_iteration=STEP)

    return lambda data: summed(data, part)


def xgboost(train: rk.Dataset, leaves: int, rate: float, more: dict[str, Any], seed: int) -> Staged:
    import xgboost as library

    data = library.DMatrix(train.features, train.grades, qid=train.query_of_row())
    shape = {"grow_policy": "lossguide", "max_leaves": leaves, "max_depth": 0, "eta": rate}
    settings = {"objective": "rank:ndcg", "tree_method": "hist", "nthread": thread_count(), **shape}
    model = library.train({**settings, **more, "seed": seed}, data, TREES)

    def part(data: rk.Dataset, first: int) -> np.ndarray:
        return model.inplace_predict(data.features, iteration_range=(first, first + STEP), predict_type="margin")

    return lambda data: summed(data, part)


def catboost(train: rk.Dataset, leaves: int, rate: float, more: dict[str, Any], seed: int) -> Staged:
    import catboost as library

    shape = {"iterations": TREES, "depth": leaves.bit_length() - 1, "learning_rate": rate, "random_seed": seed, **more}
    model = library.CatBoostRanker(
        loss_function="YetiRank", thread_count=thread_count(), verbose=False, allow_writing_files=False, **shape
    )  # fmt: skip
    model.fit(train.features, train.grades, group_id=train.query_of_row())
    return lambda data: model.staged_predict(data.features, eval_period=STEP)


def summed(data: rk.Dataset, part: Callable[[rk.Dataset, int], np.ndarray]) -> Iterator[np.ndarray]:
    total = np.zeros(data.rows)
    for first in range(0, TREES, STEP):
        total = total + part(data, first)
        yield total


DRAWN = {"row_share": 0.7, "node_feature_share": 0.5}
BAGGED = {"bagging_fraction": 0.7, "bagging_freq": 1, "feature_fraction_bynode": 0.5}
SAMPLED = {"subsample": 0.7, "colsample_bynode": 0.5}
BERNOULLI = {"bootstrap_type": "Bernoulli", "subsample": 0.7, "rsm": 0.5}
SYSTEMS: dict[str, tuple[Callable[..., Staged], tuple[dict[str, Any], ...]]] = {
    "rankinite": (rankinite, ({}, DRAWN, {**DRAWN, "shape": "symmetric"})),
    "rankinite, paper": (
        rankinite,
        tuple({**more, **rk.LambdaMART.paper_settings()} for more in ({}, DRAWN, {**DRAWN, "shape": "symmetric"})),
    ),
    "lightgbm": (lightgbm, ({}, BAGGED, {**BAGGED, "extra_trees": True})),
    "xgboost": (xgboost, ({}, SAMPLED, {**SAMPLED, "reg_lambda": 10.0})),
    "catboost": (catboost, ({}, BERNOULLI, {**BERNOULLI, "random_strength": 5.0})),
}
"""Every system with its three regularisations."""


def tuned(system: str, fold: tuple[rk.Dataset, rk.Dataset, rk.Dataset], *, plain: bool) -> dict[str, Any]:
    """The best of the grid on validation data: its settings, its value, and the scores of the test part with its seeds."""
    leaves, rate, number = ranked(system, fold, plain=plain)[0]
    scores = [seeded(system, fold, (leaves, rate, number), seed).tolist() for seed in range(1 if plain else SEEDS)]
    return {"leaves": leaves, "rate": rate, "regularised": number, "scores": scores}


def ranked(system: str, fold: tuple[rk.Dataset, rk.Dataset, rk.Dataset], *, plain: bool = False) -> list[Chosen]:
    """The settings of the grid, the best on validation data first, the earlier of equals first."""
    train, regularised = SYSTEMS[system]
    found: list[tuple[float, Chosen]] = []
    for leaves, rate, (number, more) in itertools.product(LEAVES, RATES, enumerate(regularised[: 1 if plain else None])):
        found.append((best_stage(train(fold[0], leaves, rate, more, 0), fold[1])[0], (leaves, rate, number)))
    return [settings for _, settings in sorted(found, key=lambda one: -one[0])]


def seeded(system: str, fold: tuple[rk.Dataset, rk.Dataset, rk.Dataset], settings: Chosen, seed: int) -> np.ndarray:
    """The scores of the test part by one model, with the number of trees that is best on validation data."""
    train, regularised = SYSTEMS[system]
    leaves, rate, number = settings
    staged = train(fold[0], leaves, rate, regularised[number], seed)
    place = best_stage(staged, fold[1])[1]
    return next(itertools.islice(staged(fold[2]), place, None))


def best_stage(staged: Staged, valid: rk.Dataset) -> tuple[float, int]:
    """The best value on validation data, and the first stage that reaches it."""
    values = [value(scores, valid) for scores in staged(valid)]
    return max(values), int(np.argmax(values))


def kept(
    name: str, number: int, system: str, fold: tuple[rk.Dataset, rk.Dataset, rk.Dataset], *, plain: bool
) -> dict[str, Any] | None:
    """What a system comes to in a fold, from its file if there is one; None while another process is at it."""
    path = SCRATCH / f"quality{'-plain' * plain}" / f"{name}-{number + 1}-{system.replace(', ', '-')}.json"
    with claimed(path) as ours:
        if ours and not path.exists():
            started = time.perf_counter()
            path.with_suffix(".part").write_text(json.dumps(tuned(system, fold, plain=plain)), encoding="utf-8")
            path.with_suffix(".part").replace(path)
            print(f"{name} fold {number + 1} {system:20} {time.perf_counter() - started:6.0f} s", flush=True)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=sized(["mq2007", "mq2008"], ["mq2008"]))
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--plain", action="store_true", help="Only plain settings, one seed.")
    given = parser.parse_args()
    if not os.environ.get("RANKINITE_DATA"):
        print("RANKINITE_DATA does not name a folder with mq2007 and mq2008; quality is not measured.")
        return
    text = PLAIN_ABOUT if given.plain else (__doc__ or "").split("\n\n")[2]
    about = [machine(["lightgbm", "xgboost-cpu", "catboost"]), text]
    for name in given.data:
        parts = folds(name)
        found = {
            system: [kept(name, number, system, fold, plain=given.plain) for number, fold in enumerate(parts)]
            for system in given.systems
        }
        if any(one is None for each in found.values() for one in each):
            print(f"{name}: other processes are at some folds; run this again when they have finished.", flush=True)
            continue
        test = replace(rk.concat([fold[2] for fold in parts]), source=f"{name}, test parts of five folds")
        scores = {}
        for system, each in found.items():
            scores[system] = np.concatenate([np.asarray(one["scores"][0]) for one in each])
            if not given.plain:
                scores[f"{system}, five seeds"] = np.concatenate([np.mean(one["scores"], axis=0) for one in each])
        result = rk.compare(scores, test, MEASURES)
        chosen = "\n".join(f"- {system}: {'; '.join(map(settings, each))}" for system, each in found.items())
        print(result.to_markdown(), chosen, sep="\n\n", flush=True)
        if given.systems == list(SYSTEMS):
            tables = [result.to_markdown(), "Chosen in the five folds (leaves, rate, regularisation):", chosen]
            title = f"Quality on {name}{', plain settings' * given.plain}"
            write_section(title, "\n\n".join([*about, *tables]))


def settings(found: dict[str, Any]) -> str:
    return f"{found['leaves']}, {found['rate']:g}, {('plain', 'drawn', 'drawn and more')[found['regularised']]}"


if __name__ == "__main__":
    main()
