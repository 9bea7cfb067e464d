"""What the exact combination of two rankers costs: time in evaluations of the measure, and memory.

    python benchmarks/combine.py [--parts speed growth boosting] [--rounds 5] [--small]

All parts want an idle machine. With RANKINITE_DATA, ``boosting`` also times rounds on mq2007. ``--small`` tries everything on
tiny data, prints, and leaves the page of results as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np

import rankinite as rk
from _measure import Runs, machine, private_memory, race, sized, write_section
from rankinite.engine.parallel import Team
from rankinite.sweep.sweep import Sweep
from rankinite.trees.walk import add_trees, walks_of

PRIORS = (0.3704, 0.2855, 0.2714, 0.0523, 0.0204)
"""Shares of the grades 0 … 4 on the web."""
LOW, HIGH, GRID = 0.0, 5.0, 100
MEBI = 1 << 20


# ---- what is timed --------------------------------------------------------------------------------------------------


def drawn(queries: int, documents: int) -> tuple[rk.Dataset, np.ndarray, np.ndarray]:
    """Judged data without features, and the normal scores of two rankers that know a little about the grades."""
    rng = np.random.default_rng(0)
    grades = rng.choice(len(PRIORS), queries * documents, p=PRIORS)
    data = rk.read(np.zeros((len(grades), 1), np.float32), grades=grades, group=[documents] * queries)
    first, second = (rng.normal(size=len(grades)) + 0.3 * grades for _ in range(2))
    return data, first, second


def swept(data: rk.Dataset, s: np.ndarray, t: np.ndarray, measure: str) -> dict[str, float]:
    """One exact optimum: seconds to make the Sweep, and to follow the curve and take its best."""
    started = time.perf_counter()
    sweep = Sweep(data, measure)
    made = time.perf_counter()
    curve = sweep.curve(s, t, LOW, HIGH)
    alpha, value = curve.best()
    done = time.perf_counter()
    return {
        "making": made - started,
        "sweep": done - made,
        "seconds": done - started,
        "changes": len(curve.values) - 1,
        "alpha": alpha,
        "value": value,
    }


def exact(data: rk.Dataset, s: np.ndarray, t: np.ndarray, measure: str, most: int = 5) -> dict[str, float]:
    """The medians of several optima, at most 3 s of them; stops where the curve and the evaluator disagree."""
    found: list[dict[str, float]] = []
    while len(found) < most and sum(one["seconds"] for one in found) < 3.0:
        found.append(swept(data, s, t, measure))
    medians = {key: statistics.median(one[key] for one in found) for key in found[0]}
    said = rk.evaluate(s + medians["alpha"] * t, data, measure)[measure].mean
    if not abs(said - medians["value"]) < 1e-9:
        raise SystemExit(f"{measure} at α = {medians['alpha']} is {said}, but the curve says {medians['value']}.")
    return medians


def evaluated(
    data: rk.Dataset, s: np.ndarray, t: np.ndarray, measure: str, alphas: np.ndarray
) -> tuple[list[float], list[float]]:
    """The seconds of an evaluation at each α, and its values. Adding up the scores is not counted."""
    times, values = [], []
    for alpha in alphas:
        scores = s + alpha * t
        started = time.perf_counter()
        result = rk.evaluate(scores, data, measure)
        times.append(time.perf_counter() - started)
        values.append(result[measure].mean)
    return times, values


def warm(measure: str) -> None:
    """Compile, or read from the cache, all that is timed."""
    data, s, t = drawn(2000, 20)  # rows enough for every thread: only then the runs of several are merged
    exact(data, s, t, measure, most=1)


def used_by(runs: Runs) -> float:
    """The most private memory above that after the imports, in MiB."""
    return max(report["peak"] - report["start"] for report in runs.reports) / MEBI


def median_of(runs: Runs, key: str) -> float:
    return statistics.median(report[key] for report in runs.reports)


def threads_of(name: str) -> int:
    """The number of threads, from a contender's name that ends in it."""
    return int(name.rsplit(", ", 1)[1].split(maxsplit=1)[0])


