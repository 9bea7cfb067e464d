"""How fast forests score: one document, a result page, a night's batch; against the libraries that models come from or go to.

    python benchmarks/scoring.py [--quick] [--shapes "31 leaves" "64 leaves" "symmetric, depth 6"] [--threads 1 2] [--rounds 3]

Models are made once and kept in .bench: LightGBM trains 1000 trees of 31 and of 64 leaves, CatBoost 1000 symmetric trees of
depth 6, on artificial rows with 136 features; `rankinite export` writes the same trees for the others. lleaves, which
compiles models for minutes, has an environment of its own and takes part with 64 leaves. Every contender scores rows of
float32 that it has not just seen, in calls of 1, 10, 100, 1,000 and 100,000 rows (slow ones: 10,000), in a process of its
own, in turn. Times are medians over calls, then over rounds, with everything loaded and compiled before. "Same bits" says
whether the scores of 1,000 rows are those of rankinite to the last bit, or else by how much they differ at most.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from _measure import SCRATCH, Runs, machine, race, sized, write_section
from _scoring_contenders import CONTENDERS, ONE_ROW_ONLY, Predict, compile_with_lleaves, lleaves_python

TREES, FEATURES, TRAINING_ROWS = sized(1000, 10), 136, sized(6000, 1000)
SHAPES = {"31 leaves": 31, "64 leaves": 64, "symmetric, depth 6": None}
"""Leaves of the trees that LightGBM trains; None: CatBoost."""
POOL = SCRATCH / "scoring-rows.npy"
BATCHES = (1, 10, 100, 1_000, sized(100_000, 2_000))
SLOW = (40e-6, 10_000)
"""Seconds for a row, in calls of 1,000 rows, from which on the largest call has fewer rows, and how many."""
SECONDS = sized(0.3, 0.01)
"""How long calls of one size are repeated."""
ABSENT = "lleaves took no part this time: it was left out, could not be installed, or did not compile the model within 420 s."
COLD = """
import time; started = time.perf_counter()
import sys, rankinite as rk, numpy as np
rk.load(sys.argv[1]).score(np.zeros((1, int(sys.argv[2])), np.float32))
print(time.perf_counter() - started)
"""


def folder_of(shape: str) -> Path:
    return SCRATCH / f"scoring {shape}"


def rows(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, FEATURES)).astype(np.float32)


def targets(features: np.ndarray) -> np.ndarray:
    """Something to learn for a thousand trees: sums, products, steps and noise."""
    random = np.random.default_rng(1)
    weights = random.normal(size=FEATURES) / np.sqrt(np.arange(1, FEATURES + 1))
    steps = np.sign(features[:, 2] - 0.3) * (features[:, 3] > 0)
    return (
        np.tanh(features @ weights / 2)
        + np.sin(2 * features[:, 0] * features[:, 1])
        + steps
        + random.normal(size=len(features))
    )


def make_models(shape: str) -> None:
    """The files of one shape, for all contenders; left as they are if complete."""
    import rankinite as rk

    folder = folder_of(shape)
    if (folder / "complete").exists():
        return
    print(f"making models: {shape}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    features = rows(TRAINING_ROWS, 0)
    trained = train(features, targets(features), folder, SHAPES[shape])
    forest = rk.load(trained)
    forest.save(folder / "model.rankinite")
    wanted = {"xgboost": "model.ubj", "onnx": "model.onnx"} | ({} if SHAPES[shape] else {"lightgbm": "model.txt"})
    for target, file in wanted.items():
        rk.export(forest, folder / target, to=target, served_missing="nan")
        shutil.copy(folder / target / file, folder / file)
    (folder / "complete").touch()


def prepare(shapes: list[str]) -> None:
    """Everything that contenders read."""
    import rankinite as rk

    SCRATCH.mkdir(exist_ok=True)
    np.save(POOL, rows(max(BATCHES), 2))
    for shape in shapes:
        make_models(shape)
        ranker = rk.load(folder_of(shape) / "model.rankinite")
        np.save(folder_of(shape) / "expected.npy", ranker.score(np.load(POOL)[:1_000]))


def train(features: np.ndarray, grades: np.ndarray, folder: Path, leaves: int | None) -> Path:
    """The file of a model that LightGBM or CatBoost has trained."""
    if leaves is None:
        import catboost

        settings = {"iterations": TREES, "depth": 6, "learning_rate": 0.05, "verbose": False, "allow_writing_files": False}
        model = catboost.CatBoostRegressor(**settings, thread_count=2, random_seed=0).fit(features, grades)
        model.save_model(str(folder / "model.cbm"))
        model.save_model(str(folder / "catboost.json"), format="json")
        return folder / "catboost.json"
    import lightgbm

    settings = {"objective": "regression", "num_leaves": leaves, "learning_rate": 0.05, "feature_fraction": 0.5, "seed": 0}
    common = {"num_threads": 2, "verbosity": -1, "deterministic": True}
    model = lightgbm.train(settings | common, lightgbm.Dataset(features, grades), TREES)
    model.save_model(folder / "model.txt")
    return folder / "model.txt"


# ---- one contender ----------------------------------------------------------------------------------------------------


def contend(name: str, shape: str, threads: int) -> dict[str, float]:
    """Seconds per row for every size of call; and how far scores of 1,000 rows are from rankinite's."""
    predict = CONTENDERS[name](folder_of(shape), threads)
    pool = np.load(POOL)
    found: dict[str, float] = {}
    for batch in (1,) if name in ONE_ROW_ONLY else BATCHES:
        if batch == max(BATCHES) and found[str(1_000)] > SLOW[0]:
            pool = pool[: SLOW[1]]
        found[str(batch)] = per_row(predict, pool, min(batch, len(pool)))
    checked = pool[:1_000]
    scored = [predict(one[None]).copy() for one in checked] if name in ONE_ROW_ONLY else [predict(checked)]
    expected = np.load(folder_of(shape) / "expected.npy")
    return found | {"seconds": sum(found.values()), "differs": float(np.abs(np.concatenate(scored) - expected).max())}


