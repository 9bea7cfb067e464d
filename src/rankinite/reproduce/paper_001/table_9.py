"""Paper 001, Table 9 (§5.2): LambdaBoost on the closed test."""

from __future__ import annotations

from rankinite.reproduce.claims import BETTER, WORSE
from rankinite.reproduce.paper_001.boosters import BACK, BOOST, SMART
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, Row
from rankinite.reproduce.paper_001.language_runs import NUMBERS, claim_on, language_item, of

PAPER: dict[str, Row] = {
    of(BOOST, 1): (0.5757, 0.5716, 0.6197, 0.5935),
    of(BOOST, 2): (0.5801, 0.5807, 0.6225, 0.5982),
    of(BOOST, 3): (0.5731, 0.5793, 0.6226, 0.5972),
}
asked = claim_on(CLOSED)

ITEM = language_item(
    "table-9", "LambdaBoost on the closed test", CLOSED,
    (
        *(asked(f"LambdaBoost improves on background {n}", of(BOOST, n), of(BACK, n), BETTER) for n in NUMBERS),
        *(
            asked(f"LambdaBoost from background {n} is worse than LambdaSMART", of(BOOST, n), of(SMART, n), WORSE)
            for n in NUMBERS
        ),
    ),
    PAPER,
)  # fmt: skip
