"""The artificial data of paper 000: LambdaMART, McRank and MART, and what the measure trained for is worth.

    python benchmarks/artificial.py [--queries 4000] [--rounds 1000]

Train, validation and test data of the same world (50 documents a query, 50 features, five grades, no noise). As in the
paper's §5.2, LambdaMART has 10 leaves and rate 0.1, McRank 10 leaves and rate 0.05, and MART is set like LambdaMART; the
number of rounds is the best on validation data. McRank grows five trees a round, and all of them are counted.
"""

from __future__ import annotations

import argparse
import time

import rankinite as rk
from _measure import machine, write_section

STEPS = (50, 100, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000)
GOALS = (0.70, 0.75, 0.80, 0.85, 0.90)


def accuracy(learners, data) -> tuple[str, dict[str, rk.Forest]]:
    """Table 1: NDCG at three cutoffs, with intervals and letters."""
    forests = {}
    for name, learner in learners.items():
        started = time.perf_counter()
        forests[name] = learner.fit(data["train"], data["valid"])
        print(f"{name}: {forests[name]!r}, {time.perf_counter() - started:.0f} s", flush=True)
    return rk.compare(forests, data["test"], [rk.NDCG(1), rk.NDCG(3), rk.NDCG(10)]).to_markdown(), forests


def curves(forests, test) -> tuple[str, str]:
    """Figure 2: test NDCG@10 after so many trees, and the trees needed for an accuracy."""
    values = {}
    for name, forest in forests.items():
        every = max(1, 50 // forest.outputs)
        staged = enumerate(forest.staged_scores(test, every=every), start=1)
        values[name] = {
            min(n * every, forest.rounds) * forest.outputs: rk.evaluate(s, test, "ndcg@10")["ndcg@10"].mean for n, s in staged
        }
    head = "| trees | " + " | ".join(values) + " |\n|---|" + "---|" * len(values) + "\n"
    lines = [
        f"| {step} | " + " | ".join(f"{kept[step]:.4f}" if step in kept else "" for kept in values.values()) + " |"
        for step in STEPS
        if any(step in kept for kept in values.values())
    ]
    needed = "| NDCG@10 reached | " + " | ".join(values) + " |\n|---|" + "---|" * len(values) + "\n"
    for goal in GOALS:
        cells = [str(min((n for n, v in kept.items() if v >= goal), default="never")) for kept in values.values()]
        needed += f"| {goal:.2f} | " + " | ".join(cells) + " |\n"
    return head + "\n".join(lines), needed


def measures_matter(data, rounds: int) -> str:
    """Trained for each measure, measured by all."""
    trained_for = [rk.NDCG(10), rk.ERR(), rk.AP(), rk.RR()]
    names = [*map(str, trained_for), *(f"{measure} on training data" for measure in trained_for)]
    lines = ["| trained for | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for measure in trained_for:
        learner = rk.LambdaMART(measure=measure, trees=rounds, leaves=10, rate=0.1, patience=None, train_history=False)
        forest = learner.fit(data["train"], data["valid"])
        result = rk.evaluate(forest, data["test"], trained_for)
        cells = [f"{result[m].mean:.4f} ± {(result[m].interval[1] - result[m].interval[0]) / 2:.4f}" for m in trained_for]
        seen = rk.evaluate(forest, data["train"], trained_for)
        cells += [f"{seen[m].mean:.4f}" for m in trained_for]
        lines.append(f"| {measure} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=1000)
    given = parser.parse_args()
    parts = {"train": given.queries, "valid": given.queries // 4, "test": given.queries}
    data = {part: rk.synthesise(count, part=part) for part, count in parts.items()}
    common = {"trees": given.rounds, "leaves": 10, "patience": None, "train_history": False}
    learners = {
        "LambdaMART": rk.LambdaMART(rate=0.1, **common),
        "McRank": rk.McRank(rate=0.05, **common),
        "MART": rk.MART(rate=0.1, **common),
    }
    table, forests = accuracy(learners, data)
    by_trees, needed = curves(forests, data["test"])
    sizes = ", ".join(f"{name} {len(forest)}" for name, forest in forests.items())
    note = f"{parts['train']} training, {parts['valid']} validation and {parts['test']} test queries. Trees kept: {sizes}."
    sections = [machine(["numba", "numpy"]), (__doc__ or "").split("\n\n", 2)[2].strip(), note, table]
    sections += ["Test NDCG@10 after so many trees:", by_trees, "Trees needed:", needed]
    sections += [
        "What is trained for, and what comes of it (mean ± half the 95 % interval):",
        measures_matter(data, given.rounds),
    ]
    write_section("Artificial data", "\n\n".join(sections))
    print("\n\n".join(sections))


if __name__ == "__main__":
    main()
