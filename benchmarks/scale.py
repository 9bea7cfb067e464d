"""One model by two workers of one thread: rankinite, LightGBM and XGBoost on Dask, on the same queries.

    python benchmarks/scale.py [--rows 1000000] [--rounds 3]

The clock runs from data that are there (floats in the memory of the workers for LightGBM and XGBoost, a Parquet file for
rankinite) to the model; workers are started, and have trained once on small data, before. rankinite's time is that of coding
(`rk.bin`, on one machine, into two folders) and of training. All train 20 trees of 31 leaves with rate 0.1 for NDCG, and have
their defaults otherwise. Memory is the most that a worker had at any time, above what it had before: the floats of LightGBM and
XGBoost are not in it. Every contender trains twice in a run: are both models the same?
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

import rankinite as rk
from _measure import SCRATCH, machine, race, sized, write_section

WORLD = rk.World(features=136, documents=100, noise=0.3)
TREES, LEAVES, RATE, WORKERS = sized(20, 3), 31, 0.1, 2
CONTENDERS = ("rankinite", "LightGBM", "XGBoost")


def data_folder(rows: int) -> Path:
    """The training data in halves as NumPy files and as one Parquet file, and test data; made once."""
    folder = SCRATCH / f"scale-{rows}"
    if (folder / "done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    train = rk.synthesise(rows // 100, world=WORLD)
    rk.write(train, folder / "train.parquet")
    rk.write(rk.synthesise(sized(2000, 20), part="test", world=WORLD), folder / "test.parquet")
    half = train.queries // WORKERS
    for part in range(WORKERS):
        chosen = train.select_queries(range(part * half, (part + 1) * half))
        np.save(folder / f"features-{part}.npy", chosen.features)
        np.save(folder / f"grades-{part}.npy", chosen.grades)
    rk.write(train.select_queries(range(40)), folder / "small.parquet")
    (folder / "done").touch()
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=sized(1_000_000, 8_000))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--contender", choices=CONTENDERS)
    given = parser.parse_args()
    if given.contender:
        print(json.dumps(run(given.contender, data_folder(given.rows))))
        return
    data_folder(given.rows)
    found, others = race(__file__, list(CONTENDERS), ["--rows", str(given.rows)], given.rounds)
    ours = found[0]
    lines = [
        "| | seconds, median | all | against rankinite | memory of a worker, MB | the same model twice | NDCG@10 |",
        "|---|--:|---|--:|--:|---|--:|",
    ]
    for one in found:
        coded = [f"{r['coding']:.1f} + {r['seconds'] - r['coding']:.1f}" for r in one.reports if "coding" in r]
        shown = ", ".join(coded or [f"{r['seconds']:.1f}" for r in one.reports])
        same = "yes" if all(r["same"] for r in one.reports) else "no"
        value = ", ".join(sorted({f"{r['ndcg']:.4f}" for r in one.reports}))
        memory = one.largest("worker") / 1e6
        lines.append(
            f"| {one.name} | {one.median:.1f} | {shown} | {one.median / ours.median:.2f}× | {memory:,.0f} | {same} | {value} |"
        )
    about = " ".join((__doc__ or "").split("\n\n")[2].split()).replace("`", "`")
    size = f"{given.rows:,} rows × 136 features; other programs used {100 * others:.0f} % of the machine."
    packages = ["numba", "numpy", "distributed", "lightgbm", "xgboost-cpu"]
    text = "\n\n".join([machine(packages), f"{about} {size}", "\n".join(lines)])
    print(text)
    write_section("One model on two workers", text)


def run(name: str, folder: Path) -> dict[str, object]:
    """Start the workers, warm up, train twice."""
    import distributed

    with distributed.LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL",
        memory_limit=0,
    ) as local, distributed.Client(local) as client:  # fmt: skip
        return {"rankinite": ours, "LightGBM": lightgbm, "XGBoost": xgboost}[name](client, folder)


def most_memory() -> int:
    """The most that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measured(client, fit: Callable[[], tuple[str, Callable, float]], folder: Path) -> dict[str, object]:
    """Train twice; the second time counts, as in the first libraries are loaded."""
    before = max(client.run(most_memory).values())
    first, _, _ = fit()
    start = perf_counter()
    second, score, coding = fit()
    seconds = perf_counter() - start
    test = rk.read(folder / "test.parquet")
    value = rk.evaluate(np.asarray(score(test.features), float), test, "ndcg@10")["ndcg@10"].mean
    worker = max(client.run(most_memory).values()) - before
    found = {"seconds": seconds, "same": first == second, "ndcg": value, "worker": worker}
    return {**found, "coding": coding} if coding else found


