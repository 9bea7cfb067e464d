"""Does ``adapt.choose`` keep its promises? Problems drawn at random, with and without a shift, and the truth of each.

    python benchmarks/calibration.py draw settling            # what the prior is estimated from: 1,200 problems, an hour
    python benchmarks/calibration.py draw judging             # 600 others, which settle nothing
    RANKINITE_DATA=… python benchmarks/calibration.py draw real
    python benchmarks/calibration.py judge                    # promises against what came

A problem is a background, judged target queries, and how every method does on them unseen and on thousands of new queries. All
of it follows from a number. Runs can be interrupted; finished problems are kept in .bench/calibration, then in one file in
benchmarks/cells.

Half of the problems have no shift: the target's queries are of the background's domain, judged alike, with more noise, by
stricter grades or by two grades. In the others the domain is another one, too. Backgrounds: a forest of 200 to 1,500 queries, a
small forest of 15 to 40, and a linear ranker of 200 to 1,500.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import rankinite as rk
from _adaptation_cells import read_cells
from _adaptation_groups import Group, grouped
from _measure import SCRATCH, machine, sized, write_section
from rankinite.adapt.decision import Verdict, decide, random_orders
from rankinite.grid import Grid

SEEDS = {
    "settling": (*range(600), *range(100_000, 100_600)),
    "judging": range(300_000, 300_600),
    "real": range(200_000, 200_150),
}
"""The numbers of problems: those that the prior is estimated from, those that judge it, and those of real collections.

The second half of those that settle were drawn to judge an earlier estimate, which they showed to promise too little.
"""
FORMERLY = {True: ("1 of 18", "+0.0464"), False: ("0 of 9", "+0.0537")}
"""On real and artificial pairs of the benchmark: in how many cells 0.2.0 kept the background, and what it brought."""
KEPT = Path(__file__).parent / "cells"
MEASURE = rk.NDCG(10)
TEST_QUERIES = 3000
GRADINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "alike": lambda grades: grades,
    "stricter": lambda grades: np.maximum(grades - 1, 0),
    "binary": lambda grades: (grades >= 2).astype(grades.dtype),
}


@dataclass(frozen=True)
class Material:
    """What a problem is made of."""

    about: dict[str, object]
    """The settings that were drawn."""
    background: rk.Ranker
    background_data: rk.Dataset
    target: rk.Dataset
    test: rk.Dataset
    with_data: bool
    """Whether ``choose`` is given the background's data."""


