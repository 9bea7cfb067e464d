"""How training time grows with queries, features, leaves and documents a query, beside LightGBM's.

    python benchmarks/growth.py [--threads 2]

One size changes at a time from 1,000 queries of 40 documents, 100 features and 31 leaves; where documents a query change,
queries change too and the rows stay 40,000. Seconds are those of 30 trees without making bins, the best of three runs in
turn; LightGBM has the layout it chooses itself, and the same rate, minimum rows and truncation.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import rankinite as rk
from _measure import machine, sized, write_section
from rankinite.trees.bins import fit_bins

TREES, ROWS = sized((30, 40_000), (3, 4_000))
START = {"queries": sized(1000, 100), "documents": 40, "features": 100, "leaves": 31}
CHANGES = {
    "queries": sized((250, 1000, 4000), (50, 100)),
    "features": sized((25, 100, 400), (25,)),
    "leaves": sized((8, 31, 128), (8,)),
    "documents": sized((10, 40, 100, 400), (10,)),
}


def ours(data: rk.Dataset, leaves: int) -> float:
    learner = rk.LambdaMART.plain(trees=TREES, leaves=leaves, rate=0.1, min_rows=20, train_history=False)
    started = time.perf_counter()
    fit_bins(data.features).code(data.features)
    binned = time.perf_counter()
    learner.fit(data)
    return time.perf_counter() - binned - (binned - started)


def lightgbm(data: rk.Dataset, leaves: int, threads: int) -> float:
    import lightgbm as library

    common = {"num_threads": threads, "verbosity": -1}
    bins = library.Dataset(data.features, data.grades, group=np.diff(data.offsets), params=common).construct()
    settings = {"objective": "lambdarank", "num_leaves": leaves, "learning_rate": 0.1, "min_data_in_leaf": 20}
    more = {"min_sum_hessian_in_leaf": 0.0, "lambdarank_truncation_level": 10, "deterministic": True}
    started = time.perf_counter()
    library.train({**settings, **more, **common}, bins, TREES)
    return time.perf_counter() - started


def measured(sizes: dict[str, int], threads: int) -> tuple[float, float]:
    world = rk.World(features=sizes["features"], documents=sizes["documents"], noise=0.3)
    data = rk.synthesise(sizes["queries"], world=world)
    pairs = [(ours(data, sizes["leaves"]), lightgbm(data, sizes["leaves"], threads)) for _ in range(sized(4, 2))][1:]
    return min(own for own, _ in pairs), min(other for _, other in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    threads = parser.parse_args().threads
    lines = ["| what changes | to | rankinite | LightGBM | ratio |", "|---|---|---|---|---|"]
    with rk.threads(threads):
        for what, values in CHANGES.items():
            for value in values:
                sizes = {**START, what: value}
                if what == "documents":
                    sizes["queries"] = ROWS // value
                own, other = measured(sizes, threads)
                lines.append(f"| {what} | {value} | {own:.3f} s | {other:.3f} s | {other / own:.1f} |")
                print(lines[-1], flush=True)
    about = [machine(["numba", "lightgbm"]), (__doc__ or "").split("\n\n", 2)[2].strip(), f"{threads} threads."]
    write_section("Growth of training time", "\n\n".join([*about, "\n".join(lines)]))


if __name__ == "__main__":
    main()