def ours(client, folder: Path) -> dict[str, object]:
    learner = rk.LambdaMART.plain(trees=TREES, leaves=LEAVES, rate=RATE, train_history=False)

    def fit():
        with tempfile.TemporaryDirectory(dir=folder) as made:
            start = perf_counter()
            coded = rk.bin(folder / "train.parquet", f"{made}/shards", shards=WORKERS)
            coding = perf_counter() - start
            with rk.cluster(client.get_executor(pure=False)):
                forest = learner.fit(coded)
            forest.save(f"{made}/model")
            return hashlib.sha256(Path(f"{made}/model").read_bytes()).hexdigest(), forest.score, coding

    return measured(client, fit, folder)


def parts(client, folder: Path):
    """The halves of the data, one in the memory of each worker, as Dask arrays."""
    import dask.array as da
    from dask import delayed

    addresses = sorted(client.run(lambda: None))
    loaded = {
        kind: client.persist([delayed(np.load)(folder / f"{kind}-{part}.npy") for part in range(WORKERS)], workers=None)
        for kind in ("features", "grades")
    }
    rows = [len(np.load(folder / f"grades-{part}.npy", mmap_mode="r")) for part in range(WORKERS)]
    shapes = {"features": lambda n: (n, WORLD.features), "grades": lambda n: (n,)}
    arrays = {
        kind: da.concatenate([da.from_delayed(one, shapes[kind](n), np.float32) for one, n in zip(every, rows, strict=True)])
        for kind, every in loaded.items()
    }
    del addresses
    found = {kind: array.persist() for kind, array in arrays.items()}
    import distributed

    distributed.wait(list(found.values()))
    return found["features"], found["grades"], rows


def lightgbm(client, folder: Path) -> dict[str, object]:
    import dask.array as da
    import lightgbm as lgb

    features, grades, rows = parts(client, folder)
    groups = da.concatenate([da.from_array(np.full(n // 100, 100), chunks=n // 100) for n in rows])

    def fit():
        ranker = lgb.DaskLGBMRanker(
            client=client, n_estimators=TREES, num_leaves=LEAVES, learning_rate=RATE, tree_learner="data", verbosity=-1,
            n_jobs=1, label_gain=[0, 1, 3, 7, 15],
        ).fit(features, grades, group=groups)  # fmt: skip
        return ranker.booster_.model_to_string(), ranker.booster_.predict, 0.0

    return measured(client, fit, folder)


def xgboost(client, folder: Path) -> dict[str, object]:
    import dask.array as da
    import xgboost as xgb
    from xgboost import dask as dxgb

    features, grades, rows = parts(client, folder)
    qids = da.concatenate([
        da.from_array(np.repeat(np.arange(n // 100) + 10_000_000 * part, 100), chunks=n) for part, n in enumerate(rows)
    ])  # fmt: skip

    def fit():
        ranker = dxgb.DaskXGBRanker(
            n_estimators=TREES, max_leaves=LEAVES, max_depth=0, grow_policy="lossguide", learning_rate=RATE, tree_method="hist",
            objective="rank:ndcg", n_jobs=1, allow_group_split=True,
        )  # fmt: skip
        ranker.client = client
        ranker.fit(features, grades, qid=qids)
        booster = ranker.get_booster()
        return bytes(booster.save_raw("ubj")).hex(), lambda rows: booster.predict(xgb.DMatrix(rows)), 0.0

    return measured(client, fit, folder)


if __name__ == "__main__":
    main()