# ---- speed ----------------------------------------------------------------------------------------------------------

SPEED = f"""Two rankers of normal scores that know a little about the grades, grades with the priors
{", ".join(map(str, PRIORS))}, α from {LOW:g} to {HIGH:g}. "exact" makes a ``Sweep``, follows the curve and takes its best;
"of it, made once" is the ``Sweep``, which serves any number of pairs of rankers. "{GRID} evaluations" are calls of
``rk.evaluate`` at {GRID} points of a grid; adding up the scores for them is not counted. "in evaluations" is exact by a
hundredth of the grid's time. Memory is the most that the process has above what it had after its imports: data and compiled
code are included. Every contender has a process of its own, in turn; medians."""
SPEED_MEASURES = ("ndcg@10", "err", "ap@10", "ndcg")
THREADS = (1, 2)


def speed_contender(given: argparse.Namespace) -> dict[str, float]:
    start = private_memory()
    way, measure, _ = given.contender.split(", ")
    with rk.threads(threads_of(given.contender)):
        warm(measure)
        data, s, t = drawn(given.queries, given.documents)
        if way == "exact":
            return {"start": start, **exact(data, s, t, measure)}
        times, values = evaluated(data, s, t, measure, np.linspace(LOW, HIGH, GRID))
        return {"start": start, "seconds": sum(times), "value": max(values)}


def speed(given: argparse.Namespace) -> None:
    queries, documents = (200, 50) if given.small else (10_000, 50)
    with rk.threads(max(THREADS)):  # once into the cache on disk: no contender's memory is to be that of the compiler
        for measure in SPEED_MEASURES:
            warm(measure)
    names = [f"{way}, {m}, {n} thread(s)" for m in SPEED_MEASURES for n in THREADS for way in ("exact", "grid")]
    arguments = ["--task", "speed", "--queries", str(queries), "--documents", str(documents)]
    runs, others = race(__file__, names, arguments, given.rounds)
    pairs = list(zip(runs[::2], runs[1::2], strict=True))
    for own, grid in pairs:
        if own.reports[0]["value"] < grid.reports[0]["value"] - 1e-9:
            raise SystemExit(f"{own.name}: the best of the grid, {grid.reports[0]['value']}, is above the exact optimum.")
    text = [SPEED, f"{queries:,} queries × {documents} documents, {given.rounds} rounds.", speed_table(pairs)]
    text += [speed_verdict(pairs), f"Other processes used {others:.0%} of the machine meanwhile."]
    publish("Combining: the exact optimum against a grid", text, given)


