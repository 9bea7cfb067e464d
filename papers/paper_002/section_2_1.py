"""Paper 002, §2.1: factoring RankNet's gradient makes training time grow in proportion to the documents, not to the pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from papers.claims import Measured
from papers.experiment import Case, Experiment, Floats, Outcome, Outcomes, RunContext
from papers.figure import Panel, PaperFigure
from papers.item import Item
from papers.paper_002._pairwise_kernels import climb_pair_by_pair
from rankinite import Dataset, World, synthesise
from rankinite.engine.kernel import Indices, frozen
from rankinite.gradients.ranknet import RankNetPairs
from rankinite.nets._net_kernels import Frame, RowArrays, Steps, climb_grades
from rankinite.nets.network import first_weights, sizes_of

FEATURES, UNITS, RATE = 50, 10, 0.001
DOCUMENTS = (10, 25, 50, 100, 200, 400)
ROWS, MOST_PAIRS, TIMES = 40_000, 500_000, 3
EPOCHS: dict[str, Callable[..., int]] = {"factored": climb_grades, "pair by pair": climb_pair_by_pair}
CURVE = "microseconds"


class NetAtWork:
    """A two-layer RankNet and all that the kernels of an epoch are given, from the same first weights each time."""

    def __init__(self, data: Dataset, rate: float) -> None:
        self.data, self.pairs = data, RankNetPairs(data).pairs
        centre, spread = data.features.mean(0, dtype=float), data.features.std(0, dtype=float)
        self.frame = Frame(sizes_of(len(data.feature_names), (UNITS,)), frozen(centre), frozen(1.0 / spread))
        self.weights: Floats = first_weights(self.frame.sizes, np.random.default_rng(0), silent=False)
        self.steps = Steps(rate, 0.0, adam=False, moments=np.zeros((2, len(self.weights))), taken=np.zeros(1, np.int64))
        self.rows = RowArrays(frozen(np.zeros(data.rows)), *(np.zeros(data.rows) for _ in range(3)))

    def climb(self, queries: Indices, epoch: Callable[..., int]) -> None:
        """One step per query, or one per pair."""
        arguments: tuple[Any, ...] = (self.frame, self.steps, self.data.features, frozen(queries), self.rows, self.weights)
        assert epoch(self.pairs, *arguments) < 0, "the rate is so low that scores stay finite"


def cases(context: RunContext) -> Sequence[Case]:
    """A case per number of documents."""
    return [
        Case(f"{documents} documents", "artificial", settings={"documents": documents}, seconds=8.0)
        for documents in DOCUMENTS[: context.size(len(DOCUMENTS), 4)]
    ]


def run(case: Case, context: RunContext) -> Outcome:
    """Microseconds per query, the least of three runs; pair by pair on some of the queries only."""
    documents: int = case.settings["documents"]
    world = World(features=FEATURES, documents=documents, noise=0.3)
    data = synthesise(max(2, context.size(ROWS, ROWS // 10) // documents), world=world)
    queries = np.random.default_rng(0).permutation(data.queries)
    chosen = {
        "factored": queries,
        "pair by pair": queries[: max(3, 2 * context.size(MOST_PAIRS, MOST_PAIRS // 10) // documents**2)],
    }
    microseconds: dict[str, float] = {}
    for name, epoch in EPOCHS.items():
        net = NetAtWork(data, RATE / documents)  # RankNet's pairs are many
        net.climb(queries[:2], epoch)
        microseconds[name] = min(_seconds(net, chosen[name], epoch) for _ in range(TIMES)) / len(chosen[name]) * 1e6
    return Outcome(curves={CURVE: {name: ([documents], [time]) for name, time in microseconds.items()}})


def _seconds(net: NetAtWork, queries: Indices, epoch: Callable[..., int]) -> float:
    started = perf_counter()
    net.climb(queries, epoch)
    return perf_counter() - started


def joined(results: Outcomes) -> dict[str, tuple[list[float], list[float]]]:
    """The points of all cases as curves."""
    curves: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in EPOCHS}
    for _, outcome in results:
        for name, (xs, ys) in outcome.curves[CURVE].items():
            curves[name][0].extend(xs)
            curves[name][1].extend(ys)
    return curves


def exponent(points: tuple[list[float], list[float]]) -> float:
    """The slope of time over documents, both as logarithms, from 50 documents on where there are so many."""
    xs, ys = np.log(points)
    long = xs >= math.log(50.0)  # below, fixed costs show
    return float(np.polyfit(xs[long], ys[long], 1)[0]) if long.sum() > 1 else math.nan


def growth(results: Outcomes) -> tuple[str, bool | None]:
    """Both exponents: near 1 when factored, near 2 pair by pair."""
    slopes = {name: exponent(points) for name, points in joined(results).items()}
    text = "; ".join(f"{name}: documents to the power of {slope:.2f}" for name, slope in slopes.items())
    return text, 0.5 < slopes["factored"] < 1.4 and 1.7 < slopes["pair by pair"] < 2.3


def layout(results: Outcomes) -> list[PaperFigure]:
    """Time over documents, both as logarithms."""
    logs = {name: ([math.log10(x) for x in xs], [math.log10(y) for y in ys]) for name, (xs, ys) in joined(results).items()}
    panel = Panel("An epoch of RankNet", "log₁₀ documents per query", "log₁₀ microseconds per query", logs)
    return [PaperFigure("002-section-2.1", "How training time grows with the documents of a query", [panel])]


SECTION_2_1 = Item(
    "002", "section-2.1", "Training time of RankNet, factored and pair by pair, as queries get longer",
    (Measured("Factoring takes training time from near quadratic in the documents of a query to near linear", growth),),
    (Experiment("002-growth", cases, run),),
    layout,
    f"""A net of {UNITS} hidden units on {FEATURES} artificial features, plain steps, one thread. Factored: one pass forward and
    one back per query, with one λ per document. Pair by pair: two documents forward, two back, and a step for every pair of
    unlike grades, by the same kernels. The exponent is the slope from 50 documents on. "Close to linear" is taken as an
    exponent below 1.4 (the λ themselves are summed over pairs, cheaply), "close to quadratic" as one between 1.7 and 2.3.""",
)  # fmt: skip
