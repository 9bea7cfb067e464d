"""How fast scores of forests are split by feature: against the libraries whose models they are.

    python benchmarks/explaining.py [--trees 500] [--rows 10000] [--threads 2] [--rounds 3]

LightGBM trains trees of 31 leaves on artificial rows with 136 features, XGBoost as many of depth 6, and rankinite as many
symmetric trees of 64 leaves, its default shape; models are kept in .bench. Each library splits the scores of the same rows
(LightGBM's pred_contrib, XGBoost's pred_contribs), and rankinite does so with its file, in turn with it and in one process,
after one call to compile. Times are medians over rounds. "Differ by": the largest difference from the library's values,
as a share of the largest of its row.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import lightgbm
import numpy as np
import xgboost

import rankinite as rk
from _measure import SCRATCH, machine, sized, write_section

FEATURES, DOCUMENTS, TRAINING_ROWS = 136, 100, sized(20_000, 1_000)
Split = Callable[[], np.ndarray]


def rows() -> np.ndarray:
    """Skewed features, one in twenty missing."""
    random = np.random.default_rng(0)
    matrix = random.gamma(1.5, 1.0, size=(TRAINING_ROWS, FEATURES)).astype(np.float32)
    matrix[random.random(matrix.shape) < 0.05] = np.nan
    return matrix


def grades(matrix: np.ndarray) -> np.ndarray:
    """Sums, products and steps of some features, and noise, in five grades."""
    random, known = np.random.default_rng(1), np.nan_to_num(matrix)
    value = known[:, :20] @ random.normal(size=20) + known[:, 3] * known[:, 5] - known[:, 7] * (known[:, 9] > 1)
    value += random.normal(size=len(known))
    return np.digitize(value, np.quantile(value, [0.5, 0.75, 0.9, 0.97]))


def lightgbm_model(path: Path, trees: int, threads: int) -> lightgbm.Booster:
    if not path.exists():
        matrix = rows()
        data = lightgbm.Dataset(matrix, grades(matrix), group=[DOCUMENTS] * (TRAINING_ROWS // DOCUMENTS))
        settings = {"objective": "lambdarank", "num_leaves": 31, "num_threads": threads, "verbosity": -1}
        lightgbm.train(settings, data, trees).save_model(path)
    return lightgbm.Booster(model_file=path)


def xgboost_model(path: Path, trees: int, threads: int) -> xgboost.Booster:
    if not path.exists():
        matrix = rows()
        data = xgboost.DMatrix(matrix, grades(matrix))
        data.set_group([DOCUMENTS] * (TRAINING_ROWS // DOCUMENTS))
        xgboost.train({"objective": "rank:ndcg", "max_depth": 6, "nthread": threads}, data, trees).save_model(path)
    return xgboost.Booster({"nthread": threads}, model_file=path)


def own_model(path: Path, trees: int) -> rk.Forest:
    if not path.exists():
        matrix = rows()
        data = rk.read(matrix, grades=grades(matrix), group=[DOCUMENTS] * (TRAINING_ROWS // DOCUMENTS))
        rk.LambdaMART(trees=trees).fit(data).save(path)
    return rk.load(path)


def timed(split: Split) -> tuple[float, np.ndarray]:
    started = time.perf_counter()
    values = split()
    return time.perf_counter() - started, values


def raced(name: str, theirs: Split | None, ours: Split, rounds: int) -> str:
    """One line of the table: medians of both, taken in turn."""
    ours()  # compiles
    seconds: tuple[list[float], list[float]] = ([], [])
    other = values = np.zeros((0, 0))
    for _ in range(rounds):
        took, values = timed(ours)
        seconds[0].append(took)
        if theirs is not None:
            took, other = timed(theirs)
            seconds[1].append(took)
    mine = statistics.median(seconds[0])
    if theirs is None:
        return f"| {name} | – | {mine:.2f} s | – | – |"
    library = statistics.median(seconds[1])
    differ = (np.abs(values - other) / np.abs(other).max(axis=1, keepdims=True)).max()
    print(f"{name}: {library:.2f} s, rankinite {mine:.2f} s: {library / mine:.1f} times", flush=True)
    return f"| {name} | {library:.2f} s | {mine:.2f} s | {library / mine:.1f} | {differ:.0e} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("trees", sized(500, 5)), ("rows", sized(10_000, 200)), ("threads", 2), ("rounds", sized(3, 1))):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    SCRATCH.mkdir(exist_ok=True)
    matrix, shape = rows()[: asked.rows], f"{asked.trees}"
    light_path, xgb_path = SCRATCH / f"explaining-lightgbm-{shape}.txt", SCRATCH / f"explaining-xgboost-{shape}.json"
    light = lightgbm_model(light_path, asked.trees, asked.threads)
    boosted = xgboost_model(xgb_path, asked.trees, asked.threads)
    own = own_model(SCRATCH / f"explaining-symmetric-{shape}.rankinite", asked.trees)
    imported = {"lightgbm": rk.load(light_path), "xgboost": rk.load(xgb_path)}
    data = xgboost.DMatrix(matrix)
    with rk.threads(asked.threads):
        lines = [
            raced(
                f"LightGBM, {asked.trees} trees of 31 leaves",
                lambda: light.predict(matrix, pred_contrib=True, num_threads=asked.threads)[:, :-1],
                lambda: imported["lightgbm"].contributions(matrix).values,
                asked.rounds,
            ),
            raced(
                f"XGBoost, {asked.trees} trees of depth 6",
                lambda: boosted.predict(data, pred_contribs=True)[:, :-1],
                lambda: imported["xgboost"].contributions(matrix).values,
                asked.rounds,
            ),
            raced(
                f"rankinite, {len(own)} symmetric trees of 64 leaves",
                None,
                lambda: own.contributions(matrix).values,
                asked.rounds,
            ),
        ]
    where = machine(["rankinite", "lightgbm", "xgboost", "numba"])
    size = f"{asked.rows:,} rows, {FEATURES} features, {asked.threads} threads; medians of {asked.rounds} rounds, in turn"
    lead = f"{where} {size} (`python benchmarks/explaining.py`)."
    head = ["| model | its library | rankinite | times as fast | differ by |", "|---|--:|--:|--:|--:|"]
    text = "\n".join([lead, "", *head, *lines])
    print(text)
    write_section("Contributions of features", text)


if __name__ == "__main__":
    main()
