"""Paper 002, Figure 1 (§4): fewer pairwise errors are not a better ranking, and RankNet's gradients ask for fewer errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.claims import Measured
from papers.experiment import Case, Experiment, Floats, Outcome, Outcomes, RunContext
from papers.figure import Panel, PaperFigure
from papers.item import Block, Item
from rankinite import ERR, NDCG, Dataset, evaluate, read
from rankinite.engine.kernel import SCORE
from rankinite.gradients.base import Objective
from rankinite.gradients.lambdas import Lambdas
from rankinite.gradients.ranknet import RankNetPairs
from rankinite.grid import Grid, number

DOCUMENTS = 16
RANKINGS = {"left": (1, 15), "right": (4, 10)}
"""The ranks of the two relevant documents: on the right the upper one is three ranks lower, the other five higher."""
GAPS = (0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Between neighbouring scores."""
RATIO = "upper over lower"
MEASURES = {"NDCG@10": NDCG(10), "ERR": ERR(max_grade=1)}


def cases(_context: RunContext) -> Sequence[Case]:
    """Both rankings at once."""
    return [Case("rankings", "rankings", seconds=1.0)]


def run(_case: Case, _context: RunContext) -> Outcome:
    """Errors and measures of both rankings, and what RankNet and LambdaRank push the relevant documents of the right one by."""
    facts = {side: _facts(_ranking(ranks)) for side, ranks in RANKINGS.items()}
    data = _ranking(RANKINGS["right"])
    losses: dict[str, Objective] = {"RankNet": RankNetPairs(data), "LambdaRank": Lambdas(data, NDCG(10))}
    upper, lower = (rank - 1 for rank in RANKINGS["right"])
    ratios: dict[str, tuple[list[float], list[float]]] = {}
    for name, loss in losses.items():
        pushes = [_pushes(loss, data, gap) for gap in GAPS]
        ratios[name] = list(GAPS), [push[upper] / push[lower] for push in pushes]
    return Outcome(curves={RATIO: ratios}, facts=facts)


def _ranking(relevant: tuple[int, ...]) -> Dataset:
    """A query whose documents are in the order of their only feature."""
    grades = [float(rank in relevant) for rank in range(1, DOCUMENTS + 1)]
    return read(_scores(1.0)[:, None], grades=grades, qid=["query"] * DOCUMENTS)


def _scores(gap: float) -> Floats:
    """Falling scores, each this far from the next."""
    return gap * np.arange(DOCUMENTS, 0, -1, dtype=SCORE)


def _facts(data: Dataset) -> dict[str, float]:
    grades = data.grades.tolist()
    errors = sum(below > above for rank, above in enumerate(grades) for below in grades[rank:])
    evaluation = evaluate(_scores(1.0), data, list(MEASURES.values()))
    return {"pairwise errors": errors, **{name: evaluation[measure].mean for name, measure in MEASURES.items()}}


def _pushes(loss: Objective, data: Dataset, gap: float) -> Floats:
    push, curvature = np.empty((2, 1, data.rows), SCORE)
    loss.gradients(_scores(gap)[None, :], push, curvature)
    return push[0]


def fewer_errors(results: Outcomes) -> tuple[str, bool | None]:
    """Thirteen errors become eleven, while NDCG@10 and ERR fall."""
    left, right = (next(iter(results))[1].facts[side] for side in RANKINGS)
    errors = f"errors {left['pairwise errors']} → {right['pairwise errors']}"
    measured = [f"{name} {number(left[name])} → {number(right[name])}" for name in MEASURES]
    fall = all(right[name] < left[name] for name in MEASURES)
    return ", ".join([errors, *measured]), fall and (left["pairwise errors"], right["pairwise errors"]) == (13, 11)


def arrows(results: Outcomes) -> tuple[str, bool | None]:
    """Between which gaps of the scores RankNet pushes the lower document harder, and LambdaRank the upper one."""
    ratios = next(iter(results))[1].curves[RATIO]
    pairs = zip(GAPS, ratios["RankNet"][1], ratios["LambdaRank"][1], strict=True)
    gaps = [gap for gap, ranknet, lambdarank in pairs if ranknet < 1.0 < lambdarank]
    if not gaps:
        return "at no gap between neighbouring scores", False
    return f"where neighbouring scores are up to {max(gaps):g} apart; beyond, both push the lower one harder", True


def layout(results: Outcomes) -> list[Block]:
    """The two rankings as a table, the arrows as the ratio of two."""
    outcome = next(iter(results))[1]
    columns = ("pairwise errors", *MEASURES)
    rows = [
        (side, " and ".join(map(str, ranks)), *(f"{outcome.facts[side][column]:.4g}" for column in columns))
        for side, ranks in RANKINGS.items()
    ]
    panel = Panel("The ranking on the right", "gap of scores", "push at rank 4 / push at rank 10", outcome.curves[RATIO])
    return [
        Grid(("ranking", "ranks of the relevant documents", *columns), tuple(rows), "llrrr"),
        PaperFigure("002-figure-1", "How much harder the upper of two relevant documents is pushed", [panel]),
    ]


FIGURE_1 = Item(
    "002", "figure-1", "Pairwise errors against what a user sees, and the gradients of RankNet and LambdaRank",
    (
        Measured("Fewer pairwise errors (13 → 11) can come with worse NDCG and ERR", fewer_errors),
        Measured("RankNet pushes the lower of two relevant documents harder where LambdaRank pushes the upper one", arrows),
    ),
    (Experiment("002-rankings", cases, run),),
    layout,
    """16 documents, two of them relevant: at ranks 1 and 15, then at 4 and 10; σ is 1, and LambdaRank is for NDCG@10. The
    paper's arrows are a sketch without scores, so both gradients are taken at many gaps between neighbouring scores.""",
)  # fmt: skip
