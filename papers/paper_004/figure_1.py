"""Paper 004, Figure 1 (§4.1): linear LambdaRank trained for NDCG and for ERR, both measures on training and validation data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.claims import ALIKE, BETTER, WORSE, Compared
from papers.data import letor
from papers.experiment import Case, Experiment, Floats, Outcome, Outcomes, Points, RunContext, Values
from papers.figure import Panel, PaperFigure
from papers.item import Item
from papers.paper_004.by_data_set import groups_of, mean_curve, mean_points
from papers.paper_004.setup import (
    ABOUT_WEB,
    ERR_NAME,
    NDCG_NAME,
    WEB,
    WORLDS,
    err,
    judged_by_both,
    world_cases,
    world_of,
)
from rankinite import ERR, NDCG, Dataset, LambdaRank, Linear, synthesise
from rankinite.data.folds import holdouts

TENTHS = 10
RATE_AND_EPOCHS = {True: (0.001, 100), False: (0.0001, 30)}
"""Of real and of artificial data, which have ten times as many queries, and so steps, in an epoch."""
PAPERS_TENTH = 1994
"""Queries of a tenth of the challenge's training data."""
FOR_ERR, FOR_NDCG, UNTRAINED = "for ERR", "for NDCG", "untrained"
SHOWN = {ERR_NAME: "ERR", NDCG_NAME: "NDCG@10"}


def linear(measure: ERR | NDCG, watch: ERR | NDCG, case: Case, context: RunContext) -> LambdaRank:
    """Linear LambdaRank with steps of one size, so that what is watched changes nothing."""
    rate, epochs = RATE_AND_EPOCHS[case.real]
    return LambdaRank(
        measure=measure, watch=watch, hidden=(), optimiser="adam", rate=rate, epochs=context.size(epochs, 5), patience=None,
        decay=1.0, restarts=0, seed=0, train_history=True,
    )  # fmt: skip


def cases(context: RunContext) -> Sequence[Case]:
    """The tenths of real data, and worlds whose training data have as many queries as the paper's tenth."""
    seconds = {"mq2007": 30.0, "mq2008": 11.0}
    return [*(Case(name, name, name, name, seconds=seconds[name]) for name in WEB), *world_cases(context, 10.0)]


def run(case: Case, context: RunContext) -> Outcome:
    """Train on each tenth for each measure, and judge on the next tenth."""
    measures = {ERR_NAME: err(case), NDCG_NAME: NDCG(10)}
    tests: list[Values] = []
    curves: dict[str, dict[str, list[Points]]] = {ERR_NAME: {}, NDCG_NAME: {}}
    for train, valid in _pairs(case, context):
        rankers: dict[str, Linear | Floats] = {UNTRAINED: np.zeros(valid.rows)}
        for called, goal in zip((FOR_ERR, FOR_NDCG), measures.values(), strict=True):
            rankers[called] = _fitted(linear(goal, goal, case, context), train)
            for name, watch in measures.items():
                history = _fitted(linear(goal, watch, case, context), train, valid).history
                assert history is not None
                for part, values in (("training", history.train), ("validation", history.valid)):
                    points = list(range(len(values))), values.tolist()
                    curves[name].setdefault(f"{called}, {part}", []).append(points)
        tests.append(judged_by_both(rankers, valid, case))
    return Outcome(
        {"test": _joined(tests)},
        {name: {line: mean_points(points) for line, points in lines.items()} for name, lines in curves.items()},
    )


def _fitted(learner: LambdaRank, train: Dataset, valid: Dataset | None = None) -> Linear:
    ranker = learner.fit(train, valid)
    assert isinstance(ranker, Linear)
    return ranker


def _pairs(case: Case, context: RunContext) -> list[tuple[Dataset, Dataset]]:
    """A tenth to train on with the next one to validate on; each is validated on once."""
    if not case.real:
        queries, world = context.size(PAPERS_TENTH, 60), world_of(case)
        return [(synthesise(queries, part="train", world=world), synthesise(queries, part="valid", world=world))]
    tenths = [part.held for part in holdouts(letor(context, case.data), TENTHS, seed=0)]
    pairs = list(zip(tenths, [*tenths[1:], tenths[0]], strict=True))
    return pairs[: context.size(TENTHS, 2)]


def _joined(parts: Sequence[Values]) -> Values:
    return {
        name: {measure: np.concatenate([part[name][measure] for part in parts]) for measure in values}
        for name, values in parts[0].items()
    }


def layout(results: Outcomes) -> list[PaperFigure]:
    """ERR and NDCG by epoch, a figure per data set; that of the worlds is their mean."""
    figures: list[PaperFigure] = []
    lines = [f"{goal}, {part}" for goal in (FOR_ERR, FOR_NDCG) for part in ("training", "validation")]
    for name, group in groups_of(results).items():
        panels = [
            Panel(name, "epoch", shown, {line: mean_curve(group, measure, line) for line in lines})
            for measure, shown in SHOWN.items()
        ]
        figures.append(PaperFigure(f"004-figure-1-{name}", f"Linear LambdaRank on {name}", panels))
    return figures


FIGURE_1 = Item(
    "004", "figure-1", "Linear LambdaRank learns ERR directly: ERR and NDCG by epoch, trained for one and for the other",
    (
        Compared("λ-gradients of ERR make a ranker that has learnt ERR", FOR_ERR, UNTRAINED, BETTER, ERR_NAME),
        Compared("Training for ERR and for NDCG gives the same ERR", FOR_ERR, FOR_NDCG, ALIKE, ERR_NAME),
        Compared("Training for ERR costs a little NDCG", FOR_ERR, FOR_NDCG, WORSE, NDCG_NAME),
    ),
    (Experiment("004-linear", cases, run, world_means=True),),
    layout,
    f"""Data dealt into ten parts by query: each part trains a linear ranker whose validation data are the next part, and values
    are those of all ten; artificial worlds ({WORLDS} seeds, 24 documents per query, 100 features, label noise of half the
    polynomial's spread) have {PAPERS_TENTH:,} queries in each, as the paper's tenth. 100 epochs of Adam at rate 0.001
    (artificial: 30 at 0.0001, as an epoch has ten times the steps) where the paper takes plain steps. Curves are means over the
    ten parts, or over the worlds. Claims are asked of validation queries, the epoch being the best on training data;
    "untrained" leaves all documents of a query tied. {ABOUT_WEB}""",
)  # fmt: skip
