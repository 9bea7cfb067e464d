"""Training on one machine, this commit against an earlier one: has anything become slower?

    python benchmarks/commits.py BEFORE [--rounds 15]

Both take turns, a process each, which trains once to warm up and then several times; the fastest of these counts. The ratio is
the median over rounds, with an interval of 95 % from resampled rounds. The models are compared too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from _measure import SCRATCH, machine, sized, write_section

ROOT = Path(__file__).parents[1]
SIZES = sized(
    {
        "10,000 × 50": (10_000, 50, 100, 31),
        "100,000 × 136": (100_000, 136, 30, 31),
        "100,000 × 136, 255 leaves": (100_000, 136, 10, 255),
    },
    {"2,000 × 50": (2_000, 50, 3, 31)},
)
"""Rows, features, trees, leaves."""
REPEATS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("--rounds", type=int, default=sized(15, 1))
    parser.add_argument("--contender", nargs=2)
    given = parser.parse_args()
    if given.contender:
        print(json.dumps(trained(given.contender[0])))
        return
    tree = SCRATCH / "before"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", given.before, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
    sources = {"before": tree / "src", "now": ROOT / "src"}
    names = {name: _name(commit) for name, commit in (("before", given.before), ("now", "HEAD"))}
    lines = ["| size | before, seconds | now, seconds | ratio (95 %) | the same model |", "|---|--:|--:|--:|---|"]
    for size in SIZES:
        found = {name: [] for name in sources}
        for turn in range(given.rounds + 1):  # the first compiles
            for name, source in sorted(sources.items(), reverse=turn % 2 == 1):
                report = _report(size, source, given.before)
                if turn:
                    found[name].append(report)
        before, now = (np.asarray([one["seconds"] for one in found[name]]) for name in ("before", "now"))
        low, high = _interval(now / before)
        same = "yes" if len({one["model"] for every in found.values() for one in every}) == 1 else "no"
        ratio = statistics.median((now / before).tolist())
        lines.append(
            f"| {size} | {np.median(before):.3f} | {np.median(now):.3f} | {ratio:.3f} ({low:.3f} to {high:.3f}) | {same} |"
        )
        print(lines[-1], flush=True)
    about = " ".join((__doc__ or "").split("\n\n")[2].split())
    text = "\n\n".join(
        [machine(["numba", "numpy"]), f"{about} Before: {names['before']}; now: {names['now']}.", "\n".join(lines)]
    )
    write_section("One machine, this code against an earlier commit (benchmarks/commits.py)", text)


def _name(commit: str) -> str:
    done = subprocess.run(
        ["git", "log", "-1", "--format=%h “%s”", commit], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _report(size: str, source: Path, before: str) -> dict[str, float | str]:
    command = [sys.executable, __file__, before, "--contender", size, str(source)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _interval(ratios: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    drawn = np.median(rng.choice(ratios, (10_000, len(ratios))), axis=1)
    return float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))


def trained(size: str) -> dict[str, float | str]:
    import rankinite as rk

    rows, features, trees, leaves = SIZES[size]
    data = rk.synthesise(rows // 100, world=rk.World(features=features, documents=100, noise=0.3))
    learner = rk.LambdaMART.plain(trees=trees, leaves=leaves, train_history=False)
    learner.fit(data)
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        forest = learner.fit(data)
        times.append(perf_counter() - start)
    arrays = (forest.trees.value, forest.trees.threshold, forest.trees.feature)
    return {"seconds": min(times), "model": hashlib.sha256(b"".join(one.tobytes() for one in arrays)).hexdigest()}


if __name__ == "__main__":
    main()
