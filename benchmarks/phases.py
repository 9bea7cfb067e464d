"""Where a round of boosting spends its time, phase by phase, and how far the largest phase is from what the machine can do.

    python benchmarks/phases.py [--data mq2007 narrow wide]

One thread. Trees are grown as usual, and then their splits are made once more with every phase called by itself from Python;
what such a call costs by itself, measured on empty ranges, is taken off. The limit is the rate at which cells are added to
histograms that lie in the nearest cache, row after row, with nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections import Counter
from pathlib import Path
from time import thread_time

import numpy as np

from _measure import machine, sized, write_section

SIZES = sized({"wide": (4_000, 26, 367), "narrow": (2_000, 50, 50)}, {"wide": (50, 26, 100), "narrow": (50, 50, 50)})
"""Queries, documents a query, features."""
ROUNDS, WARM = sized((12, 2), (2, 1))
PHASES = {
    "gradients": "λ of all queries",
    "quantise": "gradients as whole numbers",
    "fill": "histograms of the root and of smaller children",
    "subtract": "those of larger children",
    "scan": "the best cut of every feature",
    "mark": "which rows go left",
    "move": "rows to the children",
    "add": "leaf values to the scores",
    "pack": "the tree as arrays",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=["mq2007", "narrow", "wide"])
    parser.add_argument("--dry", action="store_true", help="print the table instead of writing it to RESULTS.md")
    given = parser.parse_args()
    names = [name for name in given.data if name != "mq2007" or os.environ.get("RANKINITE_DATA")]
    found = {name: measured(judged(name)) for name in names}
    limit = cell_limit()
    text = table(found, limit)
    about = " ".join((__doc__ or "").split("\n\n")[2].split())
    section = f"{machine(['rankinite', 'numba'])}\n\n{about}\n\n{text}"
    if given.dry:
        print(section)
    else:
        write_section("Where the time of training goes (benchmarks/phases.py)", section)


def judged(name: str):
    import rankinite as rk

    if name == "mq2007":
        folder = Path(os.environ["RANKINITE_DATA"]) / "mq2007"
        return rk.concat([rk.read(folder / f"S{k}.txt.gz") for k in (1, 2, 3)])
    queries, documents, features = SIZES[name]
    return rk.synthesise(queries, world=rk.World(features=features, documents=documents, noise=0.3))


def measured(data) -> dict[str, float]:
    """Milliseconds of every phase in a round, what the whole takes as it is run, and nanoseconds a cell."""
    import rankinite as rk
    from rankinite.engine.parallel import Team, threads
    from rankinite.learners.training_bins import bins_and_codes
    from rankinite.trees.growth import Grower

    learner = rk.LambdaMART.plain(train_history=False)
    with threads(1), Team() as team:
        bins, codes = bins_and_codes(data, learner.bins, learner.bin_sample, learner.category_rows)
        grower = Grower(learner, bins, codes, learner.signs(data.feature_names), team, None, None)
        objective = learner.objective(data)
        scores = np.zeros((1, data.rows))
        push, curvature = np.empty_like(scores), np.empty_like(scores)
        seconds: Counter[str] = Counter()
        for number in range(WARM + ROUNDS):
            if number == WARM:
                seconds.clear()
            seconds["gradients"] += timed(objective.gradients, scores, push, curvature)
            start = thread_time()
            grown = grower.grow(push[0], curvature[0], number)
            seconds["grow"] += thread_time() - start
            steps = learner.rate * grown.values()
            seconds["add"] += timed(grower.add, grown, steps, scores[0])
            seconds["pack"] += timed(grower.trees_of, grown, steps)
            replay(grower, grown, push[0], curvature[0], learner, seconds)
    cells = seconds.pop("rows") * grower.features
    per_cell = seconds["fill"] / cells * 1e9
    return {**{name: value / ROUNDS * 1e3 for name, value in seconds.items()}, "cell": per_cell}


def timed(work, *arguments) -> float:
    start = thread_time()
    work(*arguments)
    return thread_time() - start


def net(work, arguments, empty) -> float:
    """Seconds of a call less those of the same call with nothing to do."""
    return timed(work, *arguments) - min(timed(work, *empty) for _ in range(2))


def replay(grower, grown, push, curvature, learner, seconds: Counter[str]) -> None:
    """Make the splits of a tree once more, each phase by itself."""
    from rankinite.trees import _node_kernels as growing
    from rankinite.trees import _row_kernels as parting
    from rankinite.trees._node_kernels import smaller_first
    from rankinite.trees._split_kernels import MISSING_LEFT, lay_cut
    from rankinite.trees._state import WIDTH_SHIFT, Coded, Growth

    parts = vars(grower)  # what the grower keeps to itself
    nodes, work, rows, features = grown.nodes, parts["_work"], grower.rows, grower.features
    used = np.ones(features, np.bool_)
    shift = 0 if grower.copies else WIDTH_SHIFT
    kept = {name: parts[f"_{name}"] for name in ("words", "singles", "has_missing", "monotone", "category", "keys")}
    coded = Coded(**kept, shift=shift, bins=parts["_bin_counts"], used=used)
    growth = Growth(
        leaves=learner.leaves, depth=0, min_rows=learner.min_rows, min_curvature=0.0, l2=0.0, newton=True,
        random_thresholds=False, row_share=1.0, feature_share=1.0, seed=np.uint64(0), rows=rows, smooth=1.0, reducer=0,
    )  # fmt: skip
    work.order[0, :rows] = np.arange(rows)
    work.allowed[:] = True
    seconds["quantise"] += timed(parting.quantise, push, curvature, growth, work, 0, 1)

    def filled(node: int) -> None:
        for block in range(coded.words.shape[0]):
            first, last = growing.words_of_worker(coded, block, 0, 1)
            arguments = (coded, growth, nodes, work, node, block)
            seconds["fill"] += net(growing.fill, (*arguments, first, last), (*arguments, first, first))
        seconds["rows"] += int(nodes.end[node] - nodes.start[node])

    def scanned(node: int) -> None:
        arguments = (coded, growth, nodes, work, node, 0)
        seconds["scan"] += net(growing.scan_node, (*arguments, features, 0), (*arguments, 0, 0))

    filled(0)
    scanned(0)
    parents = sorted((n for n in range(grown.size) if nodes.feature[n] >= 0), key=lambda n: nodes.left[n])
    for parent in parents:
        half, start, end = int(nodes.half[parent]), int(nodes.start[parent]), int(nodes.end[parent])
        lay_cut(int(nodes.code[parent]) + MISSING_LEFT * bool(nodes.missing_left[parent]), work.tables[0])
        split = (coded, int(nodes.feature[parent]), True, half)
        empty = min(timed(parting.mark_left, *split, start, start, work, 0, 1) for _ in range(2))
        seconds["mark"] += timed(parting.mark_left, *split, start, end, work, 0, 1) - empty
        moving = (half, start, end, work, 0, 1)
        seconds["move"] += net(parting.move_rows, moving, (half, start, start, work, 0, 1))
        if parent == parents[-1]:
            return
        small, large = (int(n) for n in smaller_first(nodes, int(nodes.left[parent])))
        filled(small)
        for block in range(coded.words.shape[0]):
            first, last = growing.words_of_worker(coded, block, 0, 1)
            arguments = (nodes, work, large, small, block)
            seconds["subtract"] += net(growing.take_away, (*arguments, first, last), (*arguments, first, first))
        scanned(small)
        scanned(large)


def cell_limit() -> dict[str, float]:
    """Nanoseconds a cell where nothing but adding is to be done: codes spread evenly, and codes of which most are alike."""
    from rankinite.trees._row_kernels import AHEAD, _add_two_words
    from rankinite.trees._state import BINS, WIDTH

    rows, rng = 2048, np.random.default_rng(0)
    order = np.concatenate([np.arange(rows), np.zeros(AHEAD)]).astype(np.int32)
    cells = rng.integers(0, 1 << 40, rows)
    found = {}
    for kind, values in (("even", rng.random((rows, WIDTH))), ("skewed", rng.random((rows, WIDTH)) ** 6)):
        flat = (values * 255).astype(np.uint8).view(np.uint64).reshape(-1)
        sums = np.zeros(16 * BINS, np.int64)
        arguments = (flat, order, cells, 0, rows, 0, sums)
        runs = [statistics.mean(timed(_add_two_words, *arguments) for _ in range(200)) for _ in range(9)]
        empty = min(timed(_add_two_words, flat, order, cells, 0, 0, 0, sums) for _ in range(50))
        found[kind] = (min(runs) - empty) / (rows * 16) * 1e9
    return found


def table(found: dict[str, dict[str, float]], limit: dict[str, float]) -> str:
    names = list(found)
    lines = ["| milliseconds a round, one thread | " + " | ".join(names) + " |", "|---|" + "--:|" * len(names)]
    for phase, words in PHASES.items():
        lines.append(f"| {words} | " + " | ".join(f"{found[name][phase]:.2f}" for name in names) + " |")
    lines.append("| *growing as it is run: quantise to move* | " + " | ".join(f"{found[n]['grow']:.2f}" for n in names) + " |")
    lines.append("| nanoseconds a cell in histograms | " + " | ".join(f"{found[name]['cell']:.2f}" for name in names) + " |")
    return "\n".join(lines) + (
        f"\n\nLimit: {limit['even']:.2f} ns a cell where codes are spread evenly, {limit['skewed']:.2f} ns where most are "
        "alike (adding to the sum that was just written waits for the write)."
    )


if __name__ == "__main__":
    main()
