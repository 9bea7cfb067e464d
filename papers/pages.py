"""Pages: the overview of all items and one page per paper, written from kept results, never by hand."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from papers.claims import Finding
from papers.figure import PaperFigure
from papers.item import PAPERS, Block, Reproduced
from papers.results import Made
from rankinite.data.io.output_files import write_atomically
from rankinite.grid import Grid, markdown_text

WIDTH = 120
WithCircumstances = Sequence[tuple[Reproduced, Sequence[Made]]]
ABOUT = """Every table and figure of the five papers that reports a result, with the paper's claim, what was found here, and a
verdict.
`make reproduce` writes these pages from kept outcomes; `python -m papers 000 table-1 --data DIR` makes an item
again. A verdict needs evidence either way: *holds* and *does not hold* are p ≤ 0.05, comparisons of two systems corrected
for all of the item (Holm); "does not hold" includes differences shown to be smaller than 0.005 (half a point), or than the
paper's own if that is smaller, where the paper says there is one. Everything else *cannot be decided here*. Real data are
asked first, and where they decide nothing, artificial data, unless the real ones point the other way before correction; a
verdict on two systems names the data it rests on. Differences are paired, ± half their 95 % interval: over pairs of domains
or worlds where there are three or more, else over queries and draws."""
SEVERAL = {"holds": "hold", "does not hold": "do not hold", "not run": "have not been run"}
"""Verdicts on several claims."""
QUICK = "**These are quick versions**, with small data and few rounds: they show that everything runs, and decide nothing."


def write_pages(reproduced: WithCircumstances, folder: Path, *, quick: bool) -> list[Path]:
    """Write ``reproduction.md`` and a page per paper, with figures; the files written."""
    pages = folder / "reproduction"
    (pages / "figures").mkdir(parents=True, exist_ok=True)
    written = [_write(folder / "reproduction.md", overview(reproduced, quick=quick))]
    for paper in PAPERS:
        items = [(one, made) for one, made in reproduced if one.item.paper == paper]
        if items:
            figures = [block for one, _ in items for block in one.blocks if isinstance(block, PaperFigure)]
            written += [_write(pages / "figures" / f"{figure.name}.png", figure.png()) for figure in figures]
            written.append(_write(pages / f"{paper}.md", paper_page(paper, items)))
    return written


def overview(reproduced: WithCircumstances, *, quick: bool = False) -> str:
    """The page that lists all claims with their verdicts."""
    rows: list[str] = []
    for one, _ in reproduced:
        for place, finding in enumerate(one.findings):
            part = " (provisional)" * (bool(one.results) and one.missing > 0)
            link = f"[{one.item}]({one.item.page}){part}" if place == 0 else ""
            cells = [link, *map(markdown_text, (finding.claim, finding.ours, finding.shown_verdict))]
            rows.append(f"| {' | '.join(cells)} |")
    table = "\n".join(["| item | the paper says | here | verdict |", "| :-- | :-- | :-- | :-- |", *rows])
    about = [QUICK, ABOUT] if quick else [ABOUT]
    counts = _counts([finding for one, _ in reproduced for finding in one.findings])
    return "\n\n".join(["# The papers, reproduced", *map(_paragraph, (*about, counts)), table]) + "\n"


def _counts(findings: Sequence[Finding]) -> str:
    """How many claims have which verdict, and on which data the verdicts on two systems rest."""
    verdicts, kinds = (Counter(getattr(one, name) for one in findings) for name in ("verdict", "decided_by"))
    counted = ", ".join(f"{count} {SEVERAL.get(verdict, verdict)}" for verdict, count in verdicts.items())
    rested = f"{kinds['real']} rest on real data and {kinds['artificial']} on artificial data"
    return f"{len(findings)} claims: {counted}. Of the verdicts on two systems, {rested}."


def paper_page(paper: str, items: WithCircumstances) -> str:
    """All items of a paper."""
    parts = [
        f"# {paper}: the items",
        _paragraph(f"{PAPERS[paper]}. The overview of all papers is [here](../reproduction.md)."),
    ]
    for one, made in items:
        claims = one.overview()
        parts += [
            f"## {one.item.heading}",
            _paragraph(f"**{one.item.title}.**"),
            Grid(claims.header, claims.rows, claims.align).markdown(),
            *_reasons(one.findings),
            *([_paragraph(one.item.setting)] if one.item.setting else []),
            *(part for block in one.blocks for part in _block(block)),
            _paragraph(_circumstances(one, made)),
        ]
    return "\n\n".join(parts) + "\n"


def _reasons(findings: Sequence[Finding]) -> list[str]:
    """Why claims do not hold or stay open; those with one reason together."""
    claims: dict[tuple[str, str], list[str]] = {}
    for one in findings:
        if one.why:
            claims.setdefault((one.verdict, one.why), []).append(f"*{one.claim}*")
    return [_paragraph(f"{'; '.join(texts)}: {verdict}. {why}") for (verdict, why), texts in claims.items()]


def _block(block: Block) -> list[str]:
    if isinstance(block, str):
        return [_paragraph(block)]
    if isinstance(block, Grid):
        return [block.markdown()]
    # Brackets would end the text of the link.
    described = block.described().replace("[", "(").replace("]", ")")
    return [f"![{described}](figures/{block.name}.png)", *(grid.markdown() for grid in block.grids())]


def _circumstances(one: Reproduced, made: Sequence[Made]) -> str:
    if not one.item.experiments:
        return "There is nothing to run."
    if not made:
        return f"Not run yet: `python -m papers {one.item}`."
    minutes = sum(case.seconds for case in made) / 60.0
    dates = sorted({case.date for case in made})
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    machines, versions, codes = (
        ", ".join(dict.fromkeys(getattr(case, name) for case in made)) for name in ("machine", "versions", "code")
    )
    count = f"{len(made)} of {len(made) + one.missing} cases, so provisional" if one.missing else f"{len(made)} cases"
    return f"`python -m papers {one.item}`: {count}, {minutes:.0f} minutes, {span}; {machines}; {versions}; code {codes}."


def _paragraph(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH)


def _write(path: Path, content: str | bytes) -> Path:
    with write_atomically(path) as handle:
        handle.write(content.encode() if isinstance(content, str) else content)
    return path
