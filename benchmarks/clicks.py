"""Clicks: how near estimates come to the true examination, what debiasing brings, and clicks as background of few judgments.

    RANKINITE_DATA=… python benchmarks/clicks.py [--sessions 10000] [--long 100000] [--seeds 5] [--curves 12]
        [--trees 150] [--sections a b c]

Logs show the ten best documents of judged queries, ranked by a weak LambdaMART of 20 of them; grades attract as
0.1 + 0.9·(2^g − 1)/(2^highest − 1). All systems train on the same log, up to as many trees of rate 0.05 with 64 leaves,
and the number of trees, every 25th, is the best on 100 judged validation queries, for all alike. Nothing else is tuned, in
particular neither rates and leaves nor how strongly a system regularises its position biases. A seed is another generated
world (2,000 queries of 20 documents, 20 features, label noise 0.3) and another log. Intervals are of the mean over seeds
(Student's t), or, on mq2007, over the test queries of the five folds; differences are paired.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import rankinite as rk
from _measure import machine, sized, write_section
from rankinite.engine.parallel import thread_count

STEP = 25
NDCG = rk.NDCG(10)
LOGS = {
    "position, η = 1": rk.ClickSettings(eta=1.0),
    "cascade": rk.ClickSettings(model="cascade", eta=1.0),
    "trust, η = 1": rk.ClickSettings(model="trust", eta=1.0),
    "no bias": rk.ClickSettings(eta=0.0),
}
JUDGED = sized((10, 100, 300), (10,))
Staged = Callable[[rk.Dataset], Iterator[np.ndarray]]
"""The scores after every 25th tree."""


def world(seed: int) -> tuple[rk.Dataset, rk.Dataset, rk.Dataset]:
    made = rk.World(features=20, documents=20, noise=0.3, seed=seed)
    sizes = sized({"train": 2000, "valid": 400, "test": 500}, {"train": 40, "valid": 20, "test": 20})
    train, valid, test = (rk.synthesise(size, part=part, world=made) for part, size in sizes.items())
    return train, valid, test


def logged(train: rk.Dataset, sessions: int, settings: rk.ClickSettings, seed: int) -> rk.ClickLog:
    weak = rk.LambdaMART.plain(trees=10, leaves=4, train_history=False).fit(
        train.select_queries(np.arange(min(20, train.queries)))
    )
    own = rk.ClickSettings(model=settings.model, eta=settings.eta, seed=seed)
    return rk.simulate_clicks(train, weak.score(train), sessions, own)


def value(scores: Any, data: rk.Dataset) -> float:
    return rk.evaluate(np.asarray(scores, float), data, [NDCG])[NDCG].mean


# ---- systems: a log and a number of trees → scores of any data after every 25th tree --------------------------------------


def ours(debias: str | None) -> Callable[[rk.Dataset, int], Staged]:
    def fit(log: rk.Dataset, trees: int) -> Staged:
        learner = rk.LambdaMART(trees=trees, debias=debias, train_history=False)  # type: ignore[arg-type]
        forest = learner.fit(log)
        return lambda data: forest.staged_scores(data, every=STEP)

    return fit


def lightgbm(log: rk.Dataset, trees: int, *, positions: bool = True) -> Staged:
    import lightgbm as library

    shown = log.positions if positions else None
    data = library.Dataset(log.features, log.grades, group=np.diff(log.offsets), position=shown, params={"verbosity": -1})
    settings = {"objective": "lambdarank", "num_leaves": 64, "learning_rate": 0.05, "verbosity": -1}
    model = library.train({**settings, "num_threads": thread_count()}, data, trees)
    stages = range(STEP, trees + 1, STEP)
    return lambda data: (model.predict(data.features, num_iteration=count) for count in stages)


def xgboost(log: rk.Dataset, trees: int) -> Staged:
    import xgboost as library

    data = library.DMatrix(log.features, log.grades)  # rows are in the order of positions, which is what it takes them for
    data.set_group(np.diff(log.offsets))
    settings = {
        "objective": "rank:ndcg", "lambdarank_unbiased": True, "lambdarank_num_pair_per_sample": 10,
        "eta": 0.05, "max_depth": 6, "nthread": thread_count(),
    }  # fmt: skip
    model = library.train(settings, data, trees)
    stages = range(STEP, trees + 1, STEP)
    return lambda data: (model.predict(library.DMatrix(data.features), iteration_range=(0, count)) for count in stages)


SYSTEMS: dict[str, Callable[[rk.Dataset, int], Staged]] = {
    "naive": ours(None),
    "pairwise": ours("pairwise"),
    "additive": ours("additive"),
    "LightGBM, position": lightgbm,
    "XGBoost, unbiased": xgboost,
}


def best_scores(staged: Staged, valid: rk.Dataset, test: rk.Dataset) -> np.ndarray:
    """The scores of the test data by the number of trees that is best on judged validation queries."""
    few = valid.select_queries(np.arange(min(100, valid.queries)))
    stage = int(np.argmax([value(scores, few) for scores in staged(few)]))
    return np.asarray(list(staged(test))[stage], float)


def interval(values: Any) -> str:
    """Mean and half-width of the 95 % interval over independent units."""
    values = np.asarray(values, float)
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():+.4f} ± {half:.4f}"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ---- (a) the curve ---------------------------------------------------------------------------------------------------------


def curves(sessions: int, seeds: int) -> str:
    rows, worst = [], 0.0
    for seed in range(seeds):
        train, _, _ = world(seed)
        log = logged(train, sessions, LOGS["position, η = 1"], seed)
        found = rk.LambdaMART(trees=1, debias="pairwise", train_history=False).fit(log.data).history.examination
        off = np.abs(found.at(np.arange(1, 6)) / log.examination[:5] - 1)
        worst = max(worst, float(off.max()))
        estimate = [f"{t:.3f}" for t in found.at(np.arange(1, 11))]
        rows.append([str(seed), *estimate, f"{off.max():.1%}"])
        print(rows[-1], flush=True)
    truth = ["truth", *(f"{1 / k:.3f}" for k in range(1, 11)), ""]
    header = ["seed", *map(str, range(1, 11)), "furthest off, 1 to 5"]
    told = (
        f"t⁺ of `debias='pairwise'` at positions 1 to 10, {sessions:,} sessions; at most {worst:.1%} off at positions 1 to 5."
    )
    return f"{told}\n\n{table(header, [truth, *rows])}"


# ---- (b) systems -----------------------------------------------------------------------------------------------------------


def systems(sessions: int, seeds: int, trees: int) -> str:
    rows = []
    for name, settings in LOGS.items():
        found: dict[str, list[float]] = {system: [] for system in SYSTEMS}
        for seed in range(seeds):
            train, valid, test = world(seed)
            log = logged(train, sessions, settings, seed).data
            for system, fit in SYSTEMS.items():
                found[system].append(value(best_scores(fit(log, trees), valid, test), test))
            print(name, seed, {system: round(values[-1], 4) for system, values in found.items()}, flush=True)
        for system, values in found.items():
            more = interval(np.subtract(found["pairwise"], values)) if system != "pairwise" else ""
            rows.append([name, system, f"{np.mean(values):.4f}", more])
    told = f"NDCG@10 on test queries, {sessions:,} sessions, {seeds} seeds; how far pairwise is above, with its 95 % interval."
    return f"{told}\n\n{table(['log', 'system', 'NDCG@10', 'pairwise is above it by'], rows)}"


# ---- (c) from clicks to judgments ------------------------------------------------------------------------------------------


def judgments(sessions: int, trees: int, parts: list[tuple[rk.Dataset, rk.Dataset, rk.Dataset]], *, by_query: bool) -> str:
    """Clicks naive and debiased, judgments alone, and debiased then adapted; units are queries, or parts."""
    found: dict[str, list[Any]] = {}
    for number, (train, valid, test) in enumerate(parts):
        log = logged(train, sessions, LOGS["position, η = 1"], number).data
        fitted = {
            debias: rk.LambdaMART(trees=trees, debias=debias, train_history=False).fit(log) for debias in (None, "pairwise")
        }
        _note(found, "clicks, naive", fitted[None], test, by_query=by_query)
        _note(found, "clicks, debiased", fitted["pairwise"], test, by_query=by_query)
        for count in JUDGED:
            few = valid.select_queries(np.arange(min(count, valid.queries)))
            small = rk.LambdaMART.plain(trees=50, leaves=8, rate=0.05, train_history=False)
            _note(found, f"{count} judged", small.fit(few), test, by_query=by_query)
            adapted = small.fit(few, base=fitted["pairwise"])
            _note(found, f"{count} judged, from debiased clicks", adapted, test, by_query=by_query)
            choice = rk.adapt.choose(fitted["pairwise"], few, curve=False, seed=number)
            _note(found, f"{count} judged, what `adapt` deploys", choice.ranker, test, by_query=by_query)
        print(number, {name: round(float(np.nanmean(values[-1])), 4) for name, values in found.items()}, flush=True)
    joined = {name: np.concatenate(values) for name, values in found.items()}
    base = joined["clicks, debiased"]
    rows = []
    for name, values in joined.items():
        known = np.isfinite(values)
        less = "" if name == "clicks, debiased" else interval((values - base)[known])
        rows.append([name, f"{values[known].mean():.4f}", less])
    return table(["trained on", "NDCG@10", "against debiased clicks"], rows)


def _note(found: dict[str, list[Any]], name: str, ranker: Any, test: rk.Dataset, *, by_query: bool) -> None:
    values = rk.evaluate(ranker, test, [NDCG])[NDCG]
    found.setdefault(name, []).append(np.asarray(values.per_query) if by_query else np.asarray([values.mean]))


def mq2007() -> list[tuple[rk.Dataset, rk.Dataset, rk.Dataset]]:
    folder = Path(os.environ["RANKINITE_DATA"]) / "mq2007"
    parts = [rk.read(folder / f"S{k}.txt.gz") for k in range(1, 6)]
    return [(rk.concat([parts[(k + i) % 5] for i in range(3)]), parts[(k + 3) % 5], parts[(k + 4) % 5]) for k in range(5)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=sized(10_000, 200))
    parser.add_argument("--long", type=int, default=sized(100_000, 300))
    parser.add_argument("--seeds", type=int, default=sized(5, 1))
    parser.add_argument("--curves", type=int, default=sized(12, 1))
    parser.add_argument("--trees", type=int, default=sized(150, 25))
    parser.add_argument("--sections", nargs="*", default=["a", "b", "c"])
    given = parser.parse_args()
    head = [machine(["lightgbm", "xgboost-cpu", "scipy"]), (__doc__ or "").split("\n\n")[2].strip()]
    if "a" in given.sections:
        write_section("Clicks: the curve", "\n\n".join([*head, curves(given.long, given.curves)]))
    if "b" in given.sections:
        write_section("Clicks: on the same logs", "\n\n".join([*head, systems(given.sessions, given.seeds, given.trees)]))
    if "c" in given.sections:
        told = f"{given.sessions:,} sessions, position-based, η = 1; forests of 50 trees of 8 leaves for judgments."
        made = judgments(given.sessions, given.trees, [world(seed) for seed in range(given.seeds)], by_query=False)
        text = [*head, told, "Generated worlds (units are worlds):", made]
        if os.environ.get("RANKINITE_DATA"):
            text += ["mq2007, five folds (units are queries):", judgments(given.sessions, given.trees, mq2007(), by_query=True)]
        write_section("Clicks: and judgments", "\n\n".join(text))


if __name__ == "__main__":
    main()