def generated(seed: int) -> Material:
    """An artificial problem; shifted if the number is odd, and the kind of background by what is left."""
    random = np.random.default_rng([20_261_119, seed])
    shifted, kind = bool(seed % 2), ("forest", "small forest", "linear")[seed // 2 % 3]
    shift = 0.9 * float(random.random()) ** 1.5 if shifted else 0.0
    noise, documents, features = float(random.uniform(0.0, 0.6)), int(random.integers(8, 21)), int(random.integers(6, 21))
    noisier = float(random.uniform(0.3, 1.0)) if random.random() < 0.25 else 0.0
    grading = str(random.choice(list(GRADINGS), p=(0.5, 0.25, 0.25)))
    queries = int(np.exp(random.uniform(np.log(5.0), np.log(301.0))))
    judged = int(random.integers(15, 41) if kind == "small forest" else np.exp(random.uniform(np.log(200.0), np.log(1500.0))))
    settings = {"features": features, "documents": documents, "shift": shift, "seed": seed}
    world, target_world = rk.World(noise=noise, **settings), rk.World(noise=noise + noisier, **settings)
    background_data = rk.synthesise(judged, world=world)
    # Without a shift the target is of domain 0 too: its training queries are that domain's "valid" ones.
    place = {"domain": 1, "part": "train"} if shifted else {"domain": 0, "part": "valid"}
    target = rk.synthesise(queries, world=target_world, **place).map_grades(GRADINGS[grading])
    test = rk.synthesise(TEST_QUERIES, world=target_world, domain=place["domain"], part="test").map_grades(GRADINGS[grading])
    about = {"shifted": shifted, "background": kind, "shift": shift, "noise": noise, "noisier": noisier, "grading": grading,
             "background_queries": judged, "documents": documents, "features": features}  # fmt: skip
    ranker = _background(kind, background_data, seed)
    return Material(about, ranker, background_data, target, test, with_data=bool(random.random() < 0.5))


def _background(kind: str, data: rk.Dataset, seed: int) -> rk.Ranker:
    if kind == "linear":
        return rk.LambdaRank(hidden=(), epochs=30, rate=0.01, seed=seed).fit(data)
    trees, leaves = (100, 8) if kind == "forest" else (15, 6)
    return rk.LambdaMART.plain(trees=trees, leaves=leaves, min_rows=5, measure=MEASURE, seed=seed).fit(data)


def real(seed: int) -> Material:
    """Two collections, or two halves of one; grades above 0 are 1."""
    random = np.random.default_rng([20_261_119, seed])
    shifted, kind = bool(seed % 2), ("forest", "small forest", "linear")[seed // 2 % 3]
    names = _collections()
    first = str(random.choice(names))
    second = str(random.choice([name for name in names if name != first])) if shifted else first
    background_data, target = _collection(first), _collection(second)
    if not shifted:
        background_data, target = rk.split(target, (0.5, 0.5), seed=seed)
    pool, test = rk.split(target, (0.5, 0.5), seed=seed + 1)
    queries = min(pool.queries, int(np.exp(random.uniform(np.log(5.0), np.log(301.0)))))
    if kind == "small forest":
        background_data = background_data.select_queries(np.arange(min(20, background_data.queries)))
    about = {"shifted": shifted, "background": kind, "from": first, "to": second}
    chosen = np.sort(random.permutation(pool.queries)[:queries])
    ranker = _background(kind, background_data, seed)
    return Material(about, ranker, background_data, pool.select_queries(chosen), test, with_data=bool(random.random() < 0.5))


def _collections() -> list[str]:
    folder = Path(os.environ["RANKINITE_DATA"], "classic")
    return [*sorted(path.name.removesuffix(".txt.gz") for path in folder.glob("*.txt.gz")), "mq2007", "mq2008"]


def _collection(name: str) -> rk.Dataset:
    """A classic collection, whose features are its own; or a sample of a Million Query set."""
    data = Path(os.environ["RANKINITE_DATA"])
    if not name.startswith("mq"):
        return rk.read(data / "classic" / f"{name}.txt.gz").map_grades(lambda grades: (grades > 0).astype(grades.dtype))
    return rk.concat([rk.read(data / name / f"S{k}.txt.gz") for k in (1, 2)])


# ---- one problem ---------------------------------------------------------------------------------------------------------


def solved(seed: int) -> dict[str, object]:
    """What ``choose`` saw and said, and what is true."""
    made = real(seed) if seed in SEEDS["real"] else generated(seed)
    about = {"seed": seed, **made.about, "queries": made.target.queries, "with_data": made.with_data}
    try:
        choice = rk.adapt.choose(
            made.background, made.target, background_data=made.background_data if made.with_data else None,
            methods=["average"], measure=MEASURE, seed=seed, curve=False, same_scale=True, allow_overlap=True,
        )  # fmt: skip
    except rk.RankiniteError as problem:  # such as fewer than three queries with documents of different grades
        return {**about, "refused": str(problem)}
    verdict, orders = choice.verdict, random_orders(made.target, MEASURE, seed)
    unseen = {name: _values(choice.unseen[name][MEASURE].per_query) for name in choice.unseen.systems}
    test = {trial.method.name: rk.evaluate(trial.ranker, made.test, MEASURE)[MEASURE].per_query for trial in choice.trials}
    gains = {name: test[name] - test["background"] for name in test}
    return {
        **about,
        "chosen": choice.name,
        "decision": verdict.decision,
        "shift_seen": verdict.signs.shift,
        "background_queries": verdict.signs.background_queries,
        "random_orders": (float(orders.mean()), float(orders.std(ddof=1))),
        "unseen": unseen,
        "background_mean": float(np.nanmean(test["background"])),
        "gains": {name: (float(np.nanmean(gain)), float(np.nanstd(gain, ddof=1))) for name, gain in gains.items()},
        "test_queries": int(np.count_nonzero(~np.isnan(test["background"]))),
    }


def _values(per_query: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in per_query[~np.isnan(per_query)]]


# ---- all of them ---------------------------------------------------------------------------------------------------------


def draw(kind: str, workers: int) -> None:
    """Solve what is not solved yet, and keep all in one file."""
    folder = SCRATCH / "calibration"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [seed for seed in SEEDS[kind] if not (folder / f"{seed}.json").exists()]
    with get_context("spawn").Pool(workers) as pool:
        for done, seed in enumerate(pool.imap_unordered(_keep, missing), 1):
            print(f"{kind}: {done} of {len(missing)} ({seed})", file=sys.stderr, flush=True)
    every = [json.loads((folder / f"{seed}.json").read_text()) for seed in SEEDS[kind]]
    with lzma.open(KEPT / f"calibration-{kind}.json.xz", "wt") as file:
        json.dump(every, file)


def _keep(seed: int) -> int:
    with rk.threads(1):
        text = json.dumps(solved(seed))
    path = SCRATCH / "calibration" / f"{seed}.json"
    path.with_suffix(".part").write_text(text)
    path.with_suffix(".part").rename(path)
    return seed


def problems(kind: str) -> Iterator[dict]:
    """The kept problems of a kind that could be tried."""
    with lzma.open(KEPT / f"calibration-{kind}.json.xz", "rt") as file:
        yield from (problem for problem in json.load(file)[:: sized(1, 7)] if "refused" not in problem)


# ---- promises against what came --------------------------------------------------------------------------------------------


def judge() -> str:
    """The tables of the problems that settled nothing."""
    from gain_prior import by_class, cell_rows, crossed_cells, problem_rows, table  # which reads the problems that settle
    from rankinite.adapt.gain import GainPosterior

    found = [(problem, problem_rows(problem)[0]) for problem in problems("judging")]
    promises = [(row, GainPosterior.of(row.evidence, row.signs)) for _, row in found]
    kinds = [
        (f"{kind}, {'shifted' if shifted else 'not shifted'}", [
            promise for promise, (problem, _) in zip(promises, found, strict=True)
            if problem["background"] == kind and problem["shifted"] == shifted
        ])
        for kind in ("forest", "small forest", "linear") for shifted in (True, False)
    ]  # fmt: skip
    few, many = ([promise for promise in promises if (promise[0].evidence.queries < 30) == is_few] for is_few in (True, False))
    sizes = [("fewer than 30 queries", few), ("30 and more", many)]
    title = f"{len(found)} problems that settled nothing"
    groups = grouped(read_cells("methods", SCRATCH / "adaptation"))
    usual = [row for problem in problems("settling") for row in problem_rows(problem) if not row.signs.picked]
    real = {group.pair.name for group in groups if group.pair.real}
    left_out = crossed_cells(usual, cell_rows(groups))
    cells = [
        ("six real pairs", [promise for promise in left_out if promise[0].pair in real]),
        ("three artificial pairs", [promise for promise in left_out if promise[0].pair not in real]),
    ]
    tables = (
        table([*by_class(promises), *kinds, *sizes], title), rules(found),
        table(cells, "Cells of the adaptation benchmark, each pair by a prior without it"), on_cells(groups),
    )  # fmt: skip
    return "\n\n".join(one.markdown() for one in tables)


def on_cells(groups: Sequence[Group]) -> Grid:
    """The verdicts on the adaptation benchmark, each pair by a prior without it."""
    from gain_prior import decided, difference

    lines, groups = [], decided(groups)
    for name, real in (("six real pairs", True), ("three artificial pairs", False)):
        own = [cell for group in groups for cell in group.cells if group.pair.real == real]
        gains = np.asarray([difference(cell, cell["chosen"]).mean() for cell in own])
        decisions = np.asarray([cell["decision"] for cell in own])
        counts = " / ".join(str(int((decisions == one).sum())) for one in ("deploy", "try online", "keep"))
        brought = float((gains * (decisions != "keep")).mean())
        expected = float(np.mean([cell["expected"] for cell in own]))
        kept, before = FORMERLY[real]
        lines.append((name, str(len(own)), counts, f"{expected:+.4f}", f"{gains.mean():+.4f}", f"{brought:+.4f}", kept, before))
    header = ("cells of", "cells", "deploy / try / keep", "expected", "chosen brings", "recommended brings",
              "kept in 0.2.0", "recommended brought in 0.2.0")  # fmt: skip
    return Grid(header, tuple(lines), "l" + "r" * 7, "Verdicts on the adaptation benchmark")


def rules(found: Sequence[tuple[dict, Any]]) -> Grid:
    """What the decision costs against knowing the truth, beside the rule of 0.2.0 on the same problems."""
    verdicts = {problem["seed"]: verdict_on(problem) for problem, _ in found}
    lines = []
    for name, is_kind in (("all", None), ("shifted", True), ("not shifted", False)):
        own = [(problem, row.gain) for problem, row in found if is_kind in (None, problem["shifted"])]
        decisions = [verdicts[problem["seed"]].decision for problem, _ in own]
        gains = np.asarray([gain for _, gain in own])
        takes = np.asarray([decision != "keep" for decision in decisions])
        deploys = np.asarray([decision == "deploy" for decision in decisions])
        took = np.asarray([problem["formerly"]["recommended"] != "background" for problem, _ in own])
        best = np.maximum(gains, 0.0)
        counts = " / ".join(str(decisions.count(one)) for one in ("deploy", "try online", "keep"))
        cells = (f"{np.mean(best - gains * taken):.4f}" for taken in (takes, deploys, took))
        lost = (f"{int((taken & (gains < -0.01)).sum())} of {int(taken.sum())}" for taken in (takes, deploys, took))
        lines.append((name, counts, *cells, *lost))
    header = ("of", "deploy / try / keep", "cost, tried taken", "cost, tried kept", "cost in 0.2.0",
              "lose > 0.01, tried taken", "deployed", "in 0.2.0")  # fmt: skip
    note = "Cost: mean NDCG@10 below knowing the truth, were the ranker deployed, tried online or kept as decided."
    return Grid(header, tuple(lines), "l" + "r" * 7, "The decision against knowing the truth", (note,))


def verdict_on(problem: dict) -> Verdict:
    """What the rule says of a problem."""
    unseen = {name: np.asarray(own) for name, own in problem["unseen"].items()}
    mean, spread = problem["random_orders"]
    orders = mean + spread * np.asarray([-0.5, 0.5]) * 2**0.5  # two with this mean and deviation
    seen = {"shift": problem["shift_seen"], "background_queries": problem["background_queries"]}
    return decide(unseen, random_orders=orders, **seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "judge"))
    parser.add_argument("kind", nargs="?", choices=tuple(SEEDS), default="judging")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.what == "draw":
        draw(given.kind, given.workers)
        return
    text = judge()
    print(text)
    write_section("Promises of adaptation", "\n\n".join([machine(["rankinite", "numba", "numpy"]), __doc__, text]))


if __name__ == "__main__":
    main()
