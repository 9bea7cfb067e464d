"""Whether LambdaRank ends at a local optimum of the measure it is trained for: the Monte-Carlo test of paper 002 §4.2.

    python benchmarks/optimum.py [--queries 4000]

Linear and two-layer nets are trained to convergence on artificial data, without validation data, then tested on the same data:
with 459 directions as trained, and with as many after all weights were moved by half their length in a random direction.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

import rankinite as rk
from _measure import machine, write_section

CASES = {
    "linear, ndcg@10": ((), "ndcg@10"),
    "10 hidden units, ndcg@10": ((10,), "ndcg@10"),
    "10 hidden units, err": ((10,), "err"),
}


def perturbed(ranker: rk.Net | rk.Linear, data: rk.Dataset) -> rk.Net | rk.Linear:
    """The weights moved by half their length, on features of one scale."""
    spread = data.features.std(axis=0, dtype=float) if isinstance(ranker, rk.Linear) else 1.0
    weights = ranker.weights * spread
    direction = np.random.default_rng(0).normal(size=len(weights))
    weights = weights + 0.5 * np.linalg.norm(weights) * direction / np.linalg.norm(direction)
    return replace(ranker, weights=weights / spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=4000)
    parser.add_argument("--directions", type=int)
    options = parser.parse_args()
    data = rk.synthesise(options.queries)
    said = [f"{options.queries:,} artificial queries of 50 documents; Adam, rate 0.003, decay 0.9, patience 30.\n"]
    for name, (hidden, measure) in CASES.items():
        learner = rk.LambdaRank(hidden=hidden, measure=measure, rate=0.003, decay=0.9, epochs=300, patience=30)
        ranker = learner.fit(data)
        history = ranker.history
        said.append(f"### {name}\n\n{len(history.train) - 1} epochs, epoch {history.best} kept ({history.stopped}).\n")
        for state, tested in (("as trained", ranker), ("moved by half the length of the weights", perturbed(ranker, data))):
            started = time.perf_counter()
            found = rk.local_optimum(tested, data, measure, directions=options.directions)
            spent = time.perf_counter() - started
            said.append(f"**{state}** ({spent:.0f} s): {found.verdict()}\n\n{found.grid().markdown()}\n")
            print(name, state, found, f"{spent:.0f} s", sep="\n", flush=True)
    about = [machine(["numba", "numpy"]) + "\n", (__doc__ or "").split("\n\n", 2)[2]]
    write_section("Nets: a local optimum?", "\n".join([*about, *said]))


if __name__ == "__main__":
    main()
