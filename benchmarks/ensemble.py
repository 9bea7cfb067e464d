"""Six models and every way to combine them, on held-out queries, in the manner of paper 004, Table 1 (§4.3).

    RANKINITE_DATA=… python benchmarks/ensemble.py [--small] [--data mq2007 mq2008]

``--small`` tries everything on two folds of 80 queries with 10 trees, prints, and leaves the page of results as it is.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

import rankinite as rk
from _measure import machine, write_section
from quality import DRAWN, folds
from rankinite.evaluation.significance import holm
from rankinite.grid import Grid, number, p_value

TREES, LEAVES, RATE = 300, 16, 0.1
HIDDEN, NET_RATE, RESTARTS = (10,), 0.001, 1
NDCG10, ERR2 = rk.NDCG(10), rk.ERR(max_grade=2)
CALLED = {NDCG10: "NDCG@10", ERR2: "ERR"}
MODELS = (
    "1. LambdaMART for ERR",
    "2. LambdaMART for ERR, Aug70",
    "3. LambdaMART for NDCG@10",
    "4. LambdaMART for NDCG@10, Aug70",
    "5. two-layer LambdaRank for ERR",
    "6. two-layer LambdaRank for NDCG@10",
)
RANGE = (0.0, 5.0)
BRACKETS = {"Tree 1": (((1, 3), (2, 4)), (5, 6)), "Tree 2": (((4, 5), (1, 6)), (2, 3))}
PLAIN = "all six averaged, scaled over all"
ABOUT = f"""Five LETOR folds. Models train on the three training parts; of the validation part, one half of the queries stops
training early (by the measure trained for), and the other half, which no model has seen, is what combinations are chosen on
(the combining half). LambdaMART: the settings of "rankinite" in benchmarks/quality.py, {LEAVES} leaves, rate {RATE}, at
most {TREES} trees. LambdaRank: {HIDDEN[0]} hidden units, rate {NET_RATE}, {RESTARTS} restart. Nothing is tuned. Aug70: the
training queries and five samples of 70 % of their documents. Tree 1 is (((1,3),(2,4)),(5,6)), Tree 2 (((4,5),(1,6)),(2,3));
exact weights lie in [0, 5]. "Smoothed": of scores scaled to unit variance, with the width of smoothing chosen by five-fold
cross-validation within the combining half. Greedy, cyclic (from the average) and Powell also scale scores to unit variance.
Stacked LambdaRank trains on the combining half, and the epoch kept is the best one there; two-layer: {HIDDEN[0]} hidden
units. Test parts, and combining halves, of all folds are joined and evaluated as in benchmarks/quality.py: expected values
under ties, queries of one grade skipped."""

Models = Mapping[str, rk.Forest | rk.Net]
Way = Callable[[Models, rk.Dataset], rk.combine.Combination]


def trained(train: rk.Dataset, stop: rk.Dataset, trees: int) -> Models:
    """The six models of a fold, in the order of their numbers."""
    forest = partial(rk.LambdaMART, trees=trees, leaves=LEAVES, rate=RATE, train_history=False, **DRAWN)
    net = partial(rk.LambdaRank, hidden=HIDDEN, rate=NET_RATE, restarts=RESTARTS, train_history=False)
    sampled = rk.augment(train, *rk.AUG70)
    runs = [(forest, measure, data) for measure in (ERR2, NDCG10) for data in (train, sampled)]
    runs += [(net, measure, train) for measure in (ERR2, NDCG10)]
    return {name: make(measure=measure).fit(data, stop) for name, (make, measure, data) in zip(MODELS, runs, strict=True)}


def averaged(models: Models, half: rk.Dataset, *, numbers=range(1, 7), scale="all") -> rk.combine.Combination:
    listed = list(models.values())
    return rk.combine.average([listed[number - 1] for number in numbers], half, scale=scale)


def exact(models: Models, half: rk.Dataset, *, order, measure, **settings) -> rk.combine.Combination:
    return rk.combine.exact(*rk.combine.nested_by_number(models, order), half, measure, range=RANGE, **settings)


def ways_to_combine() -> dict[str, Way]:
    ways: dict[str, Way] = {
        PLAIN: averaged,
        "all six averaged, scaled by query": partial(averaged, scale="query"),
        "all six averaged, scaled by rank": partial(averaged, scale="rank"),
        "2 and 4 averaged": partial(averaged, numbers=(2, 4)),
        "1, 2, 3 and 4 averaged": partial(averaged, numbers=(1, 2, 3, 4)),
    }
    combine, smoothed = rk.combine, {"folds": 5, "normalise": True}
    scaled = {"normalise": True, "range": RANGE}
    for measure, called in CALLED.items():
        for tree, order in BRACKETS.items():
            ways[f"{tree}, exact, for {called}"] = partial(exact, order=order, measure=measure)
            ways[f"{tree}, smoothed, for {called}"] = partial(exact, order=order, measure=measure, **smoothed)
        ways[f"greedy, for {called}"] = partial(combine.greedy, measure=measure, **scaled)
        ways[f"cyclic, for {called}"] = partial(combine.cyclic, measure=measure, **scaled)
        ways[f"Powell, for {called}"] = partial(combine.powell, measure=measure)
        ways[f"stacked linear, for {called}"] = partial(combine.stacked, measure=measure)
        ways[f"stacked two-layer, for {called}"] = partial(combine.stacked, measure=measure, hidden=HIDDEN)
    return ways


@dataclass
class Joined:
    """Queries of all folds, and the scores that the models and combinations of each fold give them."""

    source: str
    parts: list[rk.Dataset] = field(default_factory=list)
    scores: list[dict[str, np.ndarray]] = field(default_factory=list)

    def add(self, part: rk.Dataset, rankers: Mapping[str, object]) -> None:
        self.parts.append(part)
        self.scores.append({name: ranker.score(part) for name, ranker in rankers.items()})

    def data(self) -> rk.Dataset:
        return replace(rk.concat(self.parts), source=self.source)

    def of(self, name: str) -> np.ndarray:
        return np.concatenate([scores[name] for scores in self.scores])

    def evaluated(self) -> dict[str, rk.Evaluation]:
        data = self.data()
        return {name: rk.evaluate(self.of(name), data, list(CALLED)) for name in self.scores[0]}


def run(fold, count: int, trees: int, ways: Mapping[str, Way], halves: Joined, tests: Joined) -> None:
    """Train and combine on one fold, and keep what all of it says of the combining half and of the test part."""
    started = time.perf_counter()
    train, valid, test = fold
    stop, half = rk.split(valid, (0.5, 0.5), seed=count)
    models = trained(train, stop, trees)
    print(f"fold {count + 1}: six models, {time.perf_counter() - started:.0f} s", flush=True)
    rankers = dict(models)
    for name, way in ways.items():
        found = way(models, half)
        rankers[name] = found.ranker
        print(f"fold {count + 1}: {name:40} {CALLED[found.measure]} {found.value:.4f} on the combining half", flush=True)
    halves.add(half, rankers)
    tests.add(test, rankers)
    print(f"fold {count + 1}: {time.perf_counter() - started:.0f} s in all", flush=True)


def means_grid(found: Mapping[str, rk.Evaluation], notes: tuple[str, ...]) -> Grid:
    """Paper 004's Table 1: ERR and NDCG of every model and combination."""
    rows, strong = [], set()
    for row, (name, evaluation) in enumerate(found.items()):
        cells = [name]
        for column, measure in enumerate((ERR2, NDCG10), 1):
            low, high = evaluation[measure].interval
            cells.append(f"{number(evaluation[measure].mean)} ±{number((high - low) / 2)}")
            if evaluation[measure].mean == max(other[measure].mean for other in found.values()):
                strong.add((row, column))
        rows.append(tuple(cells))
    return Grid(("model", "ERR", "NDCG@10"), tuple(rows), "lrr", "Joined test parts", notes, frozenset(strong))


