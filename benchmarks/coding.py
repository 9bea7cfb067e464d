"""Coded data on disk: the speed of making them, training from them, and the memory of both.

    python benchmarks/coding.py [--rows 1000000] [--rounds 5] [--large 10000000]

Making: `rk.bin` goes through a source twice; it is compared with going through it twice and doing nothing with the pieces.
Training: from a mapped folder against from data in memory whose codes are at hand. Memory: the most a process had while it
trained, its own and mapped pages apart, by rows; with and without the copy of codes by feature.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import numpy as np

import rankinite as rk
from _measure import SCRATCH, machine, private_memory, sized, write_section
from rankinite.data.io.pieces import open_pieces
from rankinite.data.io.read_settings import ReadSettings
from rankinite.learners.training_bins import share_bins
from rankinite.trees.growth import Grower

WORLD = rk.World(features=136, documents=100, noise=0.3)
LEARNER = rk.LambdaMART.plain(trees=20, leaves=31, train_history=False)


def source(rows: int, suffix: str) -> list[Path]:
    """Files of a million rows each, or one of fewer; made once."""
    each = min(rows, 1_000_000)
    paths = [SCRATCH / "coding" / f"{each}-{number}{suffix}" for number in range(rows // each)]
    for number, path in enumerate(paths):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            data = rk.synthesise(each // 100, domain=number, world=WORLD)
            rk.write(data, path.with_name(f"part{suffix}"))
            path.with_name(f"part{suffix}").rename(path)
    return paths


def two_passes(paths: list[Path]) -> float:
    settings = ReadSettings(
        dict.fromkeys(("grades", "qid", "doc_id", "weight", "batch")), None, None, (), "zero", "error", False, None
    )
    start = perf_counter()
    with open_pieces(paths, settings) as pieces:
        for _ in range(2):
            for _piece in pieces:
                pass
    return perf_counter() - start


def coded(paths: list[Path], out: Path) -> float:
    start = perf_counter()
    rk.bin(paths, out)
    return perf_counter() - start


def making(rows: int, rounds: int) -> list[str]:
    lines = ["| source | read(), s | two passes, s | rk.bin, s | speed of bin, of two passes |", "|---|--:|--:|--:|--:|"]
    for suffix in (".txt", ".txt.gz", ".parquet"):
        paths = source(rows, suffix)
        times = {"read": [], "passes": [], "bin": []}
        for turn in range(rounds + 1):
            with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
                start = perf_counter()
                rk.read(paths)
                found = {
                    "read": perf_counter() - start,
                    "passes": two_passes(paths),
                    "bin": coded(paths, Path(folder) / "made.bins"),
                }
            for name, seconds in found.items() if turn else ():
                times[name].append(seconds)
        read, passes, made = (statistics.median(times[name]) for name in ("read", "passes", "bin"))
        ratios = [one / other for one, other in zip(times["passes"], times["bin"], strict=True)]
        size = sum(path.stat().st_size for path in paths) / 1e6
        lines.append(
            f"| {suffix} {size:,.0f} MB | {read:.2f} | {passes:.2f} | {made:.2f} | {statistics.median(ratios):.0%} "
            f"({min(ratios):.0%} to {max(ratios):.0%}) |"
        )
        print(lines[-1], flush=True)
    return lines


def training(rows: int, rounds: int) -> list[str]:
    data = rk.read(source(rows, ".parquet"))
    share_bins(data)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        mapped = rk.bin(data, Path(folder) / "made.bins")
        LEARNER.fit(data)
        times = {"memory": [], "map": []}
        for _ in range(rounds):
            for name, one in (("memory", data), ("map", mapped)):
                start = perf_counter()
                LEARNER.fit(one)
                times[name].append(perf_counter() - start)
    ratios = [one / other for one, other in zip(times["map"], times["memory"], strict=True)]
    lines = ["| rows | from memory, s | from the map, s | ratio, median (range) |", "|--:|--:|--:|--:|"]
    lines.append(
        f"| {rows:,} | {statistics.median(times['memory']):.2f} | {statistics.median(times['map']):.2f} | "
        f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}) |"
    )
    print(lines[-1], flush=True)
    return lines


def memory(sizes: list[int]) -> list[str]:
    lines = [
        "| rows | making: own memory, MB | codes, MB | training, no copy: own, MB | bytes a row | with the copy: own, MB |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for rows in sizes:
        folder = SCRATCH / "coding" / f"{rows}.bins"
        shutil.rmtree(folder, ignore_errors=True)
        source(rows, ".parquet")
        made = peak("make", rows)
        without, with_copy, nothing = peak("without", rows), peak("with", rows), peak("nothing", rows)
        codes = (folder / "codes.npy").stat().st_size / 1e6
        lines.append(
            f"| {rows:,} | {made / 1e6:,.0f} | {codes:,.0f} | {without / 1e6:,.0f} | {(without - nothing) / rows:.0f} | "
            f"{with_copy / 1e6:,.0f} |"
        )
        print(lines[-1], flush=True)
        shutil.rmtree(folder)
    return lines


def peak(what: str, rows: int) -> int:
    """The most private memory of a process that does this; mapped pages do not count."""
    command = [sys.executable, __file__, "--contender", what, "--rows", str(rows)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        most = 0
        while process.poll() is None:
            most = max(most, private_memory(process.pid))
    assert process.returncode == 0, what
    return most


def contender(what: str, rows: int) -> None:
    folder = SCRATCH / "coding" / f"{rows}.bins"
    if what == "make":
        rk.bin(source(rows, ".parquet"), folder)
        return
    small = rk.LambdaMART.plain(trees=3, leaves=31, train_history=False)
    with ExitStack() as stack:
        warm = stack.enter_context(tempfile.TemporaryDirectory())
        small.fit(rk.bin(rk.synthesise(50, world=WORLD), f"{warm}/w.bins"))  # code and libraries, which are there anyway
        if what == "nothing":
            return
        kept = Grower.__init__

        def forced(self, *arguments, **settings) -> None:
            kept(self, *arguments, **{**settings, "copies": what == "with"})

        Grower.__init__ = forced
        small.fit(rk.Binned(folder))
    print(json.dumps({"most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=sized(1_000_000, 3_000))
    parser.add_argument("--large", type=int, default=sized(10_000_000, 6_000))
    parser.add_argument("--rounds", type=int, default=sized(5, 1))
    parser.add_argument("--contender", choices=("make", "with", "without", "nothing"))
    given = parser.parse_args()
    if given.contender:
        contender(given.contender, given.rows)
        return
    sizes = [given.rows, *np.unique([2 * given.rows, given.large]).tolist()]
    blocks = [making(given.rows, given.rounds), training(given.rows, 3 * given.rounds), memory(sizes)]
    about = " ".join((__doc__ or "").split("\n\n")[2].split())
    text = "\n\n".join(
        [machine(["numba", "numpy", "pyarrow"]), about + " 136 features.", *("\n".join(block) for block in blocks)]
    )
    write_section("Coded data on disk", text)


if __name__ == "__main__":
    main()
