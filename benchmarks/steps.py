"""The exact step in boosting (paper 000 §5.6): does it need fewer trees than Newton's?

    RANKINITE_DATA=… python benchmarks/steps.py [--parts artificial weights mq2007] [--small]

Trees grow on the plain λ of NDCG@10 by least squares, as in the paper. "newton" is its step in every leaf; "exact" gives leaves
of the mean λ one weight, the exact best on the validation queries in [0.1, 5]; "newton × exact" weights Newton's leaves so;
"leaves" weights every leaf of Newton's by itself (paper §6). All are multiplied by the rate. The paper
bounds α in place of shrinking on its artificial data (rate 1); on its web data it shrinks Newton's step by 0.1. No times are
taken.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

import rankinite as rk
from _measure import machine, write_section
from quality import folds

FIGURES = Path(__file__).parent / "figures"
MEASURE = rk.NDCG(10)
PLAIN = {"normalise": False, "criterion": "mse", "patience": None}
EXACT = {"step_data": "valid"}
WAYS = {
    f"{name}, rate {rate:g}": {"rate": rate, **way}
    for rate in (0.1, 0.3, 1.0)
    for name, way in {
        "newton": {},
        "exact": {"step": "exact", **EXACT},
        "newton × exact": {"step": "newton-exact", **EXACT},
        "leaves": {"step": "leaves", **EXACT},
    }.items()
    if rate != 0.3 or name in ("newton", "exact")
}
COLOURS = {"newton": "#2a6f97", "exact": "#d1701c", "newton × exact": "#4c956c", "leaves": "#9a6fb0"}
DASHES = {"0.1": "--", "0.3": ":", "1": "-"}
ROUNDS = (1, 5, 10, 20, 40, 80, 120, 200, 300)


def staged(forest: rk.Forest, test: rk.Dataset) -> np.ndarray:
    """Test NDCG after every round."""
    return np.asarray([rk.evaluate(scores, test, MEASURE)[MEASURE].mean for scores in forest.staged_scores(test)])


class Everything:
    """A callback that keeps the forest of all rounds: what training returns ends at the best one."""

    def __init__(self, trees: int) -> None:
        self.trees, self.forest = trees, None

    def __call__(self, progress: rk.Progress) -> None:
        if progress.round == self.trees:
            self.forest = progress.ranker()


def trained(learner: rk.LambdaMART, train: rk.Dataset, valid: rk.Dataset) -> rk.Forest:
    keeping = Everything(learner.trees)
    learner.fit(train, valid, callbacks=[keeping])
    return keeping.forest


def table(curves: dict[str, np.ndarray], trees: int) -> str:
    shown = [count for count in ROUNDS if count <= trees]
    lines = ["| | " + " | ".join(f"{count} trees" for count in shown) + " |", "|---|" + "--:|" * len(shown)]
    lines += [f"| {name} | " + " | ".join(f"{values[n - 1]:.4f}" for n in shown) + " |" for name, values in curves.items()]
    return "\n".join(lines)


def needed(curves: dict[str, np.ndarray], goals: list[float]) -> str:
    lines = ["| NDCG@10 reached | " + " | ".join(curves) + " |", "|--:|" + "--:|" * len(curves)]
    for goal in goals:
        cells = [str(int(np.argmax(values >= goal)) + 1) if values.max() >= goal else "never" for values in curves.values()]
        lines.append(f"| {goal:.4f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(name: str, title: str, curves: dict[str, np.ndarray], weights: dict[str, np.ndarray]) -> None:
    """The curves side by side with the weights of every round."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    for label, values in curves.items():
        way, rate = label.split(", rate ")
        left.plot(np.arange(1, len(values) + 1), values, DASHES[rate], color=COLOURS[way], label=label, linewidth=1.4)
    for label, values in weights.items():
        if label.endswith(" 1"):
            right.plot(np.arange(1, len(values) + 1), values, color=COLOURS[label.split(",")[0]], label=label, linewidth=0.8)
    left.set(title=title, xlabel="trees", ylabel="NDCG@10 on test queries")
    right.set(title="the weight of each tree, at rate 1", xlabel="trees", ylabel="α")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / f"{name}.png", dpi=90)


