"""Paper 001, Table 6 (§5.2): rankers of four languages on the open test."""

from __future__ import annotations

from rankinite.reproduce.claims import BETTER
from rankinite.reproduce.paper_001.boosters import BACK, OWN
from rankinite.reproduce.paper_001.closed_and_open import OPEN, Row
from rankinite.reproduce.paper_001.language_runs import NUMBERS, claim_on, language_item, of

PAPER: dict[str, Row] = {
    of(BACK, 1): (0.4991, 0.5242, 0.5397, 0.5278),
    of(BACK, 2): (0.5052, 0.5092, 0.5377, 0.5194),
    of(BACK, 3): (0.4779, 0.4855, 0.5114, 0.4942),
    OWN: (0.5164, 0.5295, 0.5675, 0.5430),
}
asked = claim_on(OPEN)

ITEM = language_item(
    "table-6", "Rankers of four languages on the open test of one", OPEN,
    (
        *(asked(f"The in-domain ranker is better than background {n}", OWN, of(BACK, n), BETTER) for n in NUMBERS),
    ),
    PAPER,
)  # fmt: skip
