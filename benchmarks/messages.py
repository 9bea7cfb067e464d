"""What processes that grow one model together send: messages and bytes of a tree, counted, beside the formulas of the guide.

    python benchmarks/messages.py [--rows 200000]

136 features in six folders of bins, trees of 31 leaves at most, over MPI, without the measure on the training data. Trees with
all their leaves are counted: each sends as much. 200,000 rows, so that no node is as small as those for which short messages
ask first; how busy the machine is changes nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import rankinite as rk
from _measure import SCRATCH, machine, sized, write_section

FEATURES, LEAVES, LEVELS, TREES, SHARDS, DOCUMENTS, BINS = 136, 31, 4, sized(6, 2), 6, 100, 256
FOLDER = SCRATCH / "messages"
SETTINGS: dict[str, dict[str, Any]] = {
    "best-first": {},
    "best-first, rows drawn for each tree": {"row_share": 0.5},
    "best-first, rows drawn at nodes": {"node_row_share": 0.5},
    "symmetric": {"shape": "symmetric"},
}


def tree_lengths(settings: dict[str, Any]) -> list[int]:
    """The numbers in every message of a tree, by the guide's formulas."""
    cells, start = BINS * FEATURES, [2, 2, 2] + [1, 1] * ("row_share" in settings)
    if settings.get("shape") == "symmetric":
        cuts = [0, *(1 << level for level in range(LEVELS))]  # those that made each level
        last = len(cuts) - 1
        return [*start, *(3 * made + (max(made, 1) * cells if level < last else 0) for level, made in enumerate(cuts))]
    split = 8 + cells * (2 if "node_row_share" in settings else 1)
    return [*start, 8 + cells, *[split] * (LEAVES - 2), 8]


def member(settings: dict[str, Any]) -> None:
    """One process: count what it sends for each tree; the first prints it."""
    seen: list[tuple[int, int]] = []
    with rk.threads(1), rk.cluster("mpi") as group:
        traffic = group.members.traffic

        def note(_progress: rk.Progress) -> None:
            seen.append((traffic.messages, traffic.bytes_sent))

        learner = rk.LambdaMART.plain(trees=TREES, leaves=LEAVES, train_history=False, **settings)
        learner.fit(rk.Binned(sorted(FOLDER.iterdir())), callbacks=[note] if group.is_first else ())
        if group.is_first:
            trees = {(after[0] - before[0], after[1] - before[1]) for before, after in itertools.pairwise(seen)}
            print(json.dumps(sorted(trees)), flush=True)


def counted(processes: int, settings: dict[str, Any]) -> list[list[int]]:
    """The different messages and bytes per tree."""
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    command = [str(mpiexec), "-n", str(processes), sys.executable, __file__, "--member", json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=sized(200_000, 3_000))
    parser.add_argument("--member", type=json.loads)
    given = parser.parse_args()
    if given.member is not None:
        member(given.member)
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    world = rk.World(features=FEATURES, documents=DOCUMENTS, noise=0.3)
    rk.bin(rk.synthesise(given.rows // DOCUMENTS, world=world), FOLDER, shards=SHARDS)
    lines = ["| trees | processes | messages of a tree, counted | by the formula | bytes, counted | by the formula |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    for name, settings in SETTINGS.items():
        lengths = [*tree_lengths(settings), 1]  # and whether callbacks go on
        for processes in (2, 3):
            found = counted(processes, settings)
            messages, size = (", ".join(f"{tree[place]:,}" for tree in found) for place in range(2))
            lines.append(f"| {name} | {processes} | {messages} | {len(lengths)} | {size} | {8 * sum(lengths):,} |")
    about = " ".join((__doc__ or "").split("\n\n")[2].split())
    text = "\n\n".join([machine(["numba", "numpy", "mpi4py", "mpich"]), about, "\n".join(lines)])
    print(text)
    write_section("Messages of a tree that machines grow together (benchmarks/messages.py)", text)


if __name__ == "__main__":
    main()
