"""Paper 003, Figure 8 (§5.5.2): branches trimmed, and splitting values tuned too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankinite.reproduce.claims import ALIKE, WORSE, Compared
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.item import Block, Item
from rankinite.reproduce.paper_003 import sizes
from rankinite.reproduce.paper_003.models import RELATIVE
from rankinite.reproduce.paper_003.size_layouts import OPEN_BECAUSE, kinds_of, size_figure
from rankinite.reproduce.paper_003.sizes import BOTH_TRIMMED, RESPONSES, TRIMMED, both

LINES = {
    "R: responses": RESPONSES,
    "RT: R, trimmed": TRIMMED,
    "SR: R and splitting values": both(10),
    "SRT: SR, trimmed": BOTH_TRIMMED,
}


def layout(results: Outcomes) -> Sequence[Block]:
    """The figure, and how much there was to trim."""
    told = [
        f"{title}: {np.mean([outcome.facts['trimmed'] for _, outcome in own]):.1%} of the nodes are trimmed"
        for title, _, own in kinds_of(results)
    ]
    figures = size_figure("003-figure-8", "Trimmed branches and tuned splitting values", LINES)(results)
    return [*figures, f"Branches that no target document reaches: {'; '.join(told)}."]


ITEM = Item(
    "003", "figure-8", "DCG of forests with trimmed branches (T) and with tuned splitting values (S)",
    (
        Compared("Trimming makes no significant difference", TRIMMED, RESPONSES, ALIKE, RELATIVE),
        Compared(
            "Tuning splitting values too is slightly worse", both(10), RESPONSES, WORSE, RELATIVE,
            why="The paper saw it on D1, and says itself that other domains may differ.",
        ),
    ),
    (sizes.EXPERIMENT,),
    layout,
    f"""β = 10, no additional trees. {sizes.SAME}""",
    OPEN_BECAUSE,
)  # fmt: skip
