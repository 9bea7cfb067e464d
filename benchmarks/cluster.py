"""Eight members of a bag on two processes of one thread, on one of two threads, and on the threads of this process.

    python benchmarks/cluster.py [--rounds 3] [--rows 60000]

Processes are started, and have compiled or loaded their kernels, before the clock runs; data are written to the shared folder
inside it. All ways take turns. The models are the same bytes, which is checked.
"""

from __future__ import annotations

import argparse
import statistics
from contextlib import ExitStack
from time import perf_counter

import rankinite as rk
from _measure import machine, sized, write_section
from rankinite.models.files.container import model_bytes
from rankinite.workers.cluster import _in_force

TREES = sized(100, 5)
WAYS = {"2 processes × 1 thread": 2, "1 process × 2 threads": 1, "threads of this process": None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=sized(3, 1))
    parser.add_argument("--rows", type=int, nargs="*", default=sized([10_000, 200_000], [2_000]))
    given = parser.parse_args()
    lines = ["| rows | way | seconds, median | all | against 1 × 2 |", "|--:|---|--:|---|--:|"]
    with ExitStack() as stack:
        clusters = {name: None if count is None else stack.enter_context(rk.cluster(count)) for name, count in WAYS.items()}
        for rows in given.rows:
            world = rk.World(features=136, documents=100, noise=0.3)
            times: dict[str, list[float]] = {name: [] for name in WAYS}
            made = set()
            for turn in range(given.rounds + 1):  # the first warms up
                for name, cluster in clusters.items():
                    data = rk.synthesise(rows // 100, world=world)  # a new object: it is written again, and its bins are new
                    bag = rk.Bag(rk.LambdaMART.plain(trees=TREES, row_share=0.7, seed=turn, train_history=False), parts=8)
                    token = _in_force.set(cluster)
                    start = perf_counter()
                    ranker = bag.fit(data)
                    seconds = perf_counter() - start
                    _in_force.reset(token)
                    if turn:
                        times[name].append(seconds)
                        print(f"{rows:7,} rows, {name:24} {seconds:6.1f} s", flush=True)
                    made.add((turn, model_bytes(ranker.stored())))
            assert len(made) == given.rounds + 1, "the models differ"
            medians = {name: statistics.median(each) for name, each in times.items()}
            base = medians["1 process × 2 threads"]
            for name, each in times.items():
                shown = ", ".join(f"{one:.1f}" for one in each)
                lines.append(f"| {rows:,} | {name} | {medians[name]:.1f} | {shown} | {base / medians[name]:.2f}× |")
    about = (
        " ".join((__doc__ or "").split("\n\n")[2].split()) + " 136 features, 100 trees of 31 leaves, 70 % of the rows drawn."
    )
    text = "\n\n".join([machine(["numba", "numpy", "distributed"]), about, "\n".join(lines)])
    print(text)
    write_section("Eight members on workers", text)


if __name__ == "__main__":
    main()
