"""The rankers of paper 001 (§5.2, §5.3), how they are judged on closed and open tests, and the one layout of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from papers.adaptation import MEASURE
from papers.differences import mean_of
from papers.experiment import Floats, Outcome, Outcomes, RunContext, Values, judged
from rankinite import NDCG, AveNDCG, Dataset, LambdaBoost, LambdaMART, Scorer
from rankinite.grid import Grid, number

MEASURES = (NDCG(1), NDCG(3), NDCG(10), AveNDCG(10))
AVERAGE = str(MEASURES[-1])
"""AveNDCG, the mean of NDCG@1 to NDCG@10, by which the paper compares."""
BACKGROUND, IN_DOMAIN, BOOST, SMART = "Back.", "In-domain", "λ-Boost", "λ-SMART"
LEAVES = (2, 5, 10, 20)
"""Figure 4's; LambdaBoost is L = 1."""
DRAWN, PLAIN = "with randomisation", "without randomisation"
SHARES = {PLAIN: 1.0, DRAWN: 0.7}
"""Of a node's rows and of the features, drawn before each split."""
SETTINGS = """LambdaBoost: at most 500 rounds at rate 0.5. LambdaSMART: at most 500 trees of 20 leaves at rate 0.5, plain λ
and least-squares splits, 70 % of the rows and of the features drawn anew at every node. Both start from the background's
scores as they are, and end after 100 rounds without gain on the validation queries; the best round is kept."""


def smart_with(leaves: int, randomisation: str) -> str:
    """What LambdaSMART with so many leaves, with or without randomisation, is called."""
    return f"λ-SMART, L = {leaves}, {randomisation}"


AS_IN_TABLES = smart_with(LEAVES[-1], DRAWN)
VARIED = tuple(smart_with(leaves, randomisation) for leaves in LEAVES for randomisation in SHARES)
"""What Figure 4 shows, beside LambdaBoost."""


def boost(base: Scorer, train: Dataset, valid: Dataset, context: RunContext) -> Scorer:
    """LambdaBoost from a background."""
    learner = LambdaBoost(
        measure=MEASURE, rounds=context.size(500, 20), rate=0.5, patience=100, step="least-squares", train_history=False
    )
    return learner.fit(train, valid, base=base)


def smarts(base: Scorer, train: Dataset, valid: Dataset, draw: int, context: RunContext) -> dict[str, Scorer]:
    """LambdaSMART from a background with every number of leaves, with and without randomisation."""
    rankers: dict[str, Scorer] = {}
    for leaves in LEAVES:
        for randomisation, share in SHARES.items():
            learner = LambdaMART.paper(
                measure=MEASURE, trees=context.size(500, 10), leaves=leaves, rate=0.5, node_row_share=share,
                node_feature_share=share, patience=100, seed=draw, train_history=False,
            )  # fmt: skip
            rankers[smart_with(leaves, randomisation)] = learner.fit(train, valid, base=base)
    return rankers


def gain(leaves: int) -> str:
    """What randomisation adds to LambdaSMART with so many leaves, query by query."""
    return f"{smart_with(leaves, DRAWN)}, less {PLAIN}"


def gains(values: Values) -> dict[str, dict[str, Floats]]:
    """What randomisation adds, for every number of leaves."""
    return {
        gain(leaves): {AVERAGE: values[smart_with(leaves, DRAWN)][AVERAGE] - values[smart_with(leaves, PLAIN)][AVERAGE]}
        for leaves in LEAVES
    }


CLOSED, OPEN = "closed", "open"


def judged_on(
    shown: Mapping[str, Scorer], varied: Mapping[str, Scorer], closed: Dataset, opens: Mapping[str, Dataset]
) -> Outcome:
    """The rankers of tables by all measures, those of Figure 4 by AveNDCG, with the means on each open test."""

    def values(data: Dataset) -> Values:
        return {**judged(varied, data, [AVERAGE]), **judged(shown, data, MEASURES)}

    on_opens = {name: values(data) for name, data in opens.items()}
    means = {name: {one: float(np.nanmean(on_open[one][AVERAGE])) for one in shown} for name, on_open in on_opens.items()}
    return Outcome(both_tests(values(closed), list(on_opens.values())), facts={OPEN: means})


def both_tests(closed: Values, opens: Sequence[Values]) -> dict[str, Values]:
    """The closed test and, if there is any, the open one; queries of all open tests are one test."""
    if not opens:
        return {CLOSED: closed}
    joined = {
        system: {m: np.concatenate([on_open[system][m] for on_open in opens]) for m in measured}
        for system, measured in opens[0].items()
    }
    return {CLOSED: closed, OPEN: joined}


HEADINGS = ("NDCG@1", "NDCG@3", "NDCG@10", "AveNDCG")
Row = tuple[float | None, float | None, float | None, float | None]
"""A ranker's values in the paper, under the headings; None where the text has lost them."""


def table(results: Outcomes, test: str, paper: Mapping[str, Row], kinds: tuple[str, str]) -> list[Grid]:
    """One table of the paper: real data, artificial data, and every unit by itself."""
    grids: list[Grid] = []
    for called, kind in zip(kinds, (results.where(real=True), results.where(real=False)), strict=True):
        units = [unit for unit in kind.units if mean_of(kind.where(unit=unit), next(iter(paper)), AVERAGE, test)]
        if not units:
            continue
        header = ("ranker", *(text for heading in HEADINGS for text in (heading, "paper")))
        rows: list[tuple[str, ...]] = []
        for system, theirs in paper.items():
            ours = [_mean(kind, system, str(measure), test) for measure in MEASURES]
            printed = ["–" if value is None else number(value) for value in theirs]
            rows.append((system, *(cell for both in zip(ours, printed, strict=True) for cell in both)))
        grids.append(Grid(header, tuple(rows), title=f"{test.capitalize()} test, {called} (mean of {len(units)})"))
        by_unit = [(unit, *(_mean(kind.where(unit=unit), system, AVERAGE, test) for system in paper)) for unit in units]
        grids.append(Grid(("AveNDCG of each", *paper), tuple(by_unit)))
        if test == OPEN and not kind.where(real=True):  # artificial open tests ask for different things
            grids.append(_open_tests(kind, list(paper)))
    return grids


def _open_tests(results: Outcomes, systems: Sequence[str]) -> Grid:
    names = dict.fromkeys(name for _, outcome in results for name in outcome.facts[OPEN])
    rows = [
        (name, *(number(float(np.mean([outcome.facts[OPEN][name][system] for _, outcome in results]))) for system in systems))
        for name in names
    ]
    return Grid(("AveNDCG of each open test", *systems), tuple(rows))


def _mean(results: Outcomes, system: str, measure: str, test: str) -> str:
    mean = mean_of(results, system, measure, test)
    return "–" if mean is None else number(mean.mean)