def artificial(queries: int, trees: int) -> str:
    train, valid, test = (rk.synthesise(queries, part=part) for part in ("train", "valid", "test"))
    training, testing, weights = {}, {}, {}
    for label, way in WAYS.items():
        forest = trained(rk.LambdaMART(trees=trees, leaves=10, **PLAIN, **way), train, valid)
        training[label] = forest.history.train[1:]
        testing[label] = staged(forest, test)
        if len(forest.history.steps):
            weights[label] = forest.history.steps
        print(label, f"{testing[label][-1]:.4f}", flush=True)
    draw("exact-step-artificial", "Artificial data", testing, weights)
    goals = [goal for goal in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85) if any(values.max() >= goal for values in testing.values())]
    return "\n\n".join([
        f"{queries:,} training, validation and test queries each, 10 leaves. NDCG@10 on the training queries:",
        table(training, trees), "On the test queries:", table(testing, trees), "Trees needed on the test queries:",
        needed(testing, goals), "![curves and weights](figures/exact-step-artificial.png)",
    ])  # fmt: skip


def real(trees: int, few: int | None) -> str:
    """Means over the five folds of mq2007."""
    valid_curves: dict[str, list[np.ndarray]] = {}
    test_curves: dict[str, list[np.ndarray]] = {}
    weights: dict[str, np.ndarray] = {}
    for number, (train, valid, test) in enumerate(folds("mq2007")[:few]):
        for name, way in WAYS.items():
            forest = trained(rk.LambdaMART(trees=trees, leaves=15, **PLAIN, **way), train, valid)
            valid_curves.setdefault(name, []).append(forest.history.valid[1:])
            test_curves.setdefault(name, []).append(staged(forest, test))
            if number == 0 and len(forest.history.steps):
                weights[name] = forest.history.steps
        print(f"fold {number + 1}", {name: f"{curves[-1].max():.4f}" for name, curves in test_curves.items()}, flush=True)
    valid_means = {name: np.mean(curves, axis=0) for name, curves in valid_curves.items()}
    test_means = {name: np.mean(curves, axis=0) for name, curves in test_curves.items()}
    draw("exact-step-mq2007", "mq2007, mean of five folds", test_means, weights)
    goals = [0.495, 0.5, 0.505, 0.51, 0.515, 0.5175]
    chosen = {name: np.mean([t[int(np.argmax(v))] for v, t in zip(valid_curves[name], test_curves[name], strict=True)])
              for name in test_curves}  # fmt: skip
    said = ", ".join(f"{name} {value:.4f}" for name, value in chosen.items())
    return "\n\n".join([
        "mq2007, five folds, 15 leaves as the paper has for its web data. Mean NDCG@10 on the validation parts:",
        table(valid_means, trees), "Trees needed on the validation parts (exact weights are chosen on them):",
        needed(valid_means, goals), "On the test parts:", table(test_means, trees), "Trees needed on the test parts:",
        needed(test_means, goals),
        f"Test NDCG@10 at the number of trees that is best on the fold's validation part: {said}.",
        "![curves and weights](figures/exact-step-mq2007.png)",
    ])  # fmt: skip


def cyclic(queries: int, trees: int) -> str:
    """Training NDCG when all weights are improved every few rounds, without shrinkage."""
    train = rk.synthesise(queries)
    settings = {"trees": trees, "leaves": 10, "rate": 1.0, "step": "newton-exact", "step_low": 0.0, **PLAIN}
    curves = {
        f"every {every} rounds" if every else "never": rk.LambdaMART(**settings, reoptimise=every).fit(train).history.train[1:]
        for every in (0, 10, 5, 1)
    }
    falls = {name: int((np.diff(values) < 0.0).sum()) for name, values in curves.items()}
    said = (
        f"All weights improved again, one after the other, on {queries:,} artificial training queries: Newton's leaves × exact "
        "weights in [0, 5], rate 1. NDCG@10 on the training queries:"
    )
    fell = "Rounds in which it fell: " + ", ".join(f"{name}: {count}" for name, count in falls.items()) + "."
    return f"{said}\n\n{table(curves, trees)}\n\n{fell}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="tiny data; prints only")
    parser.add_argument("--parts", nargs="*", default=["artificial", "weights", "mq2007"])
    options = parser.parse_args()
    small = options.small
    about = [machine(["numba", "numpy"]), (__doc__ or "").split("\n\n", 2)[2].strip()]
    sections = {
        "The exact step: artificial data": lambda: artificial(100 if small else 4000, 10 if small else 200),
        "The exact step: all weights": lambda: cyclic(100 if small else 1000, 10 if small else 40),
    }
    if "RANKINITE_DATA" in os.environ:
        sections["The exact step: mq2007"] = lambda: real(10 if small else 300, 2 if small else None)
    for title, section in sections.items():
        if not any(part in title for part in options.parts):
            continue
        text = "\n\n".join([*about, section()])
        print(title, text, sep="\n\n", flush=True)
        if not small:
            write_section(title, text)


if __name__ == "__main__":
    main()
