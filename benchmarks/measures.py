"""How fast measures are: mean NDCG@10 and ERR of a million documents in 25,000 queries.

    python benchmarks/measures.py [--rounds 3]

rankinite is timed twice: from raw scores (``evaluate`` sorts, handles ties, and gives intervals), and on documents that are
ranked already. ranx starts from what it is fastest on: arrays of ids and scores that are sorted already. ir-measures gets
a ready evaluator and run; scikit-learn a matrix. ranx and scikit-learn have no ERR; ir-measures computes it by a Perl
script that has a cutoff, here 40, the length of the lists.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np

from _measure import Runs, machine, race, sized, write_section

QUERIES, DOCUMENTS = sized(25_000, 50), 40
HAS_RANX = importlib.util.find_spec("ranx") is not None
"""It comes with the extra 'bench'; without it, it is left out."""


def drawn() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    grades = rng.choice(5, (QUERIES, DOCUMENTS), p=[0.3704, 0.2855, 0.2714, 0.0523, 0.0204])
    return grades, rng.normal(size=(QUERIES, DOCUMENTS)) + 0.5 * grades


def rankinite(measure: str) -> Callable[[], float]:
    import rankinite as rk

    grades, scores = drawn()
    data = rk.read(np.zeros((grades.size, 1), np.float32), grades=grades.ravel(), group=[DOCUMENTS] * QUERIES)
    flat = scores.ravel()
    return lambda: rk.evaluate(flat, data, measure)[measure].mean


def rankinite_ranked(measure: str) -> Callable[[], float]:
    import rankinite as rk

    grades, scores = drawn()
    offsets = np.arange(0, grades.size + 1, DOCUMENTS)
    ranking, parsed = rk.rank(scores.ravel(), grades.ravel().astype(np.float32), offsets), rk.parse_measure(measure)
    return lambda: float(np.mean(parsed.per_query(ranking)))


def ranx() -> Callable[[], float]:
    import ranx as library

    grades, scores = drawn()
    ids = np.broadcast_to(np.arange(DOCUMENTS, dtype=float), grades.shape)

    def sorted_pairs(values: np.ndarray) -> np.ndarray:
        order = np.argsort(-values, axis=1, kind="stable")
        return np.stack([np.take_along_axis(ids, order, 1), np.take_along_axis(values, order, 1)], axis=2)

    qrels, run = sorted_pairs(grades.astype(float)), sorted_pairs(scores)
    return lambda: float(library.evaluate(qrels, run, "ndcg_burges@10"))


def sklearn() -> Callable[[], float]:
    from sklearn.metrics import ndcg_score

    grades, scores = drawn()
    gains = 2.0**grades - 1.0
    return lambda: float(ndcg_score(gains, scores, k=10))


def ir_measures(name: str) -> Callable[[], float]:
    import ir_measures as library

    grades, scores = drawn()
    gains = 2**grades - 1 if name.startswith("nDCG") else grades  # trec_eval's gain is linear
    rows = [(str(q), f"d{d}") for q in range(QUERIES) for d in range(DOCUMENTS)]
    qrels = [library.Qrel(q, d, int(g)) for (q, d), g in zip(rows, gains.ravel(), strict=True)]
    run = [library.ScoredDoc(q, d, float(s)) for (q, d), s in zip(rows, scores.ravel(), strict=True)]
    measure = library.parse_measure(name)
    evaluator = library.evaluator([measure], qrels)
    return lambda: evaluator.calc_aggregate(run)[measure]


CONTENDERS: dict[str, Callable[[], Callable[[], float]]] = {
    "rankinite NDCG@10, from scores": lambda: rankinite("ndcg@10"),
    "rankinite NDCG@10, ranked already": lambda: rankinite_ranked("ndcg@10"),
    "ranx NDCG@10, ranked already": ranx,
    "scikit-learn NDCG@10": sklearn,
    "ir-measures NDCG@10": lambda: ir_measures("nDCG@10"),
    "rankinite ERR, from scores": lambda: rankinite("err"),
    "rankinite ERR, ranked already": lambda: rankinite_ranked("err"),
    "ir-measures ERR@40": lambda: ir_measures("ERR@40"),
}


def contend(name: str) -> None:
    """The median time of a call, after a first one that compiles."""
    warnings.simplefilter("ignore")
    call = CONTENDERS[name]()
    value, times = call(), []
    while sum(times) < sized(2.0, 0.05) and len(times) < 50:
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    print(json.dumps({"seconds": statistics.median(times), "value": value}))


def report(contenders: list[Runs], others: float) -> str:
    by_name = {runs.name: runs for runs in contenders}
    lines = [
        f"Mean of {QUERIES:,} queries × {DOCUMENTS} documents, two threads. Others used {others:.0%} of the machine meanwhile.",
        machine(["rankinite", "numba", "ranx", "scikit-learn", "ir-measures"]),
        "",
        "| contender | median ms | best ms | value | against rankinite from scores | against rankinite ranked already |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for runs in contenders:
        measure = "ERR" if "ERR" in runs.name else "NDCG@10"
        scored, ranked = (by_name[f"rankinite {measure}, {start}"].median for start in ("from scores", "ranked already"))
        lines.append(
            f"| {runs.name} | {runs.median * 1e3:.1f} | {runs.best * 1e3:.1f} | {runs.reports[0]['value']:.5f} "
            f"| {runs.median / scored:.1f}× | {runs.median / ranked:.1f}× |"
        )
    return "\n".join(lines)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--contender")
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    if given.contender:
        contend(given.contender)
        return
    names = [name for name in CONTENDERS if HAS_RANX or not name.startswith("ranx")]
    contenders, others = race(__file__, names, [], given.rounds)
    text = report(contenders, others)
    print(text)
    write_section("Measures (benchmarks/measures.py)", text)


if __name__ == "__main__":
    main()
