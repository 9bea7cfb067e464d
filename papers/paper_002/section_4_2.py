"""Paper 002, §4.2: LambdaRank ends at a local optimum of the measure it is trained for, by a Monte-Carlo test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from papers.claims import Measured
from papers.experiment import Case, Experiment, Outcome, Outcomes, RunContext
from papers.figure import Panel, PaperFigure
from papers.item import Block, Item
from rankinite import Dataset, LambdaRank, Linear, Net, Optimum, World, local_optimum, synthesise
from rankinite.grid import Grid, number

NETS: dict[str, tuple[tuple[int, ...], str]] = {
    "linear, NDCG@10": ((), "ndcg@10"),
    "10 hidden units, NDCG@10": ((10,), "ndcg@10"),
    "10 hidden units, ERR": ((10,), "err"),
}
DIRECTIONS = 459
"""With none of so many leading up, fewer than 1 % of all directions do, with 99 % confidence (equation 9)."""
TRAINED, EARLY, MOVED = "trained to convergence", "after 4 epochs", "moved by 0.1 of the length"
CURVES = 6
"""Weights that are moved one by one for the figure."""


def cases(context: RunContext) -> Sequence[Case]:
    """A case per net and measure."""
    return [
        Case(name, "artificial", settings={"net": name}, seconds=150.0) for name in list(NETS)[: context.size(len(NETS), 1)]
    ]


def run(case: Case, context: RunContext) -> Outcome:
    """Train without validation data, and test the weights, and two controls, on the training queries."""
    hidden, measure = NETS[case.settings["net"]]
    data = synthesise(context.size(4000, 200), world=World(features=50, documents=50, noise=0.0))
    learner = LambdaRank(
        measure=measure,
        hidden=hidden,
        optimiser="adam",
        rate=0.003,
        decay=0.9,
        epochs=context.size(300, 10),
        patience=30,
        seed=0,
    )
    facts: dict[str, Any] = {}
    curves: dict[str, Any] = {}
    for name, ranker in weights_tested(learner, data):
        drawn = CURVES if name == TRAINED else 0
        optimum = local_optimum(ranker, data, measure, directions=context.size(DIRECTIONS, 40), curves=drawn)
        facts[name] = _facts(optimum)
        if optimum.curves is not None:
            lines = zip(optimum.curves.names, optimum.curves.values.tolist(), strict=True)
            curves = {f"weight {weight}": (optimum.curves.moved.tolist(), values) for weight, values in lines}
    return Outcome(curves={"one weight moved": curves}, facts=facts)


def weights_tested(learner: LambdaRank, data: Dataset) -> Iterator[tuple[str, Net | Linear]]:
    """The trained weights, and weights that are certainly no optimum."""
    trained = _plain(learner.fit(data))
    yield TRAINED, trained
    yield EARLY, _plain(replace(learner, epochs=4).fit(data))
    spread = data.features.std(axis=0, dtype=float) if isinstance(trained, Linear) else 1.0
    weights = trained.weights * spread  # on features of one scale
    direction = np.random.default_rng(0).normal(size=len(weights))
    weights = weights + 0.1 * np.linalg.norm(weights) * direction / np.linalg.norm(direction)
    yield MOVED, replace(trained, weights=weights / spread)


def _plain(ranker: Any) -> Net | Linear:
    assert isinstance(ranker, Net | Linear), "there is no base"
    return ranker


def _facts(optimum: Optimum) -> dict[str, Any]:
    shares = {
        f"{step:g}": float(up) / optimum.directions for step, up in zip(optimum.steps, optimum.rising[:, -1], strict=True)
    }
    step = None if optimum.step is None else f"{optimum.step:g}"
    return {"value": optimum.value, "optimum": optimum.is_optimum, "up": shares, "step": step}


def at_an_optimum(results: Outcomes) -> tuple[str, bool | None]:
    """The share of directions that lead up, at the shortest step that can tell and at a longer one."""
    texts: list[str] = []
    optima: list[bool] = []
    for case, outcome in results:
        facts = outcome.facts[TRAINED]
        up = facts["up"]
        texts.append(f"{case.name}: {up[facts['step'] or '0.05']:.1%} at {facts['step']}, {up['0.05']:.1%} at 0.05")
        optima.append(bool(facts["optimum"]))
    return "directions that lead up: " + "; ".join(texts), all(optima)


def layout(results: Outcomes) -> list[Block]:
    """The test of every net with its controls, and the curves of single weights."""
    blocks: list[Block] = []
    panels: list[Panel] = []
    for case, outcome in results:
        steps = list(outcome.facts[TRAINED]["up"])
        rows = [_row(name, facts) for name, facts in outcome.facts.items()]
        header = ("weights", "measure", "optimum", *(f"up at {step}" for step in steps))
        blocks.append(Grid(header, tuple(rows), title=case.name))
        lines = outcome.curves["one weight moved"]
        panels.append(Panel(case.name, "weight moved, share of the length of all", "measure", lines))
    note = "The verdict is about the step with a star: the shortest at which few enough directions leave the measure unchanged."
    return [*blocks, note, PaperFigure("002-section-4.2", "The measure as one weight is moved from its trained value", panels)]


def _row(name: str, facts: dict[str, Any]) -> tuple[str, ...]:
    shares = (f"{share:.1%}{' *' * (step == facts['step'])}" for step, share in facts["up"].items())
    return name, number(facts["value"]), {True: "yes", False: "no", None: "–"}[facts["optimum"]], *shares


SECTION_4_2 = Item(
    "002", "section-4.2", "The Monte-Carlo test of whether LambdaRank ends at a local optimum of its measure",
    (
        Measured(
            "Weights trained to convergence are a local optimum of the measure: no direction leads up", at_an_optimum,
            """Stochastic steps end near an optimum, not on it: the shorter the step that is tested, the more directions still
            lead up. The paper does not give the length of its steps; a test at that length would decide.""",
        ),
    ),
    (Experiment("002-optimum", cases, run),),
    layout,
    f"""4,000 artificial training queries of 50 documents without noise; Adam, rate 0.003, decay 0.9, at most 300 epochs,
    patience 30. {DIRECTIONS} random directions from a spherical Gaussian, steps as shares of the length of all weights.""",
)  # fmt: skip
