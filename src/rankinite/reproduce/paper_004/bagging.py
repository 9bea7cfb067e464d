"""Paper 004, §4.3: bags of ten LambdaMARTs, each with its own tenth of the queries to stop by, against single ones."""

from __future__ import annotations

from functools import partial

from rankinite.grid import Grid
from rankinite.reproduce.claims import BETTER, Compared
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_004.accuracy_grids import NONE, gain_grid
from rankinite.reproduce.paper_004.challenge_data import ERR_NAME, NDCG_NAME
from rankinite.reproduce.paper_004.groups import groups_of, mean_curve
from rankinite.reproduce.paper_004.twelve_runs import (
    ALL,
    ALL_BAGGED,
    AS_IN_TABLE_2,
    EXPERIMENT,
    LAMBDAMARTS,
    LOWERED,
    MEMBERS,
    OPEN_BECAUSE,
    PLAIN_MODELS,
    bag_of,
)

TRIFLE = 0.0005
"""What the paper's Table 3 decides by; of bags it gives no numbers."""
BAGS = {(bag_of(name), name): NONE for name in LAMBDAMARTS} | {(ALL_BAGGED, ALL): NONE}


def layout(results: Outcomes) -> list[Grid | PaperFigure]:
    """What every bag gains over its single models, and how many models are enough."""
    panels = [
        Panel(name, "models in the bag", "ERR", {line: mean_curve(own, MEMBERS, line) for line in PLAIN_MODELS.values()})
        for name, own in groups_of(results).items()
    ]
    return [
        gain_grid(results, BAGS, "Bags of ten less single models, on test queries"),
        PaperFigure("004-bagging", "ERR by the number of models in a bag", panels),
    ]


more = partial(Compared, says=BETTER, matters=TRIFLE)
ITEM = Item(
    "004", "bagging", "Ten-fold bags against single models (§4.3)",
    (
        more("A bag of LambdaMARTs for ERR has more ERR than one of them", bag_of("M1"), "M1", measure=ERR_NAME),
        more("A bag of LambdaMARTs for NDCG has more NDCG than one of them", bag_of("M5"), "M5", measure=NDCG_NAME),
        more("A bag of LambdaMARTs for ERR on Aug50 has more ERR than one", bag_of("M2"), "M2", measure=ERR_NAME),
        more("A bag of LambdaMARTs for NDCG on Aug50 has more NDCG than one", bag_of("M6"), "M6", measure=NDCG_NAME),
        more("An ensemble with bags has more ERR than one of single models", ALL_BAGGED, ALL, measure=ERR_NAME),
        more("An ensemble with bags has more NDCG than one of single models", ALL_BAGGED, ALL, measure=NDCG_NAME),
    ),
    (EXPERIMENT,),
    layout,
    f"""The paper takes bags to learn from all training data, though each model needs some to stop by; it gives no numbers,
    and only gains shown to be below 0.0005, by which its Table 3 decides, refute a claim. {LOWERED}
    {AS_IN_TABLE_2} A bag is the mean score of the ten. In the ensemble with bags M1 to M8 are bags, the others are not.""",
    OPEN_BECAUSE,
)  # fmt: skip
