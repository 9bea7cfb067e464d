"""The contenders of paper 000, Tables 2 and 3 (§5.5): a background adapted to a target domain."""

from __future__ import annotations

from rankinite.data.dataset import Dataset
from rankinite.grid import Grid
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures import NDCG
from rankinite.reproduce.adaptation import MEASURE, background_net, interpolated, net, with_valid
from rankinite.reproduce.claims import half
from rankinite.reproduce.differences import mean_of
from rankinite.reproduce.experiment import Lab, Outcomes
from rankinite.reproduce.outcome import Outcome, judged

MEASURES = (NDCG(10), NDCG(3), NDCG(1))
BACKGROUND, OWN, INTERPOLATED, SMART = "Background Ranker", "In-domain Ranker", "Interpolated Ranker", "LambdaSMART"
DRAWS = 3
SETTINGS = """LambdaSMART: 500 trees of 20 leaves at rate 0.1, plain λ and least-squares splits, 70 % of the rows drawn for
each tree, boosted from the background's scores as they are."""


def lambdasmart(draw: int, lab: Lab) -> LambdaMART:
    """The trees of §5.5, to be boosted from a base; validation queries choose how many."""
    return LambdaMART.paper(
        measure=MEASURE, trees=lab.size(500, 20), leaves=20, rate=0.1, row_share=0.7, patience=None, seed=draw,
        train_history=False,
    )  # fmt: skip


def adapted(background: Dataset, pool: Dataset, test: Dataset, hidden: int, draw: int, lab: Lab) -> Outcome:
    """Train on the background and the target's pool, adapt one to the other, and judge on the target's test queries."""
    train, valid = with_valid(pool, draw)
    base, own = background_net(background, draw, lab), net(hidden, draw, lab).fit(train, valid)
    rankers = {
        BACKGROUND: base,
        OWN: own,
        INTERPOLATED: interpolated([base, own], valid),
        SMART: lambdasmart(draw, lab).fit(train, valid, base=base),
    }
    return Outcome({"test": judged(rankers, test, MEASURES)})


def layout(results: Outcomes) -> list[Grid]:
    """NDCG at 10, 3 and 1 of the four rankers: real data, then artificial."""
    grids: list[Grid] = []
    for own in (results.where(real=True), results.where(real=False)):
        if own:
            rows = [(name, *(half(mean_of(own, name, str(m))) for m in MEASURES)) for name in own.systems()]
            grids.append(Grid(("ranker", "NDCG@10", "NDCG@3", "NDCG@1"), tuple(rows), title=_title(own)))
    return grids


def _title(results: Outcomes) -> str:
    units = results.units
    return f"Test queries: {', '.join(units)}" + (" (means)" if len(units) > 1 else "")
