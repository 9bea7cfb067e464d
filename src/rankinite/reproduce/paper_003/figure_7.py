"""Paper 003, Figure 7 (§5.5.2): responses tuned layer by layer, or at the leaves alone."""

from __future__ import annotations

from rankinite.reproduce.claims import BETTER, Compared
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_003 import sizes
from rankinite.reproduce.paper_003.models import RELATIVE
from rankinite.reproduce.paper_003.size_layouts import OPEN_BECAUSE, size_figure
from rankinite.reproduce.paper_003.sizes import AGGREGATED, RESPONSES

LINES = {"R: layer by layer": RESPONSES, "RA: at leaves": AGGREGATED}
ITEM = Item(
    "003", "figure-7", "DCG of forests whose responses are tuned layer by layer (R) or at leaves alone (RA)",
    (
        Compared(
            "Tuning layer by layer is much better than tuning the leaves' responses", RESPONSES, AGGREGATED, BETTER, RELATIVE,
            why="""The more target documents reach every node, the less the two can differ; the paper does not say with which β
            it compared them.""",
        ),
    ),
    (sizes.EXPERIMENT,),
    size_figure("003-figure-7", "Two ways to tune responses", LINES),
    f"""Algorithm 1 with β = 10: splitting values stay, nothing is trimmed or added. {sizes.SAME}""",
    OPEN_BECAUSE,
)  # fmt: skip