def chosen_grid(halves: Mapping[str, rk.Evaluation], tests: Mapping[str, rk.Evaluation]) -> Grid:
    """What combinations gain over the plain average where they were chosen, and what is left of it on test data."""
    rows = []
    for name in halves:
        for measure, called in CALLED.items():
            if name in MODELS or name.endswith(f"for {called}") or " for " not in name:
                own, test = halves[name][measure].mean, tests[name][measure].mean
                gains = [value - data[PLAIN][measure].mean for value, data in ((own, halves), (test, tests))]
                rows.append((name, called, number(own), number(test), *(number(gain, signed=True) for gain in gains)))
    header = ("model", "measure", "combining halves", "test parts", "over the plain average: halves", "test")
    note = (
        "A combination chosen for a measure is shown by that measure. The two sets of queries differ, so compare gains: what "
        "the halves gain and the test parts do not is overfitting. Models and averages are not chosen on the halves."
    )
    return Grid(header, tuple(rows), "llrrrr", "On the data they were chosen on", (note,))


@dataclass(frozen=True)
class Against:
    """All combinations tested against one system, by one measure."""

    rival: str
    measure: rk.Measure
    pairs: dict[str, object]
    p: dict[str, float]
    """Combination → p-value of the randomisation test, corrected for the number of combinations."""

    def cells(self, name: str) -> tuple[str, str]:
        if name not in self.pairs:
            return "", ""
        pair = self.pairs[name]
        half = (pair.interval[1] - pair.interval[0]) / 2
        return f"{number(pair.difference, signed=True)} ±{number(half)}", p_value(self.p[name])

    def said(self) -> str:
        """How many are significantly better, and how many worse."""
        better = [name for name, p in self.p.items() if p <= 0.05 and self.pairs[name].difference > 0]
        worse = [name for name, p in self.p.items() if p <= 0.05 and self.pairs[name].difference < 0]
        named = [f"{len(names)} ({'; '.join(names)})" if names else "none" for names in (better, worse)]
        return (
            f"- {CALLED[self.measure]}, against {self.rival}: of {len(self.p)} combinations, significantly better {named[0]}, "
            f"significantly worse {named[1]}."
        )


