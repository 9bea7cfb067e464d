"""Paper 003, Figure 6 (§5.5.1): β, the number of target queries, and DCG of forests tuned by algorithm 2."""

from __future__ import annotations

from functools import partial

from rankinite.reproduce.claims import ALIKE, BETTER, WORSE, Compared, Measured
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_003 import models, sizes
from rankinite.reproduce.paper_003.models import RELATIVE
from rankinite.reproduce.paper_003.size_layouts import OPEN_BECAUSE, more_queries, size_figure
from rankinite.reproduce.paper_003.sizes import BETAS, FEWEST, both

ITEM = Item(
    "003", "figure-6", "β and the number of target queries: DCG of forests whose splitting values and responses are tuned",
    (
        Measured("The more target queries, the better", partial(more_queries, first=both(10))),
        Compared("A larger β is better: 10 against 1", both(10), both(1), BETTER, RELATIVE),
        Compared("β = 20 is hardly different from 10", both(20), both(10), ALIKE, RELATIVE),
        Compared("Large β may overfit few queries: 100 against 10", both(100), both(10), WORSE, RELATIVE, at={"share": FEWEST}),
    ),
    (sizes.EXPERIMENT,),
    size_figure("003-figure-6", "β and the number of target queries", {f"β = {beta}": both(beta) for beta in BETAS}),
    f"""Algorithm 2: splitting values and responses are tuned, nothing is trimmed or added. The text names β = 10 and 20; 1 and
    5 are our choice of smaller ones, and 100 asks for the overfitting that the paper suspects. {models.SETTING}
    {sizes.SETTING}""",
    OPEN_BECAUSE,
)  # fmt: skip
