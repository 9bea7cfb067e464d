"""How fast a LETOR file is read, and in how much memory: rankinite, scikit-learn, LightGBM and XGBoost.

    python benchmarks/reading.py [--queries 7500] [--rounds 3]

The data are those of ``rankinite synth``: 50 documents a query, 50 features; 7,500 queries are a file of 265 MB.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from _measure import SCRATCH, Runs, machine, private_memory, race, sized, write_section

THREADS = 2


def read_with_rankinite(path: Path) -> int:
    import rankinite as rk

    data = rk.read(path)
    arrays = (data.features, data.grades, data.offsets, data.qids)
    return sum(array.nbytes for array in arrays)


def read_with_sklearn(path: Path) -> int:
    from sklearn.datasets import load_svmlight_file

    matrix, grades, qids = load_svmlight_file(str(path), query_id=True)
    return sum(array.nbytes for array in (matrix.data, matrix.indices, matrix.indptr, grades, qids))


def read_with_lightgbm(path: Path) -> int:
    import lightgbm

    data = lightgbm.Dataset(str(path), params={"num_threads": THREADS, "verbosity": -1}, free_raw_data=True).construct()
    return data.num_data() * data.num_feature()  # it keeps one byte a value: the bin


def read_with_xgboost(path: Path) -> int:
    import xgboost

    data = xgboost.DMatrix(f"{path}?format=libsvm", nthread=THREADS)
    return data.num_nonmissing() * 8  # a float and an index a value


CONTENDERS: dict[str, tuple[Callable[[Path], int], str]] = {
    "rankinite, LETOR": (read_with_rankinite, ".txt"),
    "rankinite, Parquet": (read_with_rankinite, ".parquet"),
    "scikit-learn load_svmlight_file": (read_with_sklearn, ".txt"),
    "LightGBM Dataset": (read_with_lightgbm, ".svm"),
    "XGBoost DMatrix": (read_with_xgboost, ".txt"),
}


def contend(name: str, stem: str) -> None:
    """One contender in its own process: warm up on a small file, then read the large one."""
    read, ending = CONTENDERS[name]
    read(Path(f"{stem}-small{ending}"))
    if read is read_with_sklearn:
        stem = f"{stem}-tenth"
    baseline = private_memory()
    started = time.perf_counter()
    kept = read(Path(f"{stem}{ending}"))
    seconds = time.perf_counter() - started
    text = Path(f"{stem}.txt").stat().st_size
    print(json.dumps({"seconds": seconds, "baseline": baseline, "kept": kept, "text": text}))


def write_without_qids(name: str, sizes: list[int]) -> None:
    """LightGBM's reader knows no qid: it takes the sizes of the queries from a file beside the data."""
    Path(f"{name}.svm").write_bytes(re.sub(rb" qid:\S+", b"", Path(f"{name}.txt").read_bytes()))
    Path(f"{name}.svm.query").write_text("".join(f"{size}\n" for size in sizes), encoding="ascii")


def make_files(queries: int) -> str:
    import rankinite as rk

    SCRATCH.mkdir(exist_ok=True)
    stem = str(SCRATCH / f"reading-{queries}")
    for name, size in ((stem, queries), (f"{stem}-tenth", queries // 10), (f"{stem}-small", 40)):
        if not Path(f"{name}.parquet").exists():
            data = rk.synthesise(size)
            rk.write(data, f"{name}.txt")
            write_without_qids(name, np.diff(data.offsets).tolist())
            rk.write(data, f"{name}.parquet")
    return stem


def table(contenders: list[Runs]) -> str:
    def speed(runs: Runs) -> float:
        return runs.largest("text") / 1e6 / runs.median

    lines = [
        "| reader | best s | median s | MB/s of text | times as slow as rankinite | peak memory / arrays returned |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for runs in contenders:
        ratio = speed(contenders[0]) / speed(runs)
        memory = (runs.largest("peak") - runs.largest("baseline")) / runs.largest("kept")
        lines.append(f"| {runs.name} | {runs.best:.3f} | {runs.median:.3f} | {speed(runs):.0f} | {ratio:.1f}× | {memory:.2f} |")
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--queries", type=int, default=sized(7500, 100))
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    options.add_argument("--stem", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.contender:
        contend(chosen.contender, chosen.stem)
        return
    stem = make_files(chosen.queries)
    contenders, others = race(__file__, list(CONTENDERS), ["--stem", stem], chosen.rounds)
    megabytes = Path(f"{stem}.txt").stat().st_size / 1e6
    write_section(
        "Reading (benchmarks/reading.py)",
        f"{machine(['rankinite', 'numba', 'scikit-learn', 'lightgbm', 'xgboost-cpu'])}\n\n"
        f"A file of {megabytes:.0f} MB, {50 * chosen.queries:,} rows × 50 features, {chosen.rounds} rounds in turn, the file "
        f"in the page cache, compiled code warm. Others used {others:.0%} of the machine meanwhile. Memory is the highest "
        "private memory (RssAnon, sampled every 2 ms, so without pages of the mapped file) above that before reading, as a "
        "multiple of what is returned (LightGBM: a byte a value; XGBoost: eight). scikit-learn reads a tenth of the file: the "
        "growth of its arrays takes more than proportionally long (the whole took 165 to 202 s here).\n\n"
        f"{table(contenders)}",
    )


if __name__ == "__main__":
    main()