def tested(tests: Joined, ways: list[str], rivals: Mapping[rk.Measure, list[str]]) -> list[Against]:
    """Every combination against the rivals of a measure; Holm's correction is over the combinations, not over all pairs."""
    data, found = tests.data(), []
    for measure, names in rivals.items():
        for rival in names:
            pairs = {}
            for name in (way for way in ways if way != rival):
                two = {one: tests.of(one) for one in (name, rival)}
                pairs[name] = rk.compare(two, data, [measure]).pair(name, rival, measure)
            corrected = holm([pair.p("randomisation").raw for pair in pairs.values()]).tolist()
            found.append(Against(rival, measure, pairs, dict(zip(pairs, corrected, strict=True))))
    return found


def tests_grid(found: list[Against], ways: list[str]) -> Grid:
    header = [cell for one in found for cell in (f"{CALLED[one.measure]} − {one.rival}", "Holm p")]
    rows = tuple((name, *(cell for one in found for cell in one.cells(name))) for name in ways)
    title = "Against the best single model and the plain average"
    note = (
        "Difference of the means on the joined test parts, ± half its 95 % interval, and the p-value of the randomisation test "
        "(paired by query, 10,000 resamples, seed 0), Holm-corrected over the combinations of the column. The best single "
        "model is the one with the best mean on these very test parts, which favours it."
    )
    return Grid(("combination", *header), rows, "l" + "r" * len(header), title, (note,))


def measure(name: str, *, small: bool) -> None:
    """Combine on all folds of a data set, and write what came of it."""
    parts, trees, ways = folds(name), TREES, ways_to_combine()
    if small:
        parts, trees = [tuple(part.select_queries(np.arange(80)) for part in fold) for fold in parts[:2]], 10
    halves, tests = Joined(f"{name}, combining halves"), Joined(f"{name}, test parts")
    for count, fold in enumerate(parts):
        run(fold, count, trees, ways, halves, tests)
    on_halves, on_tests = halves.evaluated(), tests.evaluated()
    counted = on_tests[PLAIN][NDCG10]
    sizes = f"{counted.queries} queries, {counted.skipped} skipped."
    notes = ("±: half the 95 % interval of the mean. Bold: best mean.", sizes)
    best = {measure: max(MODELS, key=lambda name, m=measure: on_tests[name][m].mean) for measure in CALLED}
    against = tested(tests, list(ways), {measure: [best[measure], PLAIN] for measure in CALLED})
    grids = [means_grid(on_tests, notes), chosen_grid(on_halves, on_tests), tests_grid(against, list(ways))]
    about = [machine(["numba", "numpy", "scipy"]), ABOUT]
    text = "\n\n".join([*about, *(grid.markdown() for grid in grids), "\n".join(one.said() for one in against)])
    print(text, flush=True)
    if not small:
        write_section(f"Combining six models: {name}", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--data", nargs="*", default=["mq2008", "mq2007"])
    given = parser.parse_args()
    if not os.environ.get("RANKINITE_DATA"):
        print("RANKINITE_DATA does not name a folder with mq2007 and mq2008; combining is not measured.")
        return
    for name in given.data:
        measure(name, small=given.small)


if __name__ == "__main__":
    main()
