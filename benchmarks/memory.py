"""How much memory training takes above the caller's arrays, against LightGBM, XGBoost and CatBoost; and how it grows.

    python benchmarks/memory.py [--rows 2270000] [--threads 2]

Every contender has a process of its own. It makes the arrays (float32 features, row by row, of queries of 120 documents), loads
its library and trains once on 50 queries, so that neither counts; then it notes its private memory, makes its own data of the
arrays, which stay the caller's, and trains 20 trees of 31 leaves (CatBoost: 32, symmetric). Memory is watched from outside; the
figures are the highest above what was noted, and what was held once the data were made. Private memory is RssAnon: mapped files
do not count, memory that is reserved but never touched neither. rankinite's data are `rk.read` of the arrays; LightGBM's a
Dataset that frees its raw data, XGBoost's a QuantileDMatrix, CatBoost's a quantised Pool.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np

from _measure import Runs, machine, private_memory, race, sized, write_section

TREES, LEAVES, RATE, MIN_ROWS, DOCUMENTS, SMALL = 20, 31, 0.1, 20, 120, sized(50, 5)
MSLR_ROWS, MSLR_FEATURES = sized(2_270_000, 12_000), 136
NAMES = ["rankinite", "lightgbm", "xgboost", "catboost"]
GROWN = ["rankinite", "lightgbm"]
ROWS = sized((250_000, 500_000, 1_000_000), (6_000,))
FEATURES, ROWS_OF_FEATURES = sized(((34, 68, 136, 272), 500_000), ((34,), 6_000))
MEBI = 2**20

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
Noted = Callable[[], None]


def arrays(rows: int, features: int) -> Arrays:
    """Features, grades and the sizes of queries."""
    random = np.random.default_rng(0)
    queries = rows // DOCUMENTS
    matrix = np.empty((queries * DOCUMENTS, features), np.float32)
    random.standard_normal(out=matrix, dtype=np.float32)
    worth = matrix[:, :10] @ random.standard_normal(10, dtype=np.float32)
    worth += 2.0 * random.standard_normal(len(matrix), dtype=np.float32)
    grades = np.searchsorted(np.quantile(worth, [0.5, 0.75, 0.9, 0.97]), worth).astype(np.float32)
    return matrix, grades, np.full(queries, DOCUMENTS)


def rankinite(given: Arrays, trees: int, threads: int, made: Noted) -> None:
    import rankinite as rk

    features, grades, sizes = given
    with rk.threads(threads):
        data = rk.read(features, grades=grades, group=sizes)
        made()
        rk.LambdaMART.plain(trees=trees, leaves=LEAVES, rate=RATE, min_rows=MIN_ROWS).fit(data)


def lightgbm(given: Arrays, trees: int, threads: int, made: Noted) -> None:
    import lightgbm as library

    features, grades, sizes = given
    common = {"num_threads": threads, "verbosity": -1, "max_bin": 255}
    data = library.Dataset(features, grades, group=sizes, params=common, free_raw_data=True).construct()
    made()
    settings = {"objective": "lambdarank", "num_leaves": LEAVES, "learning_rate": RATE, "min_data_in_leaf": MIN_ROWS}
    library.train({**settings, **common}, data, trees)


def xgboost(given: Arrays, trees: int, threads: int, made: Noted) -> None:
    import xgboost as library

    features, grades, sizes = given
    data = library.QuantileDMatrix(features, grades, group=sizes, nthread=threads, max_bin=256)
    made()
    settings = {"objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": LEAVES}
    library.train({**settings, "max_depth": 0, "eta": RATE, "max_bin": 256, "nthread": threads}, data, trees)


def catboost(given: Arrays, trees: int, threads: int, made: Noted) -> None:
    import catboost as library

    features, grades, sizes = given
    data = library.Pool(features, grades, group_id=np.repeat(np.arange(len(sizes)), sizes))
    data.quantize(border_count=254, task_type="CPU")
    made()
    settings = {"iterations": trees, "depth": 5, "learning_rate": RATE, "thread_count": threads, "random_seed": 0}
    library.CatBoostRanker(loss_function="YetiRank", verbose=False, allow_writing_files=False, **settings).fit(data)


def contender(name: str, rows: int, features: int, threads: int) -> dict[str, float]:
    """What one library holds before and when its data are made; the highest is watched by who started this process."""
    train = {"rankinite": rankinite, "lightgbm": lightgbm, "xgboost": xgboost, "catboost": catboost}[name]
    given = arrays(rows, features)
    first = SMALL * DOCUMENTS
    train((given[0][:first].copy(), given[1][:first].copy(), given[2][:SMALL]), 2, threads, lambda: None)
    found, started = {"before": private_memory()}, time.perf_counter()
    train(given, TREES, threads, lambda: found.update(made=private_memory()))
    return {"seconds": time.perf_counter() - started, **found}


def above(runs: Runs, key: str) -> float:
    """MiB above what was there before."""
    return max(report[key] - report["before"] for report in runs.reports) / MEBI


def table(runs: list[Runs], values: int) -> str:
    lines = [
        "| | highest, MiB | against rankinite | bytes per value | once the data are made, MiB |",
        "|---|--:|--:|--:|--:|",
    ]
    for one in runs:
        highest = above(one, "peak")
        ratio, each = highest / above(runs[0], "peak"), highest * MEBI / values
        lines.append(f"| {one.name} | {highest:,.0f} | {ratio:.2f}× | {each:.2f} | {above(one, 'made'):,.0f} |")
    return "\n".join(lines)


def growth(sizes: list[tuple[int, int]], threads: int, known: dict[tuple[int, int], list[Runs]]) -> str:
    """A table with a line for each number of rows and features; ``known``: what has been measured already."""
    lines = [
        "| rows | features | the arrays, MiB | " + " | ".join(f"{name}, MiB" for name in GROWN) + " |",
        "|--:|--:|--:|" + "--:|" * len(GROWN),
    ]
    for rows, features in sizes:
        runs = known.setdefault((rows, features), []) or _raced(GROWN, rows, features, threads)
        known[rows, features] = runs
        cells = [f"{above(one, 'peak'):,.0f}" for name in GROWN for one in runs if one.name == name]
        lines.append(f"| {rows:,} | {features} | {rows * features * 4 / MEBI:,.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _raced(names: list[str], rows: int, features: int, threads: int) -> list[Runs]:
    arguments = ["--rows", str(rows), "--features", str(features), "--threads", str(threads)]
    return race(__file__, names, arguments, rounds=1)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contender", choices=NAMES)
    parser.add_argument("--rows", type=int, default=MSLR_ROWS)
    parser.add_argument("--features", type=int, default=MSLR_FEATURES)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    rows, features, threads = given.rows, given.features, given.threads
    if given.contender:
        print(json.dumps(contender(given.contender, rows, features, threads)))
        return
    known = {(rows, features): _raced(NAMES, rows, features, threads)}
    size = f"{rows:,} rows × {features} features, of {rows * features * 4 / MEBI:,.0f} MiB, {threads} threads."
    by_rows = [(count, features) for count in (*ROWS, rows)]
    by_features = [(ROWS_OF_FEATURES, count) for count in FEATURES]
    text = "\n\n".join(
        [
            machine(["rankinite", "numba", "lightgbm", "xgboost-cpu", "catboost"]),
            " ".join((__doc__ or "").split("\n\n")[2].split()),
            size,
            table(known[rows, features], rows * features),
            "The highest, by rows:",
            growth(by_rows, threads, known),
            "The highest, by features:",
            growth(by_features, threads, known),
        ]
    )
    print(text)
    write_section("Memory of training (benchmarks/memory.py)", text)


if __name__ == "__main__":
    main()
