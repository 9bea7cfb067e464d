"""Paper 001, Table 4 (§5.2): rankers of name queries on the open test."""

from __future__ import annotations

from functools import partial

from rankinite.reproduce.claims import BETTER, WORSE, Compared, Measured
from rankinite.reproduce.differences import difference
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_001.boosters import AVERAGE, BACK, BOOST, OWN, SMART
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, OPEN, Row, table
from rankinite.reproduce.paper_001.names import EXPERIMENT, KINDS, OPEN_BECAUSE, THREE, TWO
from rankinite.reproduce.unit_contrasts import contrast

PAPER: dict[str, Row] = {
    BACK: (0.5472, 0.5347, 0.5731, 0.5510),
    OWN: (0.5216, 0.5266, 0.5789, 0.5472),
    TWO: (0.5452, 0.5414, 0.5891, 0.5604),
    THREE: (0.5474, 0.5470, 0.5951, 0.5661),
    BOOST: (0.5269, 0.5233, 0.5716, 0.5428),
    SMART: (None, None, None, None),
}
NEAR = """On artificial open tests, half of which take the target's change further, a ranker of the target is nearer than the
background. How far the paper's later queries had moved nobody knows; queries of one market, years apart, would decide."""
opened = partial(Compared, measure=AVERAGE, test=OPEN)


def smaller_gap(results: Outcomes) -> tuple[str, bool | None]:
    """By how much more LambdaSMART leads LambdaBoost on the closed test than on the open one."""

    def lead(own: Outcomes) -> float | None:
        closed, other = (difference(own, SMART, BOOST, AVERAGE, test) for test in (CLOSED, OPEN))
        return None if closed is None or other is None else closed.mean - other.mean

    return contrast(results, lead)


ITEM = Item(
    "001", "table-4", "Rankers of name queries on the open test: interpolation and boosting",
    (
        opened("The in-domain ranker is worse than the background", OWN, BACK, WORSE, why=NEAR),
        opened("3-way interpolation is better than the background", THREE, BACK, BETTER),
        opened("3-way interpolation is better than the in-domain ranker", THREE, OWN, BETTER),
        opened("2-way interpolation is better than LambdaSMART", TWO, SMART, BETTER),
        opened("3-way interpolation is better than LambdaSMART", THREE, SMART, BETTER),
        opened("3-way interpolation is better than LambdaBoost", THREE, BOOST, BETTER),
        Measured("LambdaSMART's lead over LambdaBoost is smaller than on the closed test", smaller_gap),
    ),
    (EXPERIMENT,),
    partial(table, test=OPEN, paper=PAPER, kinds=KINDS),
    "The settings are those of Table 3. The text of the paper has lost the line of LambdaSMART.",
    OPEN_BECAUSE,
)  # fmt: skip
