"""Tables of ERR and NDCG in the paper's form, with the paper's own numbers beside those found here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankinite.grid import Grid
from rankinite.reproduce.claims import half
from rankinite.reproduce.differences import Difference, difference, mean_of
from rankinite.reproduce.experiment import Outcomes
from rankinite.reproduce.paper_004.challenge_data import ERR_NAME, NDCG_NAME
from rankinite.reproduce.paper_004.groups import groups_of

PapersNumbers = tuple[str, str]
"""ERR and NDCG as the paper prints them; empty texts where it has none."""
NONE: PapersNumbers = ("", "")


def accuracy_grid(results: Outcomes, rows: Mapping[str, tuple[str, PapersNumbers]], title: str, heading: str = "model") -> Grid:
    """A row per label, with the system it stands for: the paper's ERR and NDCG, then ours for every data set."""
    found = {
        label: [half(mean_of(own, system, measure)) for own, measure in _columns(results)]
        for label, (system, _) in rows.items()
    }
    return _beside(results, found, [papers for _, papers in rows.values()], title, heading)


def gain_grid(results: Outcomes, rows: Mapping[tuple[str, str], PapersNumbers], title: str) -> Grid:
    """A row per pair of systems: what the first gains over the second, in the paper and on every data set."""
    found = {
        f"{first} − {second}": [_shown(difference(own, first, second, measure)) for own, measure in _columns(results)]
        for first, second in rows
    }
    return _beside(results, found, list(rows.values()), title, "gain")


def _columns(results: Outcomes) -> list[tuple[Outcomes, str]]:
    return [(own, measure) for own in groups_of(results).values() for measure in (ERR_NAME, NDCG_NAME)]


def _shown(seen: Difference | None) -> str:
    return "–" if seen is None else str(seen)


def _beside(
    results: Outcomes, ours: Mapping[str, Sequence[str]], papers: Sequence[PapersNumbers], title: str, heading: str
) -> Grid:
    """Our cells behind the paper's, which are left out where there are none."""
    has_papers = any(any(numbers) for numbers in papers)
    cells = tuple(
        (label, *(numbers if has_papers else ()), *own) for (label, own), numbers in zip(ours.items(), papers, strict=True)
    )
    names = [*(["paper"] if has_papers else []), *groups_of(results)]
    header = [heading, *(cell for name in names for cell in (f"{name}: ERR", "NDCG" if name == "paper" else "NDCG@10"))]
    return Grid(tuple(header), cells, title=title)
