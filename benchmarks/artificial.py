"""The artificial data of paper 000: LambdaMART, McRank and MART, as in the paper and as we set them.

    python benchmarks/artificial.py [--queries 4000] [--most 6000]

Train, validation and test data of the same world (50 documents a query, 50 features, five grades, no noise). Table 1 has
the settings of the paper's §5.2: LambdaMART 1,000 trees of 10 leaves at rate 0.1, McRank 1,000 rounds of 10 leaves at rate
0.05; MART, which the paper does not have there, is set like LambdaMART. Figure 2 has those of §5.4, 20 leaves and rate 0.15
for both learners, which train until the validation data have shown no better NDCG@10 for 300 rounds. McRank grows five
trees a round, and all of them are counted. "Paper" are the preset of that name: plain λ and least-squares splits; "plain"
are our defaults: λ normalised as in LightGBM, and Newton splits. The number of rounds is the best on validation data.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import rankinite as rk
from _measure import machine, write_section

STEPS = (50, 100, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 4000, 5000, 7500, 10000)
GOALS = (0.70, 0.75, 0.80, 0.85, 0.90)
PATIENCE = 300


def table_1(rounds: int = 1000) -> dict[str, rk.LambdaMART | rk.McRank | rk.MART]:
    """The learners of §5.2, with each of our changes to the paper's LambdaMART by itself."""
    common = {"trees": rounds, "leaves": 10, "patience": None, "train_history": False}
    paper = rk.LambdaMART.paper(rate=0.1, **common)
    return {
        "LambdaMART, paper": paper,
        "LambdaMART, Newton splits": replace(paper, criterion="newton"),
        "LambdaMART, λ normalised": replace(paper, normalise=True),
        "LambdaMART, plain": rk.LambdaMART.plain(rate=0.1, **common),
        "McRank, paper": rk.McRank.paper(rate=0.05, **common),
        "McRank, plain": rk.McRank.plain(rate=0.05, **common),
        "MART": rk.MART.paper(rate=0.1, **common),
    }


def figure_2(most: int) -> dict[str, rk.LambdaMART | rk.McRank]:
    """The learners of §5.4, which train until they have converged."""
    common = {"trees": most, "leaves": 20, "rate": 0.15, "patience": PATIENCE, "train_history": False}
    return {
        "LambdaMART, paper": rk.LambdaMART.paper(**common),
        "LambdaMART, plain": rk.LambdaMART.plain(**common),
        "McRank, paper": rk.McRank.paper(**common),
    }


def trained(learners, data) -> dict[str, rk.Forest]:
    forests = {}
    for name, learner in learners.items():
        started = time.perf_counter()
        forests[name] = learner.fit(data["train"], data["valid"])
        print(f"{name}: {forests[name]!r}, {forests[name].history.stopped}, {time.perf_counter() - started:.0f} s", flush=True)
    return forests


def accuracy(forests, test) -> str:
    """NDCG at three cutoffs, with intervals and letters."""
    return rk.compare(forests, test, [rk.NDCG(1), rk.NDCG(3), rk.NDCG(10)]).to_markdown()


def curves(forests, test) -> tuple[str, str]:
    """Test NDCG@10 after so many trees, and the trees needed for an accuracy."""
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


def kept(forests) -> str:
    """How many trees are kept, and why training ended."""
    return "Trees kept: " + ", ".join(f"{name} {len(own)} ({own.history.stopped})" for name, own in forests.items()) + "."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=1000, help="Rounds of Table 1; the paper has 1,000.")
    parser.add_argument("--most", type=int, default=6000, help="Rounds of Figure 2, at most.")
    given = parser.parse_args()
    parts = {"train": given.queries, "valid": given.queries // 4, "test": given.queries}
    data = {part: rk.synthesise(count, part=part) for part, count in parts.items()}
    first, second = trained(table_1(given.rounds), data), trained(figure_2(given.most), data)
    by_trees, needed = curves(second, data["test"])
    note = f"{parts['train']} training, {parts['valid']} validation and {parts['test']} test queries."
    sections = [machine(["numba", "numpy"]), (__doc__ or "").split("\n\n", 2)[2].strip(), note]
    sections += ["Table 1, settings of §5.2:", accuracy(first, data["test"]), kept(first)]
    sections += ["Figure 2, settings of §5.4, test NDCG@10 after so many trees:", by_trees, kept(second)]
    sections += ["Trees needed:", needed, "The models of Figure 2:", accuracy(second, data["test"])]
    sections += [
        "What is trained for, and what comes of it (plain, settings of §5.2, mean ± half the 95 % interval):",
        measures_matter(data, given.rounds),
    ]
    write_section("Artificial data", "\n\n".join(sections))
    print("\n\n".join(sections))


if __name__ == "__main__":
    main()
