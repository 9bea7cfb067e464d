"""Targets on which adapting can only hurt: does ``choose`` keep the background?

    RANKINITE_DATA=… python benchmarks/hostile.py [--draws 2] [--small]

Grades of the judged target queries are shuffled within every query ("shuffled"), or there are two batches of queries, and those
of one have their grades reversed ("reversed batch", with ``folds="batches"``). The test queries are as they were. Methods are
those whose average ``choose`` takes. ``--small`` tries one pair, prints, and leaves the page of results as it is.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import rankinite as rk
from _adaptation_cells import Backgrounds
from _adaptation_pairs import PAIRS, Pair
from _measure import SCRATCH, machine, sized, write_section
from rankinite.data.grouping import TEXT
from rankinite.grid import Grid

MEASURE = rk.NDCG(10)
METHODS = ("lambdaboost", "trada-splits", "pool-10")
"""One of each kind that the average is made of."""
ABOUT = """What `choose` recommends where the judged target queries mislead: grades shuffled within queries, or those of one of
two batches reversed (held out batch by batch). Backgrounds and pairs as in docs/adaptation-results.md, test queries as they
were. "Changed": how often something else than the background was recommended. Loss: what
the chosen ranker has less NDCG@10 than the background on test queries, were it deployed; what the recommended one has less."""


def shuffled(data: rk.Dataset, seed: int) -> rk.Dataset:
    """The data with the grades of every query in a random order."""
    random, grades = np.random.default_rng(seed), data.grades.copy()
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        grades[start:end] = random.permutation(grades[start:end])
    return replace(data, grades=grades)


def reversed_batch(data: rk.Dataset, seed: int) -> rk.Dataset:
    """Two batches of queries, the best documents of the second being the worst."""
    first, second = rk.split(data, (0.5, 0.5), seed=seed)
    turned = replace(second, grades=second.grades.max() - second.grades)
    parts = {"as judged": first, "reversed": turned}
    return rk.concat([replace(part, batches=np.full(part.queries, name, TEXT)) for name, part in parts.items()])


KINDS: dict[str, tuple[Callable[[rk.Dataset, int], rk.Dataset], int, dict]] = {
    "shuffled": (shuffled, 5, {}),
    "reversed batch": (reversed_batch, 15, {"folds": "batches"}),
}
"""How targets are spoilt, the fewest queries that this can be done to, and the settings of ``choose``."""


def runs(pair: Pair, kind: str, draws: int, threads: int) -> list[tuple[int, bool, float, float]]:
    """For every size and draw: target queries, changed, loss of what is chosen and of what is recommended."""
    spoil, fewest, settings = KINDS[kind]
    material, found = pair.material, []
    background = Backgrounds(pair, SCRATCH / "adaptation" / "backgrounds", threads).ours()
    for size in (size for size in pair.sizes if size is not None and size >= fewest):
        for draw in range(draws):
            target = spoil(pair.sample(size, draw), draw)
            choice = rk.adapt.choose(
                background, target, background_data=material.background, methods=METHODS, measure=MEASURE, seed=draw,
                curve=False, same_scale=True, **settings,
            )  # fmt: skip
            verdict, rankers = choice.verdict, {trial.method.name: trial.ranker for trial in choice.trials}
            values = {name: rk.evaluate(one, material.test, [MEASURE])[MEASURE].mean for name, one in rankers.items()}
            lost = [values["background"] - values[name] for name in (verdict.name, verdict.recommended)]
            found.append((target.queries, verdict.recommended != "background", *lost))
            print(f"{kind}, {pair.name}, {size} queries, draw {draw}: {verdict.recommended}, lost {lost[0]:.3f}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=sized(2, 1))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--small", action="store_true", default=sized(usual=False, tiny=True))
    given = parser.parse_args()
    pairs = [pair for pair in PAIRS.values() if os.environ.get("RANKINITE_DATA") or not pair.real]
    rows = []
    with rk.threads(given.threads):
        for kind in KINDS:
            for pair in pairs[-1:] if given.small else pairs:
                cells = np.asarray(runs(pair, kind, given.draws, given.threads), float)
                changed = f"{int(cells[:, 1].sum())} of {len(cells)}"
                queries = " and ".join(f"{count:.0f}" for count in dict.fromkeys(cells[:, 0]))
                rows.append((kind, pair.name, queries, changed, *(f"{loss:+.4f}" for loss in cells[:, 2:].mean(axis=0))))
    header = ("target", "pair", "queries", "changed", "loss of the chosen", "loss of the recommended")
    text = "\n\n".join([machine(["rankinite", "numba", "numpy"]), ABOUT, Grid(header, tuple(rows), "lllrrr").markdown()])
    print(text)
    if sized(usual=not given.small, tiny=True):
        write_section("Hostile targets", text)


if __name__ == "__main__":
    main()
