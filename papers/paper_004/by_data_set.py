"""Results by data set, each real one by itself and all artificial worlds together: curves, and tables in the paper's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from papers.differences import difference, mean_text
from papers.experiment import Outcomes, Points
from papers.paper_004.setup import ERR_NAME, NDCG_NAME, WEB
from rankinite.grid import Grid

ARTIFICIAL = "worlds"


def groups_of(results: Outcomes) -> dict[str, Outcomes]:
    """The results of every data set that there are some of."""
    groups = {name: results.where(unit=name) for name in WEB} | {ARTIFICIAL: results.where(real=False)}
    return {name: group for name, group in groups.items() if group}


def mean_curve(results: Outcomes, drawn: str, line: str) -> Points:
    """A line of a drawing, the mean over cases."""
    return mean_points([outcome.curves[drawn][line] for _, outcome in results])


def mean_points(lines: Sequence[Points]) -> Points:
    """The mean of lines over the same places."""
    return lines[0][0], np.mean([values for _, values in lines], axis=0).tolist()


def agreed(verdicts: Sequence[bool]) -> bool | None:
    """Whether something is so on all data sets; None where they disagree."""
    return verdicts[0] if len(set(verdicts)) == 1 else None


PapersNumbers = tuple[str, str]
"""ERR and NDCG as the paper prints them; empty texts where it has none."""
NONE: PapersNumbers = ("", "")


def accuracy_grid(results: Outcomes, rows: Mapping[str, tuple[str, PapersNumbers]], title: str, heading: str = "model") -> Grid:
    """A row per label, with the system it stands for: the paper's ERR and NDCG, then ours for every data set."""
    ours = {
        label: [mean_text(group, system, measure) for group, measure in _columns(results)]
        for label, (system, _) in rows.items()
    }
    return _beside(results, ours, [papers for _, papers in rows.values()], title, heading)


def gain_grid(results: Outcomes, rows: Mapping[tuple[str, str], PapersNumbers], title: str) -> Grid:
    """A row per pair of systems: what the first gains over the second, in the paper and on every data set."""
    ours = {
        f"{first} − {second}": [str(difference(group, first, second, m) or "–") for group, m in _columns(results)]
        for first, second in rows
    }
    return _beside(results, ours, list(rows.values()), title, "gain")


def _columns(results: Outcomes) -> list[tuple[Outcomes, str]]:
    return [(group, measure) for group in groups_of(results).values() for measure in (ERR_NAME, NDCG_NAME)]


def _beside(
    results: Outcomes, ours: Mapping[str, Sequence[str]], papers: Sequence[PapersNumbers], title: str, heading: str
) -> Grid:
    """Our cells behind the paper's, which are left out where there are none."""
    has_papers = any(any(numbers) for numbers in papers)
    rows = tuple(
        (label, *(numbers if has_papers else ()), *cells) for (label, cells), numbers in zip(ours.items(), papers, strict=True)
    )
    names = [*(["paper"] if has_papers else []), *groups_of(results)]
    header = [heading, *(cell for name in names for cell in (f"{name}: ERR", "NDCG" if name == "paper" else "NDCG@10"))]
    return Grid(tuple(header), rows, title=title)