def per_row(predict: Predict, pool: np.ndarray, batch: int) -> float:
    """The median time of a call, by the rows of a call; each call has other rows, as long as there are any."""
    calls: list[float] = []
    ends = time.perf_counter() + SECONDS
    first = 0
    while len(calls) < 3 or time.perf_counter() < ends:
        given = pool[first : first + batch]
        first = first + batch if first + 2 * batch <= len(pool) else 0
        started = time.perf_counter()
        predict(given)
        calls.append(time.perf_counter() - started)
        if sum(calls) > 6 * SECONDS and len(calls) > 1:
            break
    return statistics.median(calls[1:]) / batch  # the first call loads what is loaded late


def inside_environment(name: str, arguments: list[str]) -> dict[str, float]:
    """The same in the environment of lleaves."""
    command = [str(lleaves_python()), __file__, "--contender", name, "--inside", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


# ---- all of them ------------------------------------------------------------------------------------------------------


def entrants(shape: str, *, lleaves: bool) -> list[str]:
    """Who takes part with trees of a shape; ``lleaves``: whether it may, which compiles for minutes."""
    left_out = {"CatBoost predict"} if SHAPES[shape] else {"lleaves"}
    if shape != "64 leaves" or not lleaves or not compile_with_lleaves(folder_of(shape)):
        left_out.add("lleaves")
    return [name for name in CONTENDERS if name not in left_out]


def table(contenders: list[Runs]) -> str:
    """Microseconds per row, and as multiples of rankinite's scorer."""
    lines = [
        "| µs per document, in calls of | " + " | ".join(f"{batch:,}" for batch in BATCHES) + " | same bits |",
        "|---|" + "---:|" * len(BATCHES) + "---|",
    ]
    for runs in contenders:
        cells = [runs.name]
        for key in map(str, BATCHES):
            if key in runs.reports[0]:
                ours, theirs = middle(contenders[0], key), middle(runs, key)
                cells.append(f"{theirs * 1e6:.1f}" if runs is contenders[0] else f"{theirs * 1e6:.1f} ({theirs / ours:.1f}×)")
            else:
                cells.append("")
        off = runs.largest("differs")
        lines.append("| " + " | ".join([*cells, "yes" if off == 0 else f"±{off:.0e}"]) + " |")
    return "\n".join(lines)


def middle(runs: Runs, key: str) -> float:
    return statistics.median(report[key] for report in runs.reports)


def cold_start(shape: str, times: int = 7) -> float:
    """Seconds from ``import rankinite`` to the first score, in a new process, compiled code kept on disk."""
    command = [sys.executable, "-c", COLD, str(folder_of(shape) / "model.rankinite"), str(FEATURES)]
    found = [float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(times)]
    return statistics.median(found[1:])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=SHAPES)
    options.add_argument("--threads", type=int, nargs="*", default=sized([1, 2], [1]))
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--quick", action="store_true", help="one round, printed and not written to RESULTS.md")
    options.add_argument(
        "--no-lleaves",
        action="store_true",
        default=sized(usual=False, tiny=True),
        help="leave out lleaves, which compiles for minutes",
    )
    options.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    options.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.contender:
        arguments = ["--shapes", chosen.shapes[0], "--threads", str(chosen.threads[0])]
        elsewhere = chosen.contender == "lleaves" and not chosen.inside
        found = (
            inside_environment("lleaves", arguments)
            if elsewhere
            else contend(chosen.contender, chosen.shapes[0], chosen.threads[0])
        )
        print(json.dumps(found))
        return
    prepare(chosen.shapes)
    for shape in chosen.shapes:
        names = entrants(shape, lleaves=not chosen.no_lleaves)
        absent = ABSENT if shape == "64 leaves" and "lleaves" not in names else ""
        parts: list[str] = []
        for threads in chosen.threads:
            arguments = ["--shapes", shape, "--threads", str(threads)]
            contenders, others = race(__file__, names, arguments, 1 if chosen.quick else chosen.rounds)
            title = f"{TREES} trees, {shape}, {FEATURES} features, {threads} thread{'s' * (threads > 1)}"
            parts.append(f"{title} (others used {others:.0%} of the machine meanwhile):\n\n{table(contenders)}")
            print(f"\n{parts[-1]}\n", flush=True)
        start = f"A service starts (import, load, first score) in {cold_start(shape):.2f} s."
        print(start, flush=True)
        if not chosen.quick:
            where = machine(["rankinite", "numba", "lightgbm", "xgboost-cpu", "catboost", "onnxruntime", "treelite"])
            about = (__doc__ or "").split("\n\n", 2)[2].strip()
            write_section(f"Scoring: {shape}", "\n\n".join(filter(None, [where, about, absent, *parts, start])))


if __name__ == "__main__":
    main()
