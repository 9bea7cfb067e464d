"""Paper 003, Figure 9 (§5.5.3): 30 additional trees on the tuned forest, and on the base model."""

from __future__ import annotations

from rankinite.reproduce.claims import BETTER, Compared
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_003 import sizes
from rankinite.reproduce.paper_003.models import ADAPTED, ADDITIVE, BASE, MORE, RELATIVE
from rankinite.reproduce.paper_003.size_layouts import OPEN_BECAUSE, size_figure
from rankinite.reproduce.paper_003.sizes import RESPONSES

LINES = {
    "base model": BASE,
    f"additive: base + {MORE} trees": ADDITIVE,
    "R": RESPONSES,
    f"adapted: R + {MORE} trees": ADAPTED,
}
OVERFIT = "The paper has 200 to 1,000 queries; real samples here have 3 to 392, and additional trees overfit the smallest."
ITEM = Item(
    "003", "figure-9", f"DCG of {MORE} additional trees, on the tuned forest and on the base model",
    (
        Compared(f"{MORE} trees on the base model improve it", ADDITIVE, BASE, BETTER, RELATIVE, why=OVERFIT),
        Compared(f"{MORE} trees on the tuned forest improve it", ADAPTED, RESPONSES, BETTER, RELATIVE, why=OVERFIT),
        Compared("Tuned with additional trees is much better than additional trees alone", ADAPTED, ADDITIVE, BETTER, RELATIVE),
    ),
    (sizes.EXPERIMENT,),
    size_figure("003-figure-9", "Additional trees and the number of target queries", LINES),
    f"""Responses are tuned layer by layer with β = 10; the additional trees are like those of the base model, boosted on what
    is left to be explained of the target's gains. {sizes.SAME}""",
    OPEN_BECAUSE,
)  # fmt: skip
