"""RankNet and LambdaRank nets: how fast they train, and how well they rank. Growth of time: ``papers``, 002 section-2.1.

    RANKINITE_DATA=… python benchmarks/nets.py [--parts speed quality] [--data mq2007 mq2008] [--small]

``speed`` wants an idle machine; it compares with PyTorch where it is installed. ``quality`` needs RANKINITE_DATA.
``--small`` tries everything on tiny data, prints, and leaves the page of results as it is.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import statistics
import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import quality
import rankinite as rk
from _measure import Runs, machine, race, sized, write_section
from rankinite.engine.kernel import frozen
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.ranknet import RankNetPairs
from rankinite.nets._net_kernels import Frame, RowArrays, Steps, climb_grades
from rankinite.nets.network import first_weights, layers_of, sizes_of

FEATURES, UNITS, CUTOFF, RATE = 50, 10, 10, 0.001
OPTIMISERS = ("sgd", "adam")
LEARNERS = ("RankNet", "LambdaRank")
HAS_TORCH = importlib.util.find_spec("torch") is not None
NO_TORCH = "PyTorch is not installed (it comes with the extra 'bench'), so it is left out."

# ---- one query after the other: rankinite's kernels, and PyTorch ----------------------------------------------------


class Ours:
    """A net and all that the kernels of training are given, from the same first weights each time."""

    def __init__(self, data: rk.Dataset, learner: str, optimiser: str, rate: float = RATE) -> None:
        self.data = data
        self.pairs = (RankNetPairs(data) if learner == "RankNet" else Lambdas(data, rk.NDCG(CUTOFF))).pairs
        centre, spread = data.features.mean(0, dtype=float), data.features.std(0, dtype=float)
        self.frame = Frame(sizes_of(len(data.feature_names), (UNITS,)), frozen(centre), frozen(1.0 / spread))
        self.weights = first_weights(self.frame.sizes, np.random.default_rng(0), silent=False)
        self.steps = Steps(rate, 0.0, optimiser == "adam", np.zeros((2, len(self.weights))), np.zeros(1, np.int64))
        self.rows = RowArrays(frozen(np.zeros(data.rows)), *(np.zeros(data.rows) for _ in range(3)))

    def climb(self, queries: np.ndarray) -> None:
        rest = (self.frame, self.steps, self.data.features, frozen(queries), self.rows, self.weights)
        if climb_grades(self.pairs, *rest) >= 0:
            raise SystemExit("Training diverged: lower the rate.")


class Torch:
    """The same net and the same updates, as one would write them in PyTorch; tensors of every query are made beforehand."""

    def __init__(self, start: Ours, learner: str, optimiser: str, precision: str, rate: float = RATE) -> None:
        import torch

        self.torch, self.lambdas, kind = torch, learner == "LambdaRank", getattr(torch, precision)
        data, (inputs, units, _) = start.data, start.frame.sizes.tolist()
        self.net = torch.nn.Sequential(torch.nn.Linear(inputs, units), torch.nn.Tanh(), torch.nn.Linear(units, 1)).to(kind)
        with torch.no_grad():
            first = itertools.chain.from_iterable(layers_of(start.frame.sizes, start.weights))
            for values, given in zip(self.net.parameters(), first, strict=True):
                values.copy_(torch.from_numpy(given))
        make = torch.optim.Adam if optimiser == "adam" else torch.optim.SGD
        self.optimiser = make(self.net.parameters(), lr=rate, fused=True)  # the faster of its forms
        features = torch.from_numpy((data.features - start.frame.centre) * start.frame.scale).to(kind)
        gains = torch.from_numpy(2.0 ** data.grades.astype(float) - 1.0).to(kind)
        longest = int(np.diff(data.offsets).max())
        self.discounts = (torch.arange(longest) < CUTOFF) / torch.log2(torch.arange(longest, dtype=kind) + 2.0)
        self.queries = []
        for first, last in itertools.pairwise(data.offsets.tolist()):
            own = gains[first:last]
            ideal = (own.sort(descending=True).values * self.discounts[: last - first]).sum()
            self.queries.append((features[first:last], own, own[:, None] > own[None, :], 1.0 / ideal))

    def climb(self, queries: np.ndarray) -> None:
        torch = self.torch
        for query in queries.tolist():
            features, gains, better, scale = self.queries[query]
            if not better.any():
                continue
            scores = self.net(features).squeeze(1)
            with torch.no_grad():
                push = torch.sigmoid(scores[None, :] - scores[:, None])
                if self.lambdas:
                    discounts = torch.empty_like(scores)
                    discounts[torch.argsort(scores, descending=True)] = self.discounts[: len(scores)]
                    gain, discount = gains[:, None] - gains[None, :], discounts[:, None] - discounts[None, :]
                    push = push * (gain * discount).abs() * scale
                push = torch.where(better, push, 0.0)
                lambdas = push.sum(1) - push.sum(0)
            self.optimiser.zero_grad()
            scores.backward(gradient=-lambdas)
            self.optimiser.step()

    def weights(self) -> np.ndarray:
        return np.concatenate([values.detach().numpy().ravel() for values in self.net.parameters()])


def drawn(queries: int, documents: int, part: str = "train") -> rk.Dataset:
    return rk.synthesise(queries, part=part, world=rk.World(features=FEATURES, documents=documents, noise=0.3))


def check() -> str:
    """Make sure that what is compared is the same; says how closely."""
    data, queries = drawn(30, 50), np.arange(30)
    largest = 0.0
    for learner, optimiser in itertools.product(LEARNERS, OPTIMISERS if HAS_TORCH else ()):
        ours = Ours(data, learner, optimiser)
        theirs = Torch(ours, learner, optimiser, "float64")
        ours.climb(queries)
        theirs.climb(queries)
        # The score's bias is left out: its gradient Σλ is 0 but for rounding, which Adam turns into steps.
        largest = max(largest, float(np.abs(ours.weights - theirs.weights())[:-1].max()))
    if not largest < 1e-9:
        raise SystemExit(f"PyTorch's weights differ from rankinite's by {largest:.1e} after 30 queries.")
    if not HAS_TORCH:
        return NO_TORCH
    said = f"After 30 queries from the same weights, PyTorch's (float64) are within {largest:.0e} of rankinite's, "
    return said + "but for the score's bias, which says nothing about ranks."


# ---- speed ----------------------------------------------------------------------------------------------------------

SPEED = f"""One epoch of LambdaRank for NDCG@{CUTOFF}: {FEATURES} features, {UNITS} hidden units, one step a query.
rankinite runs on one thread, as steps follow one another. "in fit" is a whole epoch of ``fit``, also on one thread, with
NDCG@{CUTOFF} measured on the training data and on validation data of a quarter as many queries. PyTorch makes the same update:
forward, all n × n pairs by broadcasting, backward from the scores, the fused optimiser's step; its tensors are made before
and not counted. Every contender has a process of its own, in turn; medians."""
OWN = ["rankinite", "rankinite, in fit"]
OTHERS = [f"PyTorch {precision}, {threads} thread(s)" for precision in ("float64", "float32") for threads in (1, 2)]


def speed_contender(name: str, optimiser: str, queries: int, documents: int, torch_queries: int) -> dict[str, float]:
    data, warm = drawn(queries, documents), np.arange(20)
    order = np.random.default_rng(0).permutation(queries)
    if name == "rankinite, in fit":
        return {"seconds": epoch_in_fit(data, drawn(queries // 4, documents, "valid"), optimiser)}
    net: Any = Ours(data, "LambdaRank", optimiser)
    if name.startswith("PyTorch"):
        import torch

        torch.set_num_threads(int(name.split()[2]))
        net, order = Torch(net, "LambdaRank", optimiser, name.split()[1].strip(",")), order[:torch_queries]
    net.climb(warm)
    started = time.perf_counter()
    net.climb(order)
    return {"seconds": (time.perf_counter() - started) * queries / len(order)}


def epoch_in_fit(train: rk.Dataset, valid: rk.Dataset, optimiser: str) -> float:
    """The median time from one epoch's end to the next one's."""
    ends: list[float] = []
    learner = rk.LambdaRank(measure=rk.NDCG(CUTOFF), hidden=(UNITS,), optimiser=optimiser, rate=RATE, epochs=4)
    with rk.threads(1):
        learner.fit(train, valid, callbacks=[lambda _: ends.append(time.perf_counter())])
    return statistics.median(np.diff(ends).tolist())


def speed(given: argparse.Namespace) -> None:
    queries, documents = (200, 50) if given.small else (10_000, 50)
    timed = min(given.torch_queries, queries)
    names = OWN + (OTHERS if HAS_TORCH else [])
    text = [SPEED, f"{queries:,} queries × {documents} documents, rate {RATE}, {given.rounds} rounds. {check()}"]
    text += [] if timed == queries else [f"PyTorch's times are those of {timed:,} queries, scaled."]
    for optimiser in OPTIMISERS:
        sizes = ["--queries", str(queries), "--documents", str(documents), "--torch-queries", str(timed)]
        runs, others = race(__file__, names, ["--optimiser", optimiser, *sizes], given.rounds)
        text += [f"Optimiser {optimiser}:", speed_table(runs, queries)]
        text.append(f"{fastest(runs)}Other processes used {others:.0%} of the machine meanwhile.")
    publish("Nets: an epoch of LambdaRank", text, given)


def speed_table(runs: list[Runs], queries: int) -> str:
    lines = ["| | median s | best s | µs a query | times as slow as rankinite |", "|---|--:|--:|--:|--:|"]
    for one in runs:
        slower = one.median / runs[0].median
        lines.append(f"| {one.name} | {one.median:.3f} | {one.best:.3f} | {one.median / queries * 1e6:.1f} | {slower:.1f}× |")
    return "\n".join(lines)


def fastest(runs: list[Runs]) -> str:
    """What the faster number of threads comes to, for each precision."""
    said = ""
    for precision in ("float64", "float32"):
        own = [one for one in runs if one.name.startswith(f"PyTorch {precision}")]
        if own:
            best = min(own, key=lambda one: one.median)
            said += f"{best.name} takes {best.median / runs[0].median:.1f} times as long as rankinite. "
    return said


# ---- quality --------------------------------------------------------------------------------------------------------

RATES, HIDDEN, RESTARTS, EPOCHS = (0.0003, 0.001, 0.003), ((10,), (20,)), 2, 200
TUNING = f"""Nets train with Adam, {RESTARTS} restarts and at most {EPOCHS} epochs. The rate ({", ".join(map(str, RATES))}), the
hidden units, the start and the epoch are those with the best value of the measure trained for (RankNet: NDCG@10) on the
validation data."""
FOLDS = f"""{TUNING} Hidden units: {" or ".join(str(*hidden) for hidden in HIDDEN)}. LambdaMART is "rankinite" of
benchmarks/quality.py with its grid. The test parts of the five LETOR folds are evaluated together: expected NDCG@10 and ERR
under ties, queries of one grade skipped, mean and 95 % interval over queries."""
NDCG10, ERR2 = rk.NDCG(10), rk.ERR(max_grade=2)
LINEAR, TWO, ERR_LINEAR, ERR_TWO = "linear LambdaRank", "two-layer LambdaRank", "linear, for ERR", "two-layer, for ERR"
NETS = {
    LINEAR: (partial(rk.LambdaRank, measure=NDCG10), ((),)),
    TWO: (partial(rk.LambdaRank, measure=NDCG10), HIDDEN),
    "two-layer RankNet": (partial(rk.RankNet, watch=NDCG10), HIDDEN),
    ERR_LINEAR: (partial(rk.LambdaRank, measure=ERR2), ((),)),
    ERR_TWO: (partial(rk.LambdaRank, measure=ERR2), HIDDEN),
}


def tuned(make, train: rk.Dataset, valid: rk.Dataset, hidden: tuple[tuple[int, ...], ...], *, small: bool):
    """The net of the grid that is best on validation data."""
    shared = {"restarts": RESTARTS, "epochs": 5 if small else EPOCHS, "train_history": False}
    rates = RATES[:1] if small else RATES
    found = [make(hidden=units, rate=rate, **shared).fit(train, valid) for units, rate in itertools.product(hidden, rates)]
    return max(found, key=lambda net: net.history.valid[net.history.best])


def chosen(net) -> str:
    return f"hidden {net.settings['hidden']}, rate {net.settings['rate']:g}, epoch {net.history.best}"


def on_folds(name: str, given: argparse.Namespace) -> None:
    parts = quality.folds(name)
    if given.small:
        parts = [tuple(part.select_queries(np.arange(min(60, part.queries))) for part in fold) for fold in parts[:2]]
    scores: dict[str, list[np.ndarray]] = {system: [] for system in [*NETS, "LambdaMART"]}
    for number, fold in enumerate(parts):
        for system, kept in scores.items():
            started = time.perf_counter()
            if system == "LambdaMART":
                predicted, how = quality.seeded("rankinite", fold, quality.ranked("rankinite", fold)[0], 0), ""
            else:
                make, hidden = NETS[system]
                net = tuned(make, fold[0], fold[1], hidden, small=given.small)
                predicted, how = net.score(fold[2]), chosen(net)
            kept.append(np.asarray(predicted, float))
            value, spent = quality.value(kept[-1], fold[2]), time.perf_counter() - started
            print(f"{name} fold {number + 1} {system:24} {value:.4f} {spent:6.1f} s  {how}", flush=True)
    test = replace(rk.concat([fold[2] for fold in parts]), source=f"{name}, test parts of five folds")
    joined = {system: np.concatenate(each) for system, each in scores.items()}
    ranked = rk.compare({s: v for s, v in joined.items() if s not in {ERR_LINEAR, ERR_TWO}}, test, [NDCG10, ERR2])
    text = [FOLDS, ranked.to_markdown(), "Trained for NDCG@10, and trained for ERR:", *for_err(joined, test)]
    publish(f"Nets: quality on {name}", text, given)


def for_err(scores: dict[str, np.ndarray], test: rk.Dataset) -> list[str]:
    """Paper 004 §4.1: is ERR lifted at least as much by training for it as by training for NDCG?"""
    result = rk.compare({name: scores[name] for name in (LINEAR, ERR_LINEAR, TWO, ERR_TWO)}, test, [NDCG10, ERR2])
    said = []
    for other, own in ((LINEAR, ERR_LINEAR), (TWO, ERR_TWO)):
        pair = result.pair(own, other, ERR2)
        low, high = pair.interval
        shown = "lifts ERR less" if high < 0 else "lifts ERR more" if low > 0 else "is neither shown to lift ERR less nor more"
        numbers = f"{pair.difference:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}, p = {pair.p('randomisation').raw:.3f}"
        said.append(f"- {own} − {other}: ERR {numbers}. Training for ERR {shown} than training for NDCG.")
    return [result.to_markdown(), "\n".join(said)]


def measure_quality(given: argparse.Namespace) -> None:
    for name in given.data:
        if os.environ.get("RANKINITE_DATA"):
            on_folds(name, given)
        else:
            print(f"RANKINITE_DATA does not name a folder with {name}; quality on it is not measured.")


# ---- the program ----------------------------------------------------------------------------------------------------


def publish(title: str, text: list[str], given: argparse.Namespace) -> None:
    text = [machine(["rankinite", "numba", "numpy", "torch"]), *text]
    print("\n\n".join([title, *text]), flush=True)
    if sized(usual=not given.small, tiny=True):
        write_section(title, "\n\n".join(text))


PARTS = {"speed": speed, "quality": measure_quality}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--data", nargs="*", default=sized(["mq2007", "mq2008"], ["mq2008"]))
    parser.add_argument("--small", action="store_true", default=sized(usual=False, tiny=True))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--torch-queries", type=int, default=10_000, help="time PyTorch on so many queries, and scale")
    for option in ("--contender", "--optimiser"):
        parser.add_argument(option, help=argparse.SUPPRESS)
    for option in ("--queries", "--documents"):
        parser.add_argument(option, type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.contender:
        sizes = (given.queries, given.documents, given.torch_queries)
        print(json.dumps(speed_contender(given.contender, given.optimiser, *sizes)))
    else:
        for part in given.parts:
            PARTS[part](given)


if __name__ == "__main__":
    main()
