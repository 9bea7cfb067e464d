"""The pages in docs are what the program writes from the results that are kept there, and explain every claim that fails."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from papers.claims import UNDECIDED, Finding
from papers.figure import Panel, PaperFigure
from papers.item import PAPERS
from papers.pages import overview, paper_page
from papers.running import kept_items

DOCS = Path(__file__).parents[2] / "docs"


@cache
def kept():
    return kept_items(DOCS)


def test_the_overview_is_as_the_program_writes_it():
    assert (DOCS / "reproduction.md").read_text(encoding="utf-8") == overview(kept())


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_a_paper_is_as_the_program_writes_it(paper):
    items = [(one, made) for one, made in kept() if one.item.paper == paper]
    assert (DOCS / "reproduction" / f"{paper}.md").read_text(encoding="utf-8") == paper_page(paper, items)


def test_every_claim_that_does_not_hold_or_stays_open_has_a_reason():
    unexplained = [
        (str(one.item), finding.claim)
        for one, _ in kept()
        for finding in one.findings
        if finding.verdict in ("does not hold", UNDECIDED) and not finding.why
    ]
    assert unexplained == []


def test_all_cases_have_been_run():
    assert [(str(one.item), one.missing) for one, _ in kept() if one.missing] == []


def test_every_figure_is_there_as_a_picture_and_as_a_table():
    figures = [block for one, _ in kept() for block in one.blocks if isinstance(block, PaperFigure)]
    assert figures
    for figure in figures:
        assert (DOCS / "reproduction" / "figures" / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
        assert figure.described()
        assert all(grid.rows for grid in figure.grids())


def test_a_picture_is_the_same_bytes_for_the_same_numbers():
    figure = PaperFigure("x", "Lines", [Panel("all", "trees", "NDCG", {"a": ([1, 2], [0.1, 0.2]), "b": ([1, 2], [0.3, 0.2])})])
    assert figure.png() == figure.png()


def test_a_verdict_names_the_data_it_rests_on():
    assert Finding("a", "b", "holds", decided_by="real").shown_verdict == "holds (real data)"
    assert Finding("a", "b", UNDECIDED).shown_verdict == UNDECIDED
