"""Whether LambdaRank ends at a local optimum of the measure it is trained for: the Monte-Carlo test of paper 002 §4.2.

    python benchmarks/optimum.py [--queries 4000] [--directions 459] [--small]

Linear and two-layer nets are trained to convergence on artificial data, without validation data, then tested on the same data.
Controls show whether the test tells an optimum from what is near one: the same learner stopped after 2, 4, 6 and 12 epochs,
and the trained weights moved by 0.05, 0.1, 0.15 and 0.5 of their length in a random direction. Up: the share of directions
that lead up at each step, \\* the step of the verdict, † a step that cannot tell.

``--small`` tries everything on 300 queries with 20 directions, prints, and leaves the page of results as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import rankinite as rk
from _measure import machine, write_section
from rankinite.grid import Grid

CASES = {
    "linear, ndcg@10": ((), "ndcg@10"),
    "10 hidden units, ndcg@10": ((10,), "ndcg@10"),
    "10 hidden units, err": ((10,), "err"),
}
EPOCHS = (2, 4, 6, 12)
"""Too few to converge."""
MOVES = (0.05, 0.1, 0.15, 0.5)
"""How far from the trained weights, as shares of their length."""
VERDICTS = {True: "optimum", False: "no optimum", None: "none"}

Weighted = rk.Net | rk.Linear


def moved(ranker: Weighted, data: rk.Dataset, share: float) -> Weighted:
    """The weights moved by a share of their length, on features of one scale."""
    spread = data.features.std(axis=0, dtype=float) if isinstance(ranker, rk.Linear) else 1.0
    weights = ranker.weights * spread
    direction = np.random.default_rng(0).normal(size=len(weights))
    weights = weights + share * np.linalg.norm(weights) * direction / np.linalg.norm(direction)
    return replace(ranker, weights=weights / spread)


def contenders(learner: rk.LambdaRank, trained: Weighted, data: rk.Dataset) -> Iterator[tuple[str, Weighted]]:
    """The trained weights, then the controls."""
    yield "trained to convergence", trained
    for epochs in EPOCHS:
        yield f"after {epochs} epochs", replace(learner, epochs=epochs).fit(data)
    for share in MOVES:
        yield f"moved by {share:g} of the length", moved(trained, data, share)


def row_of(name: str, found: rk.Optimum) -> tuple[str, ...]:
    """One line of the table: the verdict, and the share of rising directions at each step."""
    shares = []
    for step, rising, reliable in zip(found.steps, found.rising[:, -1], found.reliable, strict=True):
        mark = " *" if step == found.step else "" if reliable else " †"
        shares.append(f"{100 * rising / found.directions:.1f} %{mark}")
    return name, f"{found.value:.4f}", VERDICTS[found.is_optimum], *shares


def tested(name: str, hidden: tuple[int, ...], measure: str, data: rk.Dataset, directions: int | None) -> str:
    """One case: how it was trained, the table, and the sentence on the trained weights."""
    learner = rk.LambdaRank(hidden=hidden, measure=measure, rate=0.003, decay=0.9, epochs=300, patience=30)
    trained = learner.fit(data)
    history, rows, verdict, header = trained.history, [], "", ()
    for state, ranker in contenders(learner, trained, data):
        found = rk.local_optimum(ranker, data, measure, directions=directions)
        rows.append(row_of(state, found))
        verdict = verdict or found.verdict()
        header = ("weights", measure, "verdict", *(f"up at {step:g}" for step in found.steps))
        print(name, *rows[-1], sep=" | ", flush=True)
    training = (
        f"{len(history.train) - 1} epochs, epoch {history.best} kept ({history.stopped}). Trained to convergence: {verdict}"
    )
    return f"### {name}\n\n{training}\n\n{Grid(header, tuple(rows)).markdown()}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=4000)
    parser.add_argument("--directions", type=int)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    queries, directions = (300, 20) if options.small else (options.queries, options.directions)
    data = rk.synthesise(queries)
    sections = [f"{queries:,} artificial queries of 50 documents; Adam, rate 0.003, decay 0.9, patience 30.\n"]
    sections += [tested(name, *case, data, directions) for name, case in CASES.items()]
    about = [machine(["numba", "numpy"]) + "\n", (__doc__ or "").split("\n\n")[2] + "\n"]
    text = "\n".join([*about, *sections])
    if options.small:
        print(text)
    else:
        write_section("Nets: a local optimum?", text)


if __name__ == "__main__":
    main()
