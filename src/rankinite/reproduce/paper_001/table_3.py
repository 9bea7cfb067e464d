"""Paper 001, Table 3 (§5.2): rankers of name queries on the closed test."""

from __future__ import annotations

from functools import partial

from rankinite.reproduce.adaptation import NETS
from rankinite.reproduce.claims import BETTER, Compared
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_001.boosters import AVERAGE, BACK, BOOST, OWN, SETTINGS, SMART
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, Row, table
from rankinite.reproduce.paper_001.names import ABOUT, EXPERIMENT, KINDS, OPEN_BECAUSE, THREE, TWO

PAPER: dict[str, Row] = {
    BACK: (0.4575, 0.4952, 0.5446, 0.5092),
    OWN: (0.4921, 0.5296, 0.5774, 0.5433),
    TWO: (0.4745, 0.5254, 0.5747, 0.5391),
    THREE: (0.4829, 0.5333, 0.5814, 0.5454),
    BOOST: (0.4706, 0.5011, 0.5569, 0.5192),
    SMART: (0.5042, 0.5449, 0.5951, 0.5623),
}
SETTING = (
    f"""Compared by AveNDCG. {ABOUT} Nets have two layers: the background's 15 hidden units, the others 10. {NETS} {SETTINGS}"""
)
closed = partial(Compared, says=BETTER, measure=AVERAGE, test=CLOSED)

ITEM = Item(
    "001", "table-3", "Rankers of name queries on the closed test: interpolation and boosting",
    (
        closed("The in-domain ranker is better than the background", OWN, BACK),
        closed("3-way interpolation is better than the background", THREE, BACK),
        closed("3-way interpolation is better than the in-domain ranker", THREE, OWN),
        closed("A third ranker, of similar background rows too, makes interpolation better", THREE, TWO),
        closed("LambdaSMART is better than LambdaBoost by a big margin", SMART, BOOST),
        closed("LambdaSMART is better than 3-way interpolation", SMART, THREE),
    ),
    (EXPERIMENT,),
    partial(table, test=CLOSED, paper=PAPER, kinds=KINDS),
    SETTING,
    OPEN_BECAUSE,
)  # fmt: skip
