"""The twelve models of paper 004 (Tables 2 and 3) on five folds: single models, subsets, the average, and students of it.

    RANKINITE_DATA=… python benchmarks/challenge.py [--data mq2007 mq2008]

Scores of each fold are kept in the folder for scratch files, so that a run that was ended goes on.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace

import numpy as np

import rankinite as rk
from _measure import SCRATCH, machine, write_section
from quality import DRAWN, folds
from rankinite.ensembles import challenge

TREES, LEAVES, RATE = 300, 16, 0.1
LEARNER = rk.LambdaMART(trees=TREES, leaves=LEAVES, rate=RATE, patience=50, train_history=False, **DRAWN)
NET = rk.LambdaRank(hidden=(10,), rate=0.001, restarts=1, train_history=False)
POINTS = rk.MART(trees=TREES, leaves=LEAVES, rate=RATE, patience=50, train_history=False)
MEASURES = [rk.NDCG(10), rk.ERR(max_grade=2)]
SINGLE, ALL = "one LambdaMART, NDCG@10", "M1–M12"
SUBSETS = {
    "M1–M10": range(1, 11),
    "M1–M8": range(1, 9),
    "M1–M8, M11, M12": (*range(1, 9), 11, 12),
    "M2, M3, M6, M7": (2, 3, 6, 7),
    "M1, M4, M5, M8–M12": (1, 4, 5, *range(8, 13)),
    "M1–M4, M9": (1, 2, 3, 4, 9),
    "M5–M8, M10": (5, 6, 7, 8, 10),
}
"""The ensembles of the paper's Table 3."""
STUDENTS = (100, 300)
ABOUT = f"""Five LETOR folds. The twelve models learn from the three training parts alone: bags deal them into ten parts, single
models stop by one of these. {SINGLE} learns from the same parts and stops by the validation part, which nothing else looks
at. LambdaMART and MART: {LEAVES} leaves, rate {RATE}, at most {TREES} trees, stopped after 50 without a better value;
LambdaMART draws 70 % of the rows per tree and half of the features per node. Nets: 10 hidden units, one restart. Nothing is
tuned. Members are scaled to unit variance on the training data and averaged. Students are of at most 100 and 300 trees,
distilled from all twelve on the training parts; "direct" is LambdaMART of the student's size. The test parts of all folds are
evaluated together, queries of one grade skipped; ±: half the 95 % interval over queries."""


def fold_scores(fold: tuple[rk.Dataset, rk.Dataset, rk.Dataset]) -> dict[str, np.ndarray]:
    """The scores of the test part by every system of a fold."""
    train, valid, test = fold
    twelve = challenge(LEARNER, NET, POINTS, max_grade=2)
    rankers = {name: trainer.fit(train) for name, trainer in twelve.trainers.items()}
    found = {SINGLE: LEARNER.fit(train, valid), **rankers}
    ensemble = rk.combine.average(rankers, train).ranker
    found[ALL] = ensemble
    for name, numbers in SUBSETS.items():
        found[name] = rk.combine.average({f"M{number}": rankers[f"M{number}"] for number in numbers}, train).ranker
    scores = {name: ranker.score(test) for name, ranker in found.items()}
    for trees in STUDENTS:
        for how in ("select", "grow"):
            scores[f"{how}, {trees} trees"] = rk.distil(ensemble, train, trees=trees, leaves=LEAVES, how=how).ranker.score(test)
        direct = replace(LEARNER, trees=trees, patience=None, rate=min(0.3, 10.0 / trees))
        scores[f"direct, {trees} trees"] = direct.fit(train).score(test)
    return scores


def kept(name: str, number: int, fold: tuple[rk.Dataset, rk.Dataset, rk.Dataset]) -> dict[str, np.ndarray]:
    path = SCRATCH / "challenge" / f"{name}-{number + 1}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        started = time.perf_counter()
        part = path.with_suffix(".part.npz")
        np.savez(part, **fold_scores(fold))
        part.replace(path)
        print(f"{name} fold {number + 1}: {time.perf_counter() - started:.0f} s", flush=True)
    with np.load(path) as stored:
        return {system: stored[system] for system in stored.files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=["mq2008", "mq2007"])
    names = parser.parse_args().data
    if not os.environ.get("RANKINITE_DATA"):
        print("RANKINITE_DATA does not name a folder with mq2007 and mq2008; the twelve models are not measured.")
        return
    for name in names:
        parts = folds(name)
        found = [kept(name, number, fold) for number, fold in enumerate(parts)]
        data = replace(rk.concat([test for _, _, test in parts]), source=f"{name}, test parts of five folds")
        scores = {system: np.concatenate([one[system] for one in found]) for system in found[0]}
        result = rk.compare(scores, data, MEASURES, against=[SINGLE, ALL])
        rows = [result.pair(system, rival, MEASURES[0]) for rival in (SINGLE, ALL) for system in scores if system != rival]
        lines = ["| NDCG@10 of | less that of | difference | 95 % interval | Holm p |", "|---|---|--:|---|--:|"]
        for pair in rows:
            low, high = pair.interval
            p = pair.p("randomisation").holm
            lines.append(f"| {pair.first} | {pair.second} | {pair.difference:+.4f} | {low:+.4f} to {high:+.4f} | {p:.4f} |")
        text = "\n\n".join([machine(["rankinite", "numba", "numpy"]), ABOUT, result.to_markdown(), "\n".join(lines)])
        print(text, flush=True)
        write_section(f"The twelve models: {name}", text)


if __name__ == "__main__":
    main()
