"""Paper 002, §6 and §7: σ makes no difference to training, and one Newton step sets the value of a leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from papers.claims import Measured
from papers.experiment import Case, Experiment, Outcome, Outcomes, RunContext
from papers.item import Item
from rankinite import MART, NDCG, Forest, LambdaMART, World, evaluate, synthesise
from rankinite.grid import Grid, number

SIGMAS = (1.0, 0.5, 2.0, 4.0)
"""Powers of two: scaling by them rounds nothing, so that equal models have equal bits."""
MEASURE = NDCG(10)


def cases(_context: RunContext) -> Sequence[Case]:
    """LambdaMART (§7) and two-class MART (§6)."""
    return [Case(name, "artificial", settings={"learner": name}, seconds=15.0) for name in ("LambdaMART", "two-class MART")]


def run(case: Case, context: RunContext) -> Outcome:
    """Train with every σ, and compare the scores times σ."""
    shape = {"trees": context.size(200, 20), "leaves": 10, "rate": 0.1, "patience": None, "seed": 0, "train_history": False}
    train, test = (synthesise(context.size(500, 60), part=part, world=World(noise=0.3)) for part in ("train", "test"))
    plain = {"l2": 0.0, "min_curvature": 0.0}
    learner: LambdaMART | MART = LambdaMART.paper(measure=MEASURE, **shape, **plain)
    if case.settings["learner"] != "LambdaMART":
        learner = MART.paper(loss="binary", relevant=2.0, **shape, **plain)
    facts: dict[str, dict[str, float]] = {}
    scores: dict[float, np.ndarray] = {}
    for sigma in SIGMAS:
        forest = replace(learner, sigma=sigma).fit(train)
        assert isinstance(forest, Forest)
        scores[sigma] = forest.score(test) * sigma
        apart = float(np.abs(scores[sigma] - scores[SIGMAS[0]]).max())
        facts[f"{sigma:g}"] = {"ndcg": evaluate(scores[sigma], test, MEASURE)[MEASURE].mean, "apart": apart}
    return Outcome(facts=facts)


def no_difference(results: Outcomes) -> tuple[str, bool | None]:
    """How far apart scores times σ are."""
    apart = {case.name: max(found["apart"] for found in outcome.facts.values()) for case, outcome in results}
    text = "; ".join(f"{name}: scores × σ at most {value:.1g} apart" for name, value in apart.items())
    return text, all(value == 0.0 for value in apart.values())


def layout(results: Outcomes) -> list[Grid]:
    """One line per σ."""
    return [
        Grid(
            ("σ", "NDCG@10", "largest difference of scores × σ from those of σ = 1"),
            tuple((sigma, number(found["ndcg"]), f"{found['apart']:.1g}") for sigma, found in outcome.facts.items()),
            title=case.name,
        )
        for case, outcome in results
    ]


SECTION_7 = Item(
    "002", "section-7", "The slope σ of the sigmoid, with Newton steps in the leaves (§6 and §7)",
    (Measured("σ makes no difference: steps scale with 1/σ, and scores appear multiplied by σ", no_difference),),
    (Experiment("002-sigma", cases, run),),
    layout,
    """500 artificial queries, 200 trees of 10 leaves at rate 0.1, no L2, no minimum curvature, σ of 1, ½, 2 and 4. Two-class
    MART learns grades of 2 and above against the others. If σ makes no difference, scores times σ are the same bits.""",
)  # fmt: skip
