"""Paper 001, Table 5 (§5.2): rankers of four languages on the closed test."""

from __future__ import annotations

from rankinite.reproduce.claims import BETTER
from rankinite.reproduce.paper_001.boosters import BACK, OWN
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, Row
from rankinite.reproduce.paper_001.language_runs import NUMBERS, SETTING, claim_on, language_item, of

PAPER: dict[str, Row] = {
    of(BACK, 1): (0.5371, 0.5413, 0.5873, 0.5616),
    of(BACK, 2): (0.5640, 0.5684, 0.6027, 0.5808),
    of(BACK, 3): (0.4966, 0.5105, 0.5761, 0.5393),
    OWN: (0.5927, 0.5824, 0.6291, 0.6055),
}
asked = claim_on(CLOSED)

ITEM = language_item(
    "table-5", "Rankers of four languages on the closed test of one", CLOSED,
    (
        *(asked(f"The in-domain ranker is better than background {n}", OWN, of(BACK, n), BETTER) for n in NUMBERS),
    ),
    PAPER,
    SETTING,
)  # fmt: skip
