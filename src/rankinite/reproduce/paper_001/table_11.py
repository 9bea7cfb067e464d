"""Paper 001, Table 11 (§5.2): LambdaSMART on the closed test."""

from __future__ import annotations

from functools import partial

from rankinite.reproduce.claims import BETTER
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_001.boosters import OWN, SMART
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, Row, table
from rankinite.reproduce.paper_001.language_runs import AS_TABLE_5, EXPERIMENT, FOUR, KINDS, NUMBERS, claim_on, of

PAPER: dict[str, Row] = {
    of(SMART, 1): (0.6096, 0.6057, 0.6454, 0.6238),
    of(SMART, 2): (0.6014, 0.5966, 0.6385, 0.6172),
    of(SMART, 3): (0.5955, 0.6095, 0.6415, 0.6209),
}
asked = claim_on(CLOSED)


ITEM = Item(
    "001", "table-11", "LambdaSMART on the closed test",
    (
        *(
            asked(f"LambdaSMART from background {n} is better than the in-domain ranker", of(SMART, n), OWN, BETTER)
            for n in NUMBERS
        ),
        *(
            asked(f"LambdaSMART from background {n} is better than 4-way interpolation", of(SMART, n), FOUR, BETTER)
            for n in NUMBERS
        ),
    ),
    (EXPERIMENT,),
    partial(table, test=CLOSED, paper=PAPER, kinds=KINDS),
    AS_TABLE_5,
)  # fmt: skip
