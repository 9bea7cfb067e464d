"""Item: a table or figure of a paper, what it claims, which experiments show it, and how it is laid out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rankinite.grid import Grid
from rankinite.reproduce.claims import UNDECIDED, Claim, Finding, findings
from rankinite.reproduce.experiment import Experiment, Outcomes
from rankinite.reproduce.figure import PaperFigure

Block = Grid | PaperFigure | str
"""A table, a figure or a paragraph."""


@dataclass(frozen=True)
class Item:
    """One table or figure."""

    paper: str
    """The number of the paper: 000 to 004."""
    name: str
    """As in the paper: ``table-1``, ``figure-4``, ``section-2.1``."""
    title: str
    """What it shows."""
    claims: Sequence[Claim]
    experiments: Sequence[Experiment] = ()
    layout: Callable[[Outcomes], Sequence[Block]] = lambda _results: ()
    """Its tables and figures from what was found, the paper's own numbers beside ours."""
    setting: str = ""
    """What was done: data, contenders, every setting, and where this differs from the paper."""
    if_open: str = ""
    """Why claims that give no reason of their own stay open, and what would decide them."""

    def __str__(self) -> str:
        return f"{self.paper} {self.name}"

    @property
    def heading(self) -> str:
        """Its name for readers: ``Table 1``."""
        return self.name.replace("-", " ").capitalize()

    @property
    def page(self) -> str:
        """Where it is found, seen from the overview: the page of its paper, and the heading there."""
        return f"reproduction/{self.paper}.md#{self.name.replace('.', '')}"


@dataclass(frozen=True)
class Reproduced:
    """An item with what was found."""

    item: Item
    results: Outcomes
    missing: int = 0
    """Cases that were not run: what is found is provisional until there are none."""

    @property
    def findings(self) -> list[Finding]:
        """What became of its claims."""
        found = findings(self.item.claims, self.results)
        return [replace(one, why=self.item.if_open) if one.verdict == UNDECIDED and not one.why else one for one in found]

    @property
    def blocks(self) -> Sequence[Block]:
        """Tables, figures and paragraphs."""
        return self.item.layout(self.results) if self.results or not self.item.experiments else ()

    def overview(self) -> Grid:
        """Its claims with their verdicts."""
        rows = tuple((one.claim, one.ours, one.shown_verdict) for one in self.findings)
        return Grid(("the paper says", "here", "verdict"), rows, "lll", title=f"{self.item}: {self.item.title}")

    def text(self) -> str:
        """All of it for a terminal."""
        parts = [self.overview().text()]
        parts += [f"{one.claim}: {one.verdict}. {' '.join(one.why.split())}" for one in self.findings if one.why]
        for block in self.blocks:
            if isinstance(block, PaperFigure):
                parts += [grid.text() for grid in block.grids()]
            else:
                parts.append(block if isinstance(block, str) else block.text())
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.text()
