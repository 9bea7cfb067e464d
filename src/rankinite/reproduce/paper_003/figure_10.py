"""Paper 003, Figure 10 (§5.5.3): more and more additional trees, with 600 target queries."""

from __future__ import annotations

from typing import Any

from rankinite.reproduce.claims import ALIKE, BETTER, Compared
from rankinite.reproduce.differences import mean_of
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.item import Item
from rankinite.reproduce.outcome import Points
from rankinite.reproduce.paper_003 import sizes
from rankinite.reproduce.paper_003.models import ADAPTED, ADDITIVE, BASE, RELATIVE
from rankinite.reproduce.paper_003.size_layouts import OPEN_BECAUSE, UP, kinds_of
from rankinite.reproduce.paper_003.sizes import ADDED, MIDDLE, RESPONSES, appended, lead

AT: dict[str, Any] = {"size": 600}
FEW, MANY = ADDED[0], ADDED[-1]
APART = "What more trees bring depends on how far the domains are apart, which nobody knows of the paper's."


def layout(results: Outcomes) -> list[PaperFigure]:
    """DCG over the number of additional trees; without any, the tuned forest and the base model."""
    panels = [
        Panel(
            title, "additional trees", UP, {"adapted": _line(own, RESPONSES, ADAPTED), "additive": _line(own, BASE, ADDITIVE)}
        )
        for title, _, own in kinds_of(results.where(share=MIDDLE))
    ]
    return [PaperFigure("003-figure-10", "Additional trees with a fixed number of target queries", panels)]


def _line(results: Outcomes, without: str, system: str) -> Points:
    names = {0: without, **{trees: appended(system, trees) for trees in ADDED}}
    found = {trees: mean_of(results, name, RELATIVE) for trees, name in names.items()}
    known = {trees: value.mean for trees, value in found.items() if value is not None}
    return list(known), list(known.values())


def _more(system: str, called: str) -> Compared:
    first, second = (appended(system, trees) for trees in (MANY, FEW))
    return Compared(
        f"More trees improve the {called} model: {MANY} against {FEW}", first, second, BETTER, RELATIVE, at=AT, why=APART
    )


def _ahead(trees: int) -> Compared:
    first, second = (appended(system, trees) for system in (ADAPTED, ADDITIVE))
    return Compared(
        f"With {trees} additional trees the adapted model is better than the additive one",
        first,
        second,
        BETTER,
        RELATIVE,
        at=AT,
    )


ITEM = Item(
    "003", "figure-10", "DCG against the number of additional trees, with 600 target queries",
    (
        _more(ADAPTED, "adapted"),
        _more(ADDITIVE, "additive"),
        _ahead(FEW),
        _ahead(MANY),
        Compared(
            f"Their distance stays almost the same: {MANY} trees against {FEW}", lead(MANY), lead(FEW), ALIKE, RELATIVE, at=AT
        ),
    ),
    (sizes.EXPERIMENT,),
    layout,
    f"""As Figure 9, at 600 of the 1,000 queries of an artificial pool; the panel of real pairs shows 60 % of their pools, 9 to
    235 queries, and settles nothing. The text does not say how many trees were added: here 10 to 100. {sizes.SAME}""",
    OPEN_BECAUSE,
)  # fmt: skip