def speed_table(pairs: list[tuple[Runs, Runs]]) -> str:
    heads = ["measure", "threads", "exact s", "of it, made once", f"{GRID} evaluations s", "in evaluations", "changes", "MiB"]
    lines = ["| " + " | ".join([*heads, "best", "best of the grid"]) + " |", "|---|" + "--:|" * (len(heads) + 1)]
    for own, grid in pairs:
        cells = [own.name.split(", ")[1], str(threads_of(own.name)), f"{own.median:.3f}", f"{median_of(own, 'making'):.3f}"]
        cells += [f"{grid.median:.3f}", f"{own.median / grid.median * GRID:.1f}", f"{own.reports[0]['changes']:,.0f}"]
        cells += [f"{used_by(own):.0f}", f"{own.reports[0]['value']:.5f}", f"{grid.reports[0]['value']:.5f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def speed_verdict(pairs: list[tuple[Runs, Runs]]) -> str:
    ten = [(own, grid) for own, grid in pairs if own.name.split(", ")[1] == "ndcg@10"]
    cost = max(own.median / grid.median * GRID for own, grid in ten)
    most = max(used_by(own) for own, _ in pairs)
    said = f"NDCG@10 costs at most {cost:.1f} evaluations, which is {'less' if cost < GRID else 'not less'} than {GRID}. "
    return said + f"No measure takes more than {most:.0f} MiB, which is {'below' if most < 1024 else 'not below'} 1 GiB."


# ---- growth ---------------------------------------------------------------------------------------------------------

GROWTH = f"""Scores, grades and memory as in the comparison with a grid, α from {LOW:g} to {HIGH:g}, one thread; the rows stay
as many. "sweep" is the curve and its best, without making the ``Sweep``, which is "made once". "changes" are the weights at
which the mean changes, "evaluation" is the median of ``rk.evaluate`` at 15 weights, "in evaluations" the sweep by it. Every
size of every measure has a process of its own, in turn; medians."""
CUT, WHOLE = ("ndcg@10",), ("ndcg", "err", "ap")


def growth_contender(given: argparse.Namespace) -> dict[str, float]:
    start = private_memory()
    measure, size = given.contender.split(", ")
    documents = int(size.split()[0])
    with rk.threads(1):
        warm(measure)
        data, s, t = drawn(max(2, given.rows // documents), documents)
        found = exact(data, s, t, measure, most=3)
        times, _ = evaluated(data, s, t, measure, np.linspace(LOW, HIGH, 15))
    return {**found, "start": start, "evaluation": statistics.median(times)}


def growth(given: argparse.Namespace) -> None:
    sizes = (10, 25, 50) if given.small else (10, 25, 50, 100, 200, 400)
    text = [GROWTH]
    for measures, rows in ((CUT, 500_000), (WHOLE, 50_000)):
        rows = rows // 200 if given.small else rows  # noqa: PLW2901 - the same measurement on less
        for measure in measures:
            warm(measure)
        names = [f"{measure}, {documents} documents" for measure in measures for documents in sizes]
        runs, others = race(__file__, names, ["--task", "growth", "--rows", str(rows)], given.rounds)
        for place, measure in enumerate(measures):
            text.append(growth_table(measure, sizes, runs[place * len(sizes) : (place + 1) * len(sizes)], rows))
        text.append(f"{rows:,} rows, {given.rounds} rounds. Other processes used {others:.0%} of the machine meanwhile.")
    publish("Combining: growth with documents a query", text, given)


def growth_table(measure: str, sizes: tuple[int, ...], runs: list[Runs], rows: int) -> str:
    heads = [f"{measure}: documents a query", "sweep ms", "made once ms", "changes", "changes a query", "ns a change"]
    heads += ["evaluation ms", "in evaluations", "MiB"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "--:|" * len(heads)]
    for documents, own in zip(sizes, runs, strict=True):
        sweep, evaluation, changes = median_of(own, "sweep"), median_of(own, "evaluation"), own.reports[0]["changes"]
        cells = [str(documents), f"{sweep * 1e3:,.1f}", f"{median_of(own, 'making') * 1e3:.1f}", f"{changes:,.0f}"]
        cells += [f"{changes / max(2, rows // documents):,.1f}", f"{sweep / max(changes, 1) * 1e9:,.0f}"]
        cells += [f"{evaluation * 1e3:.2f}", f"{sweep / evaluation:,.1f}", f"{used_by(own):.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


# ---- boosting -------------------------------------------------------------------------------------------------------

LEAVES, RATE, STEP_LOW, STEP_HIGH, MOST_EVALUATIONS = 15, 0.1, 0.1, 5.0, 10
LOOKED_AT = (2, 20, 100)
BOOSTING = f"""The sweep inside boosting: LambdaMART for NDCG@10 with trees of {LEAVES} leaves, rate {RATE:g}, weights from
{STEP_LOW:g} to {STEP_HIGH:g}. The tree of a round and the scores before it are taken from the forest, and swept and evaluated
again, in turn, on the threads of boosting; the weight found is that of training. "in evaluations" is the sweep by
``rk.evaluate`` of the scores with the tree; the ``Sweep`` is made once for all rounds. The second tree meets scores of at
most {LEAVES} values, later ones fewer and fewer ties. Every contender has a process of its own, in turn; medians."""
ROUNDS = """Milliseconds a round of boosting with each kind of step, gradients, tree and weights together, two threads, nothing
being measured on the way; compiling and bins are not counted. "leaves" sweeps once a leaf."""
SWEPT, STEPS = ("exact", "newton-exact"), ("newton", "newton-exact", "exact", "leaves")


def learner(step: str, trees: int) -> rk.LambdaMART:
    shared = {"step_low": STEP_LOW, "step_high": STEP_HIGH, "train_history": False}
    return rk.LambdaMART.plain(measure="ndcg@10", leaves=LEAVES, rate=RATE, trees=trees, step=step, **shared)


def boosted(queries: int) -> rk.Dataset:
    return rk.synthesise(queries, world=rk.World(features=50, documents=50, noise=0.3))


def boosting_contender(given: argparse.Namespace) -> dict[str, float]:
    """For every round looked at, the medians of sweeps and evaluations in turn."""
    step = given.contender.split(", ")[0]
    found: dict[str, float] = {}
    with rk.threads(threads_of(given.contender)):
        data = boosted(given.queries)
        forest = learner(step, max(given.sizes)).fit(data)
        sweep = Sweep(data, "ndcg@10")
        for number in given.sizes:
            weight = float(forest.history.steps[number - 1])
            s, t = forest.truncate(number - 1).score(data), np.zeros((1, data.rows))
            add_trees(walks_of(forest.trees.take(number - 1, number)), data.features, 0, 1, t)
            with Team():
                times = boosting_times(sweep, s, t[0] / (RATE * weight), weight)
            found |= {f"{key} {number}": value for key, value in times.items()}
            found[f"weight {number}"] = weight
    return {"seconds": found[f"sweep {given.sizes[0]}"], **found}


def boosting_times(sweep: Sweep, s: np.ndarray, t: np.ndarray, weight: float) -> dict[str, float]:
    sweeps, evaluations, changes = [], [], 0
    for _ in range(21):
        started = time.perf_counter()
        curve = sweep.curve(s, t, STEP_LOW, STEP_HIGH)
        alpha = curve.best()[0]
        sweeps.append(time.perf_counter() - started)
        evaluations += evaluated(sweep.data, s, t, "ndcg@10", np.array([alpha]))[0]
        changes = len(curve.values) - 1
        if not abs(alpha - weight) < 1e-6:
            raise SystemExit(f"The weight is {alpha}, but training took {weight}: not the same sweep.")
    medians = {"sweep": statistics.median(sweeps[1:]), "evaluation": statistics.median(evaluations[1:])}
    return {**medians, "changes": changes}


def boosting(given: argparse.Namespace) -> None:
    queries, looked_at = (100, (2, 5)) if given.small else (2_000, LOOKED_AT)
    names = [f"{step}, {n} thread(s)" for step in SWEPT for n in THREADS]
    arguments = ["--task", "boosting", "--queries", str(queries), "--sizes", *map(str, looked_at)]
    runs, others = race(__file__, names, arguments, given.rounds)
    text = [BOOSTING, f"{queries:,} queries × 50 documents, {given.rounds} rounds.", boosting_table(runs, looked_at)]
    worst = max(median_of(own, f"sweep {k}") / median_of(own, f"evaluation {k}") for own in runs for k in looked_at)
    verdict = "not more" if worst <= MOST_EVALUATIONS else "more"
    text.append(f"A sweep costs at most {worst:.1f} evaluations, which is {verdict} than {MOST_EVALUATIONS}.")
    text += [f"Other processes used {others:.0%} of the machine meanwhile.", ROUNDS, *rounds_of_boosting(given, queries)]
    publish("Combining: the sweep inside boosting", text, given)


def boosting_table(runs: list[Runs], looked_at: tuple[int, ...]) -> str:
    heads = ["step", "threads", "tree", "its weight", "changes", "sweep ms", "evaluation ms", "in evaluations"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    for own in runs:
        for number in looked_at:
            sweep, evaluation = median_of(own, f"sweep {number}"), median_of(own, f"evaluation {number}")
            cells = [own.name.split(", ")[0], str(threads_of(own.name)), str(number)]
            cells += [f"{own.reports[0][f'weight {number}']:.3f}", f"{own.reports[0][f'changes {number}']:,.0f}"]
            cells += [f"{sweep * 1e3:.2f}", f"{evaluation * 1e3:.2f}", f"{sweep / evaluation:.1f}"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def round_data(name: str, queries: int) -> rk.Dataset:
    """The data that rounds are timed on; of mq2007 the training part of the first fold, or its first queries."""
    if name == "artificial":
        return boosted(queries)
    folder = Path(os.environ["RANKINITE_DATA"]) / "mq2007"
    data = rk.concat([rk.read(folder / f"S{k}.txt.gz") for k in (1, 2, 3)])
    return data.select_queries(np.arange(min(queries, data.queries)))


def rounds_contender(given: argparse.Namespace) -> dict[str, float]:
    """The mean time of a round, from the end of the first to the end of the last."""
    data, ends = round_data(given.data, given.queries), []
    with rk.threads(2):
        learner(given.contender, 2).fit(data.select_queries(np.arange(min(40, data.queries))))  # compiles
        learner(given.contender, given.trees).fit(data, callbacks=[lambda _: ends.append(time.perf_counter())])
    return {"seconds": (ends[-1] - ends[0]) / (len(ends) - 1), "queries": data.queries, "rows": data.rows, "trees": len(ends)}


def rounds_of_boosting(given: argparse.Namespace, queries: int) -> list[str]:
    known = bool(os.environ.get("RANKINITE_DATA"))
    text = [] if known else ["RANKINITE_DATA does not name a folder with mq2007, so there are no rounds on it."]
    for name in ("artificial", "mq2007") if known else ("artificial",):
        trees = 5 if given.small else 100
        arguments = ["--task", "rounds", "--data", name, "--queries", str(queries), "--trees", str(trees)]
        runs, others = race(__file__, list(STEPS), arguments, given.rounds)
        lines = [f"| {name}: step | ms a round | best ms | times newton's |", "|---|--:|--:|--:|"]
        for own in runs:
            slower = own.median / runs[0].median
            lines.append(f"| {own.name} | {own.median * 1e3:.2f} | {own.best * 1e3:.2f} | {slower:.2f}× |")
        first = runs[0].reports[0]
        size = f"{first['queries']:,} queries, {first['rows']:,} rows, {first['trees']} trees, {given.rounds} rounds."
        text += ["\n".join(lines), f"{size} Other processes used {others:.0%} of the machine meanwhile."]
    return text


# ---- the program ----------------------------------------------------------------------------------------------------


def publish(title: str, text: list[str], given: argparse.Namespace) -> None:
    text = [machine(["rankinite", "numba", "numpy"]), *text]
    print("\n\n".join([title, *text]), flush=True)
    if sized(usual=not given.small, tiny=True):
        write_section(title, "\n\n".join(text))


PARTS = {"speed": speed, "growth": growth, "boosting": boosting}
TASKS = {"speed": speed_contender, "growth": growth_contender, "boosting": boosting_contender, "rounds": rounds_contender}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--small", action="store_true", default=sized(usual=False, tiny=True))
    parser.add_argument("--rounds", type=int, default=5)
    for option in ("--contender", "--task", "--data"):
        parser.add_argument(option, help=argparse.SUPPRESS)
    for option in ("--queries", "--documents", "--rows", "--trees"):
        parser.add_argument(option, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.contender:
        print(json.dumps(TASKS[given.task](given)))
        return
    for part in given.parts:
        PARTS[part](given)


if __name__ == "__main__":
    main()
