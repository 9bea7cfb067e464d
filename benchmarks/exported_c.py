"""How fast an exported C file scores, against our own kernels.

    python benchmarks/exported_c.py [--quick] [--rounds 5]

The forest of 1000 trees of 64 leaves over 136 features that benchmarks/scoring.py makes is exported with `--to c` and compiled
by `cc -O2`. Both score rows of float32 that they have not just seen, in calls of 1, 100 and 1,000 rows, on one thread, each in
a process of its own, in turn. Times are medians over calls, then over rounds; both are called from Python, the C functions
through ctypes, which takes about a microsecond. "Same bits" says whether the scores of 1,000 rows are the same float64s.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import time

import numpy as np

from _measure import SCRATCH, Runs, machine, race, sized, write_section
from _scoring_contenders import HELD
from scoring import FEATURES, TREES, folder_of, make_models, rows

SHAPE = "64 leaves"
FOLDER = SCRATCH / "exported-c"
LIBRARY, POOL, EXPECTED = FOLDER / "model.so", FOLDER / "rows.npy", FOLDER / "expected.npy"
BATCHES = (1, 100, 1_000)
SECONDS = sized(1.0, 0.05)
"""How long calls of one size are repeated."""
CONTENDERS = ("rankinite", "exported C")
MOST = 1.5
"""How many times as long as rankinite the exported C may take."""


def prepare() -> float:
    """Export and compile the model; gives the seconds that the compiler took."""
    import rankinite as rk

    make_models(SHAPE)
    ranker = rk.load(folder_of(SHAPE) / "model.rankinite")
    rk.export(ranker, FOLDER, to="c", name="bench", served_missing="nan", overwrite=True)
    started = time.perf_counter()
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", "-o", str(LIBRARY), str(FOLDER / "model.c")]
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - started
    np.save(POOL, rows(20_000, 3))
    np.save(EXPECTED, ranker.score(np.load(POOL)[:1_000]))
    return seconds


def predictor(name: str):
    """A function from a matrix of float32 to scores."""
    if name == "rankinite":
        import rankinite as rk

        HELD.enter_context(rk.threads(1))
        return rk.load(folder_of(SHAPE) / "model.rankinite").scorer()
    library = ctypes.CDLL(str(LIBRARY))
    one, many = library.bench_score_float, library.bench_score_many_float
    one.argtypes, one.restype = (ctypes.c_void_p,), ctypes.c_double
    many.argtypes, many.restype = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p), None

    def predict(matrix: np.ndarray) -> np.ndarray:
        if len(matrix) == 1:
            return np.asarray([one(matrix.ctypes.data)])
        scores = np.empty(len(matrix))
        many(matrix.ctypes.data, len(matrix), matrix.shape[1], scores.ctypes.data)
        return scores

    return predict


def contend(name: str) -> None:
    """The median time per row for every size of call, and how far the scores are from rankinite's."""
    predict, pool = predictor(name), np.load(POOL)
    found: dict[str, float] = {}
    for batch in BATCHES:
        times: list[float] = []
        first, ends = 0, time.perf_counter() + SECONDS
        while time.perf_counter() < ends:
            given = pool[first : first + batch]
            first = first + batch if first + 2 * batch <= len(pool) else 0
            started = time.perf_counter()
            predict(given)
            times.append(time.perf_counter() - started)
        found[str(batch)] = statistics.median(times[1:]) / batch
    differs = float(np.abs(predict(pool[:1_000]) - np.load(EXPECTED)).max())
    print(json.dumps(found | {"seconds": sum(found.values()), "differs": differs}))


def middle(runs: Runs, batch: int) -> float:
    return statistics.median(report[str(batch)] for report in runs.reports)


def report(contenders: list[Runs], others: float, compiling: float) -> str:
    ours, exported = contenders
    what = f"{TREES} trees of 64 leaves, {FEATURES} features, one thread. The compiler took {compiling:.1f} s."
    lines = [
        f"{what} Others used {others:.0%} of the machine meanwhile.",
        machine(["rankinite", "numba", "numpy"]),
        "",
        "| µs per document, in calls of | " + " | ".join(f"{batch:,}" for batch in BATCHES) + " | same bits |",
        "|---|" + "--:|" * len(BATCHES) + "---|",
    ]
    for runs in contenders:
        times = [f"{middle(runs, batch) * 1e6:.1f}" for batch in BATCHES]
        lines.append(f"| {' | '.join([runs.name, *times])} | {'yes' if runs.largest('differs') == 0.0 else 'no'} |")
    ratios = [middle(exported, batch) / middle(ours, batch) for batch in BATCHES]
    lines.append(f"| exported C against rankinite | {' | '.join(f'{ratio:.2f}×' for ratio in ratios)} | |")
    verdict = "within" if max(ratios[0], ratios[-1]) <= MOST else "beyond"
    return "\n".join([*lines, "", f"That is {verdict} {MOST} times of our own kernels for 1 and for 1,000 documents."])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--quick", action="store_true", help="one round, printed and not written to RESULTS.md")
    given = options.parse_args()
    if given.contender:
        contend(given.contender)
        return
    compiling = prepare()
    contenders, others = race(__file__, list(CONTENDERS), [], 1 if given.quick else given.rounds)
    text = report(contenders, others, compiling)
    print(text)
    if not given.quick:
        write_section("Exported C (benchmarks/exported_c.py)", text)


if __name__ == "__main__":
    main()
