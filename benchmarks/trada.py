"""How long tuning a forest takes (paper 003), beside training a tenth of its trees.

    python benchmarks/trada.py [--threads 2] [--rounds 5]

The background has 300 trees of 12 leaves, trained on 1,000 queries; the target another domain of as many: 38,000 rows × 300
features. "30 trees" trains so many of the same shape on the target, bins included. R tunes what every node adds, RA leaves
alone, S moves thresholds too, T trims. Everything is there once for squared loss and once for the λ of NDCG@10, which must be
computed anew for each of the 300 trees. Each runs in a process of its own, in turn, once unmeasured and then measured;
compiling and reading files are not counted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from _measure import SCRATCH, Runs, machine, race, sized, write_section

TREES, MORE, QUERIES, DOCUMENTS, FEATURES = sized((300, 30, 1_000, 38, 300), (5, 3, 30, 10, 20))
SHAPE = {"leaves": 12, "rate": 0.05, "min_rows": 20, "train_history": False}
WAYS: dict[str, dict[str, object]] = {
    "R": {},
    "RA": {"responses": "leaves"},
    "R, S": {"splits": True},
    "R, T": {"trim": True},
    "R, S, T": {"splits": True, "trim": True},
}
NAMES = [f"{loss}: {what}" for loss in ("squared", "lambda") for what in (f"{MORE} trees", *WAYS)]


def learner(loss: str, trees: int):
    import rankinite as rk

    return rk.MART(trees=trees, **SHAPE) if loss == "squared" else rk.LambdaMART.plain(trees=trees, **SHAPE)


def domain(number: int):
    import rankinite as rk

    world = rk.World(features=FEATURES, documents=DOCUMENTS, noise=0.3, shift=0.6)
    return rk.synthesise(QUERIES, domain=number, world=world)


def prepare() -> None:
    """The backgrounds, trained once, and the target."""
    SCRATCH.mkdir(exist_ok=True)
    for loss in ("squared", "lambda"):
        path = SCRATCH / f"trada-{loss}.rankinite"
        if not path.exists():
            learner(loss, TREES).fit(domain(0)).save(path)


def contender(name: str, threads: int) -> dict[str, float]:
    import rankinite as rk
    from rankinite.adapt.methods.trada import Trada

    loss, what = name.split(": ")
    background, target = rk.load(SCRATCH / f"trada-{loss}.rankinite"), domain(1)
    work: Callable[[], object]
    if what in WAYS:
        how = Trada(**WAYS[what])
        work = lambda: how.adapt(background, target)  # noqa: E731 - one of two
    else:
        work = lambda: learner(loss, MORE).fit(target)  # noqa: E731
    with rk.threads(threads):
        work()
        started = time.perf_counter()
        work()
        return {"seconds": time.perf_counter() - started}


def table(runs: list[Runs], others: float) -> str:
    lines = ["| | best s | median s | part of the 30 trees' |", "|---|---|---|---|"]
    trees = {run.name.split(": ")[0]: run.best for run in runs if run.name.endswith(" trees")}
    for run in runs:
        part = run.best / trees[run.name.split(": ")[0]]
        lines.append(f"| {run.name} | {run.best:.3f} | {run.median:.3f} | {part:.2f} |")
    return "\n".join(lines) + f"\n\nOther processes used {others:.0%} of the machine meanwhile."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contender")
    parser.add_argument("--threads", type=int, nargs="*", default=sized([2, 1], [1]))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dry", action="store_true", help="Print the results, but do not keep them.")
    given = parser.parse_args()
    if given.contender:
        print(json.dumps(contender(given.contender, given.threads[0])))
        return
    prepare()
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    for threads in given.threads:
        runs, others = race(__file__, NAMES, ["--threads", str(threads)], given.rounds)
        title, result = f"Tuning a forest, {threads} thread(s)", table(runs, others)
        print(f"{title}\n\n{result}", flush=True)
        if not given.dry:
            write_section(title, "\n\n".join([machine(["rankinite", "numba"]), about, f"Rounds: {given.rounds}.", result]))


if __name__ == "__main__":
    main()
