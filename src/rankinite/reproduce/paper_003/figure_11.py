"""Paper 003, Figure 11 (§5.5.4): adapted, small-data, combination and base models over the number of target queries."""

from __future__ import annotations

from functools import partial

from rankinite.reproduce.claims import ALIKE, BETTER, Compared, Measured
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_003 import sizes
from rankinite.reproduce.paper_003.models import ADAPTED, BASE, MORE, RELATIVE, SMALL, TREES, WEIGHTS, combined
from rankinite.reproduce.paper_003.size_layouts import OPEN_BECAUSE, more_queries, size_figure

LINES = {name: name for name in (ADAPTED, SMALL, *map(combined, WEIGHTS), BASE)}
NEVER = """How many target queries make up for a base model depends on how far its domain is away."""
ITEM = Item(
    "003", "figure-11", "DCG of adapted, small-data, combination and base models against the number of target queries",
    (
        Compared("The adapted model is better than the base model", ADAPTED, BASE, BETTER, RELATIVE),
        Compared("The adapted model is better than the small-data model", ADAPTED, SMALL, BETTER, RELATIVE),
        Compared(
            "With 600 queries the adapted model is better than the small-data model", ADAPTED, SMALL, BETTER, RELATIVE,
            at={"size": 600}, why=NEVER,
        ),
        Compared(
            "With 1,000 queries the small-data model is on a par with the adapted model", SMALL, ADAPTED, ALIKE, RELATIVE,
            at={"size": 1000}, why=NEVER,
        ),
        Measured(
            "More queries bring more to the small-data model than to the adapted model",
            partial(more_queries, first=SMALL, second=ADAPTED),
        ),
        Compared("The adapted model is better than pooling both data (W = 1)", ADAPTED, combined(1), BETTER, RELATIVE),
        Compared(
            "With W = 20 the combination model is close to the small-data model, but for the fewest queries",
            combined(20), SMALL, ALIKE, RELATIVE, at={"fewest": False},
        ),
    ),
    (sizes.EXPERIMENT,),
    size_figure("003-figure-11", "Adaptation and other methods", LINES),
    f"""All but the base model have {TREES + MORE} trees. Adapted model: responses tuned layer by layer with β = 10, and
    {MORE} additional trees. Combination: every target query counts W times. The paper's text on W = 20 names
    Figure 12, but means this one. {sizes.SAME}""",
    OPEN_BECAUSE,
)  # fmt: skip
