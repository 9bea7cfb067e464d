"""Paper 001, Table 12 (§5.2): LambdaSMART on the open test."""

from __future__ import annotations

from rankinite.reproduce.claims import WORSE, Measured
from rankinite.reproduce.differences import difference
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.paper_001.boosters import AVERAGE, SMART
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, OPEN, Row
from rankinite.reproduce.paper_001.language_runs import FOUR, NUMBERS, claim_on, language_item, of
from rankinite.reproduce.unit_contrasts import contrast

PAPER: dict[str, Row] = {
    of(SMART, 1): (0.5177, 0.5297, 0.5563, 0.5391),
    of(SMART, 2): (0.5205, 0.5317, 0.5522, 0.5368),
    of(SMART, 3): (0.5198, 0.5305, 0.5644, 0.5410),
}
asked = claim_on(OPEN)
CARRIES = """What trees learn from 750 artificial queries carries over to other domains of the same kind; on the collections
interpolation is ahead, but from background 1 not surely. Languages with thousands of judged queries would decide."""


def drop(results: Outcomes) -> tuple[str, bool | None]:
    """By how much LambdaSMART, from all backgrounds, falls behind 4-way interpolation from the closed to the open test."""

    def lost(own: Outcomes) -> float | None:
        seen = [[difference(own, of(SMART, n), FOUR, AVERAGE, test) for test in (CLOSED, OPEN)] for n in NUMBERS]
        known = [closed.mean - opened.mean for closed, opened in seen if closed is not None and opened is not None]
        return sum(known) / len(known) if known else None

    return contrast(results, lost)


ITEM = language_item(
    "table-12", "LambdaSMART on the open test", OPEN,
    (
        *(
            asked(f"LambdaSMART from background {n} is worse than 4-way interpolation", of(SMART, n), FOUR, WORSE, why=CARRIES)
            for n in NUMBERS
        ),
        Measured("LambdaSMART loses more than 4-way interpolation from the closed to the open test", drop),
    ),
    PAPER,
)  # fmt: skip
