"""Paper 001, Table 11 (§5.2): LambdaSMART on the closed test."""

from __future__ import annotations

from rankinite.reproduce.claims import BETTER
from rankinite.reproduce.paper_001.boosters import OWN, SMART
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, Row
from rankinite.reproduce.paper_001.language_runs import FOUR, NUMBERS, claim_on, language_item, of

PAPER: dict[str, Row] = {
    of(SMART, 1): (0.6096, 0.6057, 0.6454, 0.6238),
    of(SMART, 2): (0.6014, 0.5966, 0.6385, 0.6172),
    of(SMART, 3): (0.5955, 0.6095, 0.6415, 0.6209),
}
asked = claim_on(CLOSED)

ITEM = language_item(
    "table-11", "LambdaSMART on the closed test", CLOSED,
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
    PAPER,
)  # fmt: skip
