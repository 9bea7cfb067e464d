"""Paper 000, Figure 4 (§5.6): the weight α that the optimal combiner gives to each tree."""

from __future__ import annotations

import numpy as np

from rankinite.reproduce.claims import BETTER, Compared, Measured
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.item import Item
from rankinite.reproduce.paper_000.exact_steps import ALPHA, CONSTANT, EXACT, EXPERIMENT, HIGH, LOW, TEST

LATE = 100
"""The last rounds, in which many trees are there already."""
TIMES = 2.0
"""α fluctuates if the third quartile of its values is at least so many times the first."""
SMALL = 1.0


def fluctuates(results: Outcomes) -> tuple[str, bool | None]:
    """How much α varies in the last rounds."""
    told: list[str] = []
    ratios: list[float] = []
    for unit in results.units:
        late = [outcome.curves[ALPHA][EXACT][1][-LATE:] for _, outcome in results.where(unit=unit)]
        low, middle, high = np.mean([np.quantile(alphas, (0.25, 0.5, 0.75)) for alphas in late], axis=0).tolist()
        told.append(f"{unit}: quartiles {low:.2f}, {middle:.2f} and {high:.2f} in the last {len(late[0])} rounds")
        ratios.append(high / low)
    return "; ".join(told), min(ratios) >= TIMES


def small_ones(results: Outcomes) -> tuple[str, bool | None]:
    """How many trees get a small weight."""
    shares = {
        unit: float(np.mean([np.mean(np.asarray(o.curves[ALPHA][EXACT][1]) < SMALL) for _, o in results.where(unit=unit)]))
        for unit in results.units
    }
    return "; ".join(f"{unit}: {share:.0%} below {SMALL:g}" for unit, share in shares.items()), min(shares.values()) >= 0.05


def layout(results: Outcomes) -> list[PaperFigure]:
    """α by rounds: of web data the first fold, as one training has one curve."""
    panels: list[Panel] = []
    for unit in results.units:
        case, outcome = next(iter(results.where(unit=unit)))
        panels.append(Panel(case.name, "boosting iteration", "α", {EXACT: outcome.curves[ALPHA][EXACT]}))
    return [PaperFigure("000-figure-4", "α of the optimal combiner at each boosting iteration", panels)]


ITEM = Item(
    "000", "figure-4", "The weight α of each tree, as the optimal combiner chooses it on validation queries",
    (
        Measured("α fluctuates from round to round even when there are many trees", fluctuates),
        Measured("Some trees get small weights: they hardly help", small_ones),
        Compared("Choosing α anew for each tree is much better than a constant one", EXACT, CONSTANT, BETTER, test=TEST,
                 why="Weights chosen on few validation queries follow their noise."),
    ),
    (EXPERIMENT,),
    layout,
    f"""The trainings are those of Figure 3; α lies in [{LOW:g}, {HIGH:g}]. The constant is the mean of the α chosen, and
    both forests are cut where the validation queries are ranked best. The paper draws web data alone.""",
)  # fmt: skip
