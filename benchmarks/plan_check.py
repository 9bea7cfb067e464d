"""What `rankinite plan` predicts beside what is measured: seconds, messages and bytes per tree of 1, 2 and 3 MPI processes.

    python benchmarks/plan_check.py [--rounds 5] [--rows 200000] [--shape best-first]

200,000 rows × 136 features in six folders of bins, 20 trees of 31 leaves, one thread for each process. The speed is measured by
one process alone, as `rankinite plan` does; the network, here the memory that processes share, by sums of two lengths among as
many processes. All numbers of processes take turns. Trees are the same in every run, so the quickest of each counts, and
seconds are the mean over trees, without the first; the means of whole runs are beside them. Processes that wait for each other
spin: with more of them than cores, or where others use the machine, a line says little of machines of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

import rankinite as rk
from _measure import SCRATCH, machine, sized, write_section
from rankinite.engine.reducer import SUM
from rankinite.planning.exchange import Exchange, Link, tree_exchange
from rankinite.planning.job import Job
from rankinite.planning.plan import outlook_of
from rankinite.planning.speed import Speed, measure_speed

PROCESSES, SHARDS, TREES, FEATURES, LEAVES, DOCUMENTS = (1, 2, 3), 6, sized(20, 2), 136, 31, 100
FOLDER = SCRATCH / "plan_check"
SHORT, LONG, SUMS = 2, FEATURES * 256, 50
"""Numbers of the sums that tell latency and bandwidth, and how many of each are timed."""


def learner_of(shape: Any) -> rk.LambdaMART:
    return rk.LambdaMART.plain(trees=TREES, leaves=LEAVES, shape=shape)


def member(shape: str) -> None:
    """One process: time the trees, and count what it sends; the first prints it."""
    seen: list[tuple[float, int, int]] = []
    with rk.threads(1), rk.cluster("mpi") as group:
        members = group.members
        sums = [seconds_of_sum(members, length) for length in (SHORT, LONG)] if members.count > 1 else [0.0, 0.0]

        def note(_progress: rk.Progress) -> None:
            seen.append((time.perf_counter(), members.traffic.messages, members.traffic.bytes_sent))

        learner_of(shape).fit(rk.Binned(sorted(FOLDER.iterdir())), callbacks=[note] if group.is_first else ())
        if group.is_first:
            seconds, messages, size = (np.diff(np.asarray(column)).tolist() for column in zip(*seen, strict=True))
            print(json.dumps({"seconds": seconds, "messages": messages, "bytes": size, "sums": sums}), flush=True)


def seconds_of_sum(members: Any, length: int) -> float:
    found, numbers = [], np.ones(length, np.int64)
    for _ in range(SUMS):
        numbers[:] = 1
        start = time.perf_counter()
        members.combine(SUM, numbers)
        found.append(time.perf_counter() - start)
    return median(found)


def link_of(sums: list[float], processes: int) -> Link:
    """The ring of which sums of two lengths take so long."""
    hops = 2 * (processes - 1)
    latency = sums[0] / hops
    return Link(hops / processes * 8 * LONG / max(sums[1] - sums[0], 1e-9), latency)


def started(processes: int, shape: str) -> dict[str, Any]:
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    command = [str(mpiexec), "-n", str(processes), sys.executable, __file__, "--member", "--shape", shape]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def made(rows: int) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    data = rk.synthesise(rows // DOCUMENTS, world=rk.World(features=FEATURES, documents=DOCUMENTS, noise=0.3))
    rk.bin(data, FOLDER, shards=SHARDS)


def sent_over_mpi(job: Job, processes: int) -> Exchange:
    """As MPI counts: the word to callbacks, and each process's own values of the watched measure, gathered by one message."""
    watched = Exchange(2, 8 + 8 * job.queries_of(processes))
    return tree_exchange(job) + watched if processes > 1 else Exchange()


def line_of(processes: int, job: Job, speed: Speed, runs: list[dict[str, Any]]) -> str:
    measured = fmean(np.min([run["seconds"] for run in runs], axis=0).tolist())
    quickest = [min(run["sums"][k] for run in runs) for k in range(2)]
    link = link_of(quickest, processes) if processes > 1 else Link(1.0, 0.0)
    predicted, sent = outlook_of(job, processes, link, speed), sent_over_mpi(job, processes)
    network = link.seconds(sent, processes) if processes > 1 else 0.0
    seconds = predicted.compute + network
    all_runs = ", ".join(f"{fmean(run['seconds']):.3f}" for run in runs)
    cells = (
        f"{processes}", f"{predicted.compute:.3f} + {network:.3f}", f"{measured:.3f}",
        f"{seconds / measured:.2f}", all_runs, f"{sent.messages}", f"{fmean(runs[0]['messages']):.1f}",
        f"{sent.bytes:,}", f"{fmean(runs[0]['bytes']):,.0f}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=sized(5, 1))
    parser.add_argument("--rows", type=int, default=sized(200_000, 3_000))
    parser.add_argument("--shape", default="best-first")
    parser.add_argument("--member", action="store_true")
    parser.add_argument("--dry", action="store_true", help="Print the section, and leave RESULTS.md alone.")
    given = parser.parse_args()
    if given.member:
        member(given.shape)
        return
    made(given.rows)
    job = Job(rows=given.rows, features=FEATURES, settings=learner_of(given.shape), trees=TREES, rows_per_query=DOCUMENTS)
    runs: dict[int, list[dict[str, Any]]] = {processes: [] for processes in PROCESSES}
    speeds = []
    for turn in range(given.rounds + 1):  # the first compiles
        with rk.threads(1):
            speeds.append(measure_speed(DOCUMENTS))
        for processes in PROCESSES:
            found = started(processes, given.shape)
            if turn:
                runs[processes].append(found)
                print(f"{processes} processes: {fmean(found['seconds']):.3f} s per tree", flush=True)
    speed = min(speeds, key=lambda one: outlook_of(job, 1, Link(1.0, 0.0), one).compute)
    head = ["processes", "predicted s", "measured s", "ratio", "means of runs", "messages", "measured", "bytes", "measured"]
    lines = [f"| {' | '.join(head)} |", "|--:|--:|--:|--:|---|--:|--:|--:|--:|"]
    lines += [line_of(processes, job, speed, runs[processes]) for processes in PROCESSES]
    about = " ".join((__doc__ or "").split("\n\n")[2].split())
    shape = f"{given.shape.capitalize()} trees, {given.rows:,} rows. Seconds predicted: compute + network."
    text = "\n\n".join([machine(["numba", "numpy", "mpi4py", "mpich"]), about, shape, "\n".join(lines)])
    print(text)
    if not given.dry:
        write_section(f"Plans, checked: {given.shape} trees (benchmarks/plan_check.py)", text)


if __name__ == "__main__":
    main()
