"""How Table 3 and Figures 6 to 11 show the experiment on numbers of target queries, and what more queries bring."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from rankinite.reproduce.differences import difference, mean_of
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.paper_003.models import RELATIVE
from rankinite.reproduce.paper_003.sizes import FEWEST, MOST
from rankinite.reproduce.unit_contrasts import contrast

OPEN_BECAUSE = """Worlds and pairs of domains differ more among each other than the models do. The paper asks the queries of one
domain; more domains as far from their source as its targets, which nobody knows, would decide."""
UP = "DCG, base model = 1"


def kinds_of(results: Outcomes) -> list[tuple[str, bool, Outcomes]]:
    """Artificial results, which have the paper's sizes, shift by shift, and real ones, each with a title."""
    artificial, real = results.where(real=False), results.where(real=True)
    found = [(f"Worlds with shift {shift:g}", False, artificial.where(shift=shift)) for shift in artificial.settings("shift")]
    found = [*(found or [("Artificial domains", False, artificial)]), ("Real pairs of domains", True, real)]
    return [(f"{title} ({len(own.units)})", is_real, own) for title, is_real, own in found if own]


def size_figure(name: str, title: str, lines: Mapping[str, str]) -> Callable[[Outcomes], list[PaperFigure]]:
    """The layout of a figure with one line per label, for the system named, over the number of target queries."""

    def layout(results: Outcomes) -> list[PaperFigure]:
        panels: list[Panel] = []
        for kind, real, own in kinds_of(results):
            shares = own.settings("share")
            places = [100.0 * share if real else _queries(own.where(share=share)) for share in shares]
            across = "target queries, % of the pool" if real else "target queries"
            drawn = {
                label: (places, [_mean(own.where(share=share), system) for share in shares]) for label, system in lines.items()
            }
            panels.append(Panel(kind, across, UP, drawn))
        return [PaperFigure(name, title, panels)]

    return layout


def more_queries(results: Outcomes, first: str, second: str = "") -> tuple[str, bool | None]:
    """Whether a system, or its lead over another, is larger with all queries of the pool than with the fewest."""

    def gained(own: Outcomes) -> float | None:
        most, fewest = (difference(own.where(share=share), first, second, RELATIVE) for share in (MOST, FEWEST))
        return None if most is None or fewest is None else most.mean - fewest.mean

    return contrast(results, gained)


def _queries(results: Outcomes) -> float:
    return float(np.mean([outcome.facts["queries"] for _, outcome in results]))


def _mean(results: Outcomes, system: str) -> float:
    found = mean_of(results, system, RELATIVE)
    return math.nan if found is None else found.mean
