"""How fast trees are trained, and how well they rank, against LightGBM, XGBoost and CatBoost.

    python benchmarks/training.py [--threads 2] [--data wide narrow mq2007 mslr mslr-255] [--seeds 3]

All train 100 trees of 31 leaves (mslr: 20 trees; mslr-255: 20 trees of 255 leaves; CatBoost: symmetric, of the next power
of two) at rate 0.1 with at least 20 rows a leaf, on the same arrays, each in a process of its own, in turn. mslr has the size
of MSLR-WEB30K. LightGBM runs in both layouts, and with quantised gradients; XGBoost grows leaf by
leaf on histograms; CatBoost minimises YetiRank. Times are from arrays to model, and split into making bins and training;
compiling is not counted, and nothing is measured on the way. NDCG@10 is that of held-out queries, counted alike for all. A
seed makes new data.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np

from _measure import SCRATCH, Runs, machine, race, sized, write_section

RATE, MIN_ROWS = 0.1, 20
SIZES = sized(
    {"wide": (10_000, 26, 367), "narrow": (2_000, 50, 50), "mslr": (18_900, 120, 136)},
    {"wide": (60, 26, 100), "narrow": (60, 50, 50), "mslr": (60, 40, 136)},
)
"""Queries, documents a query, features."""
SHAPES = {"mslr": (20, 31), "mslr-255": (20, 255)}
"""Trees and leaves, where they are not 100 and 31."""
NAMES = ["rankinite", "lightgbm rows", "lightgbm columns", "lightgbm quantised", "xgboost", "catboost"]


def shape_of(name: str) -> tuple[int, int]:
    """Trees and leaves."""
    trees, leaves = SHAPES.get(name, (100, 31))
    return sized(trees, 3), leaves


def data_file(name: str, seed: int) -> Path:
    return SCRATCH / f"training-{name.removesuffix('-255')}-{seed}.npz"


def prepare(name: str, seed: int) -> None:
    """Train and test data as arrays, made once."""
    import rankinite as rk

    path = data_file(name, seed)
    if path.exists():
        return
    if name == "mq2007":
        folder = Path(os.environ["RANKINITE_DATA"]) / "mq2007"
        parts = [rk.read(folder / f"S{(seed + k) % 5 + 1}.txt.gz") for k in range(5)]
        train, test = rk.concat(parts[:3]), parts[4]
    else:
        queries, documents, features = SIZES[name.removesuffix("-255")]
        world = rk.World(features=features, documents=documents, seed=seed, noise=0.3)
        train = rk.synthesise(queries, world=world)
        test = rk.synthesise(min(queries // 2, 5000), part="test", world=world)
    SCRATCH.mkdir(exist_ok=True)
    arrays = {
        f"{part}_{key}": getattr(data, key)
        for part, data in (("train", train), ("test", test))
        for key in ("features", "grades", "offsets")
    }
    np.savez(path, **arrays)


def arrays(name: str, seed: int, part: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with np.load(data_file(name, seed)) as kept:
        return kept[f"{part}_features"], kept[f"{part}_grades"], kept[f"{part}_offsets"]


def dataset(features: np.ndarray, grades: np.ndarray, offsets: np.ndarray):
    import rankinite as rk

    names = [str(f) for f in range(features.shape[1])]
    return rk.Dataset(features, grades, offsets, np.arange(len(offsets) - 1).astype(str), names)


def rankinite(train, threads: int, trees: int, leaves: int):
    import rankinite as rk
    from rankinite.trees.bins import fit_bins

    data = dataset(*train)
    learner = rk.LambdaMART.plain(trees=trees, leaves=leaves, rate=RATE, min_rows=MIN_ROWS, train_history=False)
    with rk.threads(threads):
        rk.LambdaMART.plain(trees=2, train_history=False).fit(data.select_queries(np.arange(min(50, data.queries))))  # compiles
        started = time.perf_counter()
        fit_bins(data.features).code(data.features)
        binning = time.perf_counter() - started
        started = time.perf_counter()
        forest = learner.fit(data)
        seconds = time.perf_counter() - started
    return seconds, binning, forest.score


def lightgbm(train, threads: int, trees: int, leaves: int, settings: dict[str, object]):
    import lightgbm as library

    features, grades, offsets = train
    common = {"num_threads": threads, "verbosity": -1, "max_bin": 255, **settings}
    started = time.perf_counter()
    data = library.Dataset(features, grades, group=np.diff(offsets), params=common).construct()
    binning = time.perf_counter() - started
    model = library.train(
        {
            "objective": "lambdarank",
            "num_leaves": leaves,
            "learning_rate": RATE,
            "min_data_in_leaf": MIN_ROWS,
            "min_sum_hessian_in_leaf": 0.0,
            "lambdarank_truncation_level": 10,
            "deterministic": True,
            **common,
        },
        data,
        trees,
    )
    return time.perf_counter() - started, binning, model.predict


def xgboost(train, threads: int, trees: int, leaves: int):
    import xgboost as library

    features, grades, offsets = train
    started = time.perf_counter()
    qid = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    data = library.QuantileDMatrix(features, grades, qid=qid, nthread=threads, max_bin=256)
    binning = time.perf_counter() - started
    model = library.train(
        {
            "objective": "rank:ndcg",
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": leaves,
            "max_depth": 0,
            "eta": RATE,
            "min_child_weight": 0.0,
            "max_bin": 256,
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": 10,
            "nthread": threads,
        },
        data,
        trees,
    )
    return time.perf_counter() - started, binning, model.inplace_predict


def catboost(train, threads: int, trees: int, leaves: int):
    import catboost as library

    features, grades, offsets = train
    started = time.perf_counter()
    qid = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    data = library.Pool(features, grades, group_id=qid)
    data.quantize(border_count=254, task_type="CPU")
    binning = time.perf_counter() - started
    model = library.CatBoostRanker(
        loss_function="YetiRank",
        iterations=trees,
        depth=(leaves + 1).bit_length() - 1,
        learning_rate=RATE,
        thread_count=threads,
        verbose=False,
        allow_writing_files=False,
        random_seed=0,
    ).fit(data)
    return time.perf_counter() - started, binning, model.predict


def contender(name: str, data: str, seed: int, threads: int) -> dict[str, float]:
    import rankinite as rk

    train = arrays(data, seed, "train")
    extra = {
        "lightgbm rows": {"force_row_wise": True},
        "lightgbm columns": {"force_col_wise": True},
        "lightgbm quantised": {
            "force_row_wise": True,
            "use_quantized_grad": True,
            "num_grad_quant_bins": 64,
            "quant_train_renew_leaf": True,
        },
    }
    if name in extra:
        seconds, binning, predict = lightgbm(train, threads, *shape_of(data), extra[name])
    else:
        library = {"rankinite": rankinite, "xgboost": xgboost, "catboost": catboost}[name]
        seconds, binning, predict = library(train, threads, *shape_of(data))
    test = dataset(*arrays(data, seed, "test"))
    ndcg = rk.evaluate(np.asarray(predict(test.features), float), test, "ndcg@10")["ndcg@10"].mean
    return {"seconds": seconds, "binning": binning, "training": seconds - binning, "ndcg": ndcg}


def mean(runs: Runs, key: str) -> float:
    return statistics.mean(report[key] for report in runs.reports)


def table(runs: list[Runs], others: float) -> str:
    own = runs[0]
    lines = [
        "| | seconds in all | ratio | training alone | ratio | bins | ratio | NDCG@10 | peak memory |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in runs:
        cells = [one.name]
        for key in ("seconds", "training", "binning"):
            cells += [f"{mean(one, key):.2f}", f"{mean(one, key) / mean(own, key):.2f}"]
        lines.append("| " + " | ".join([*cells, f"{mean(one, 'ndcg'):.4f}", f"{one.largest('peak') / 2**20:.0f} MiB"]) + " |")
    return "\n".join(lines) + f"\n\nOther processes used {others:.0%} of the machine meanwhile."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contender")
    parser.add_argument(
        "--data", nargs="*", default=sized(["wide", "narrow", "mq2007", "mslr", "mslr-255"], ["narrow", "mq2007", "mslr-255"])
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=sized(3, 1))
    parser.add_argument("--threads", type=int, nargs="*", default=sized([2, 1], [2]))
    parser.add_argument("--names", nargs="*", default=NAMES)
    given = parser.parse_args()
    if given.contender:
        print(json.dumps(contender(given.contender, given.data[0], given.seed, given.threads[0])))
        return
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    for threads in given.threads:
        for data in given.data:
            if data == "mq2007" and not os.environ.get("RANKINITE_DATA"):
                continue
            collected, shares = [Runs(name) for name in given.names], []
            large = data.startswith("mslr")
            if large and threads == 1:
                continue
            for seed in range(1 if large or threads == 1 else given.seeds):
                prepare(data, seed)
                arguments = ["--data", data, "--seed", str(seed), "--threads", str(threads)]
                runs, others = race(__file__, given.names, arguments, rounds=1)
                shares.append(others)
                for kept, new in zip(collected, runs, strict=True):
                    kept.reports.extend(new.reports)
            title, result = f"Training on {data}, {threads} thread(s)", table(collected, statistics.mean(shares))
            print(f"{title}\n\n{result}", flush=True)
            if given.names == NAMES:
                where = machine(["rankinite", "numba", "lightgbm", "xgboost-cpu", "catboost"])
                write_section(title, "\n\n".join([where, about, f"Seeds: {len(shares)}.", result]))


if __name__ == "__main__":
    main()
