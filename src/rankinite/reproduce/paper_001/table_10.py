"""Paper 001, Table 10 (§5.2): LambdaBoost on the open test."""

from __future__ import annotations

from rankinite.reproduce.claims import ALIKE
from rankinite.reproduce.paper_001.boosters import BOOST, SMART
from rankinite.reproduce.paper_001.closed_and_open import OPEN, Row
from rankinite.reproduce.paper_001.language_runs import NUMBERS, claim_on, language_item, of

PAPER: dict[str, Row] = {
    of(BOOST, 1): (0.4960, 0.5203, 0.5486, 0.5281),
    of(BOOST, 2): (0.5090, 0.5167, 0.5374, 0.5233),
    of(BOOST, 3): (0.5177, 0.5324, 0.5673, 0.5439),
}
asked = claim_on(OPEN)
APART = """Which is ahead depends on the number of target queries: on artificial data, with 750, LambdaSMART is, on
collections, with a few dozen, LambdaBoost is. Open tests of a language with thousands of judged queries would decide."""

ITEM = language_item(
    "table-10", "LambdaBoost on the open test", OPEN,
    (
        *(
            asked(
                f"LambdaBoost from background {n} is about as good as LambdaSMART", of(BOOST, n), of(SMART, n), ALIKE, why=APART
            )
            for n in NUMBERS
        ),
    ),
    PAPER,
)  # fmt: skip
