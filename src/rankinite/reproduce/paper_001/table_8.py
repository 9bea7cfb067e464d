"""Paper 001, Table 8 (§5.2): interpolated rankers on the open test."""

from __future__ import annotations

from rankinite.reproduce.claims import BETTER
from rankinite.reproduce.paper_001.boosters import OWN
from rankinite.reproduce.paper_001.closed_and_open import OPEN, Row
from rankinite.reproduce.paper_001.language_runs import AS_TABLE_5, FOUR, NUMBERS, TWO, claim_on, language_item, of

PAPER: dict[str, Row] = {
    of(TWO, 1): (None, 0.5369, 0.5768, 0.5500),
    of(TWO, 2): (0.5274, 0.5416, 0.5788, 0.5531),
    of(TWO, 3): (None, 0.5339, 0.5766, 0.5487),
    FOUR: (None, 0.5414, 0.5823, 0.5549),
}
asked = claim_on(OPEN)

ITEM = language_item(
    "table-8", "Interpolated rankers on the open test", OPEN,
    (
        asked("4-way interpolation is better than the in-domain ranker", FOUR, OWN, BETTER),
        *(asked(f"4-way interpolation is better than 2-way with background {n}", FOUR, of(TWO, n), BETTER) for n in NUMBERS),
    ),
    PAPER,
    f"{AS_TABLE_5} Three numbers of the paper have been lost.",
)  # fmt: skip
