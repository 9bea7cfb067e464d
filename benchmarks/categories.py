"""Categories: quality against LightGBM's and CatBoost's own handling, and what they cost in training time.

    python benchmarks/categories.py [--levels 200 5000] [--worlds 5] [--queries 1000] [--trees 200] [--rounds 3]

A world has ten numbers and one category with so many levels, which matters as much as all numbers together, for a third of it
only together with a number. Every system chooses from four settings: trees of 32 or 64 leaves (CatBoost: depth 5 or 6), and
two strengths of what keeps categories from following noise (category_smooth 100 and 1,000, LightGBM's cat_smooth 10 and 100,
CatBoost's l2_leaf_reg 3 and 10; of the others, l2 0 and 1). The rate is 0.1; setting and number of trees, every 25th, are the
best on 500 validation queries. "As numbers" is LambdaMART on the codes, in alphabetical order; "columns of 0 and 1" on a column
per level, where there are at most 200. All figures rest on this one generator, in which a category matters much, and on these
four settings. Intervals are of the mean over worlds (Student's t); differences are paired.

Time: 100 trees of the default learner on 10,000 queries of 20 documents, the same codes as categories and as numbers, in turn.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

import rankinite as rk
from _measure import machine, sized, write_section
from rankinite.engine.parallel import thread_count

STEP, RATE, DEPTHS, MOST_COLUMNS = 25, 0.1, (5, 6), 200
NDCG = rk.NDCG(10)
Staged = Callable[[rk.Dataset], Iterator[np.ndarray]]
"""The scores after every 25th tree."""
Fit = Callable[[rk.Dataset, int, int, float], Staged]
"""Training data, number of trees, depth, and how strongly categories are kept from following noise."""


def parts_of(world: rk.World, queries: int) -> tuple[rk.Dataset, rk.Dataset, rk.Dataset]:
    sizes = {"train": queries, "valid": sized(500, 20), "test": sized(1000, 20)}
    train, valid, test = (rk.synthesise(size, part=part, world=world) for part, size in sizes.items())
    return train, valid, test


def value(scores: Any, data: rk.Dataset) -> float:
    return rk.evaluate(np.asarray(scores, float), data, [NDCG])[NDCG].mean


# ---- systems ---------------------------------------------------------------------------------------------------------------


def as_it_is(data: rk.Dataset) -> rk.Dataset:
    return data


def as_numbers(data: rk.Dataset) -> rk.Dataset:
    return replace(data, categories={})


def as_columns(data: rk.Dataset) -> rk.Dataset:
    return data.one_hot(most=MOST_COLUMNS)


def ours(prepared: Callable[[rk.Dataset], rk.Dataset], strength: str, **settings: Any) -> Fit:
    def fit(train: rk.Dataset, trees: int, depth: int, strong: float) -> Staged:
        own = {**settings, strength: strong}
        learner = rk.LambdaMART(trees=trees, rate=RATE, leaves=2**depth, train_history=False, **own)
        forest = learner.fit(prepared(train))
        return lambda data: forest.staged_scores(prepared(data), every=STEP)

    return fit


def places(data: rk.Dataset) -> list[int]:
    return [data.feature_index(name) for name in data.categories]


def lightgbm(train: rk.Dataset, trees: int, depth: int, strong: float) -> Staged:
    import lightgbm as library

    data = library.Dataset(
        train.features, train.grades, group=np.diff(train.offsets), categorical_feature=places(train), params={"verbosity": -1}
    )
    settings = {
        "objective": "lambdarank", "num_leaves": 2**depth, "learning_rate": RATE, "cat_smooth": strong, "verbosity": -1
    }  # fmt: skip
    model = library.train({**settings, "num_threads": thread_count()}, data, trees)
    stages = range(STEP, trees + 1, STEP)
    return lambda data: (model.predict(data.features, num_iteration=count) for count in stages)


def catboost(train: rk.Dataset, trees: int, depth: int, strong: float) -> Staged:
    import catboost as library

    def pool(data: rk.Dataset) -> Any:
        frame = data.features.astype(object)
        for place in places(data):
            frame[:, place] = data.features[:, place].astype(int).astype(str)
        return library.Pool(frame, data.grades, group_id=data.query_of_row(), cat_features=places(data))

    settings = {
        "loss_function": "YetiRank", "iterations": trees, "learning_rate": RATE, "depth": depth, "l2_leaf_reg": strong,
        "thread_count": thread_count(), "verbose": False, "allow_writing_files": False, "random_seed": 0,
    }  # fmt: skip
    model = library.CatBoost(settings).fit(pool(train))
    return lambda data: (scores for scores in model.staged_predict(pool(data), eval_period=STEP))


SYSTEMS: dict[str, tuple[Fit, tuple[float, float]]] = {
    "rankinite": (ours(as_it_is, "category_smooth"), (100.0, 1000.0)),
    "rankinite, best-first": (ours(as_it_is, "category_smooth", shape="best-first"), (100.0, 1000.0)),
    "LightGBM": (lightgbm, (10.0, 100.0)),
    "CatBoost": (catboost, (3.0, 10.0)),
    "as numbers": (ours(as_numbers, "l2"), (0.0, 1.0)),
    "columns of 0 and 1": (ours(as_columns, "l2"), (0.0, 1.0)),
}


def best_value(name: str, train: rk.Dataset, valid: rk.Dataset, test: rk.Dataset, trees: int) -> float:
    """NDCG on the test data of the setting and number of trees that are best on the validation data."""
    best, found = -1.0, 0.0
    fit, strengths = SYSTEMS[name]
    for depth, strong in itertools.product(DEPTHS, strengths):
        staged = fit(train, trees, depth, strong)
        values = [value(scores, valid) for scores in staged(valid)]
        stage = int(np.argmax(values))
        if values[stage] > best:
            best, found = values[stage], value(list(staged(test))[stage], test)
    return found


def interval(values: Any) -> str:
    """Mean and half-width of the 95 % interval over worlds."""
    values = np.asarray(values, float)
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():+.4f} ± {half:.4f}"


def quality(levels: int, worlds: int, queries: int, trees: int) -> list[str]:
    names = [name for name in SYSTEMS if name != "columns of 0 and 1" or levels <= MOST_COLUMNS]
    found: dict[str, list[float]] = {name: [] for name in names}
    for seed in range(worlds):
        parts = parts_of(rk.World(features=10, documents=20, noise=0.3, categories=(levels,), seed=seed), queries)
        for name in names:
            started = time.perf_counter()
            found[name].append(best_value(name, *parts, trees))
            print(
                f"{levels} levels, world {seed}: {name:24} {found[name][-1]:.4f}  {time.perf_counter() - started:.0f} s",
                flush=True,
            )
    return [
        f"| {levels:,} | {name} | {np.mean(values):.4f} | "
        f"{'' if name == 'rankinite' else interval(np.subtract(found['rankinite'], values))} |"
        for name, values in found.items()
    ]  # fmt: skip


# ---- time ------------------------------------------------------------------------------------------------------------------


def seconds(levels: int, rounds: int, shape: str) -> str:
    train = rk.synthesise(sized(10_000, 50), world=rk.World(features=10, documents=20, noise=0.3, categories=(levels,), seed=0))
    learner = rk.LambdaMART(trees=sized(100, 5), shape=shape, train_history=False)  # type: ignore[arg-type]
    taken: dict[str, list[float]] = {"categories": [], "numbers": []}
    for number in range(rounds + 1):  # the first compiles
        for name, data in (("categories", train), ("numbers", as_numbers(train))):
            started = time.perf_counter()
            learner.fit(data)
            if number:
                taken[name].append(time.perf_counter() - started)
    named, plain = (statistics.median(taken[name]) for name in taken)
    print(f"{levels} levels, {shape}: {named:.2f} s, as numbers {plain:.2f} s", flush=True)
    return f"| {levels:,} | {shape} | {named:.2f} s | {plain:.2f} s | {named / plain:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", type=int, nargs="*", default=sized([200, 5000], [20]))
    parser.add_argument("--worlds", type=int, default=sized(5, 2))
    parser.add_argument("--queries", type=int, default=sized(1000, 30))
    parser.add_argument("--trees", type=int, default=sized(200, 25))
    parser.add_argument("--rounds", type=int, default=sized(3, 1))
    given = parser.parse_args()
    shapes = ("symmetric", "best-first")
    times = [seconds(levels, given.rounds, shape) for levels in given.levels for shape in shapes]
    rows = [row for levels in given.levels for row in quality(levels, given.worlds, given.queries, given.trees)]
    text = [
        machine(["lightgbm", "catboost", "scipy"]),
        (__doc__ or "").split("\n\n")[2],
        f"NDCG@10 on 1,000 test queries; {given.worlds} worlds, {given.queries:,} training queries, up to {given.trees} trees:",
        "\n".join(["| levels | system | NDCG@10 | rankinite is above it by |", "|--:|---|--:|---|", *rows]),
        (__doc__ or "").split("\n\n")[3].strip(),
        "\n".join(["| levels | trees | categories | as numbers | ratio |", "|--:|---|--:|--:|--:|", *times]),
    ]
    print("\n\n".join(text))
    write_section("Categories (benchmarks/categories.py)", "\n\n".join(text))


if __name__ == "__main__":
    main()
