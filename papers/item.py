"""Item: a table or figure of a paper, what it claims, which experiments show it, and how it is laid out; and all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from papers.claims import UNDECIDED, Claim, Finding, findings
from papers.experiment import Experiment, Outcomes
from papers.figure import PaperFigure
from rankinite import ArgumentError
from rankinite.errors import listed
from rankinite.grid import Grid

PAPERS = {
    "000": "Wu, Burges, Svore, Gao: Adapting boosting for information retrieval measures (2009)",
    "001": "Gao et al.: Model adaptation via model interpolation and boosting for web search ranking (2009)",
    "002": "Burges: From RankNet to LambdaRank to LambdaMART: an overview (2010)",
    "003": "Chen et al.: Trada: tree based ranking function adaptation (2008)",
    "004": "Burges et al.: Learning to rank using an ensemble of lambda-gradient models (2011)",
}
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
        return [
            replace(one, why=self.item.if_open) if one.verdict == UNDECIDED and not one.why else one
            for one in findings(self.item.claims, self.results)
        ]

    @property
    def blocks(self) -> Sequence[Block]:
        return self.item.layout(self.results) if self.results or not self.item.experiments else ()

    def overview(self) -> Grid:
        """Its claims with their verdicts."""
        rows = tuple((one.claim, one.ours, one.shown_verdict) for one in self.findings)
        return Grid(("the paper says", "here", "verdict"), rows, "lll", title=f"{self.item}: {self.item.title}")

    def __str__(self) -> str:
        """All of it for a terminal."""
        parts = [self.overview().text()]
        parts += [f"{one.claim}: {one.verdict}. {' '.join(one.why.split())}" for one in self.findings if one.why]
        for block in self.blocks:
            if isinstance(block, PaperFigure):
                parts += [grid.text() for grid in block.grids()]
            else:
                parts.append(block if isinstance(block, str) else block.text())
        return "\n\n".join(parts)


@cache
def items() -> tuple[Item, ...]:
    """Every table and figure of the five papers that reports a result, in the papers' order."""
    from papers import paper_000, paper_001, paper_002, paper_003, paper_004

    return (*paper_000.ITEMS, *paper_001.ITEMS, *paper_002.ITEMS, *paper_003.ITEMS, *paper_004.ITEMS)


def items_of(paper: str | None, names: Sequence[str] = ()) -> list[Item]:
    """The items of a paper, or those named; all without a paper. Unknown names list the known ones."""
    chosen = [item for item in items() if paper in {None, item.paper}]
    if not chosen:
        raise ArgumentError(f"there is no paper {paper!r}", value=paper, rule=f"Papers are {listed(PAPERS)}")
    known = {item.name: item for item in chosen}
    for name in names:
        if name not in known:
            rule = f"Its items are {listed(known)}"
            raise ArgumentError(f"there is no item {name!r}", place=f"paper {paper}", value=name, rule=rule)
    return [known[name] for name in names] if names else chosen


def experiment_named(name: str) -> Experiment:
    return next(experiment for item in items() for experiment in item.experiments if experiment.name == name)
