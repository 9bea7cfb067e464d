"""What ``choose`` decides, against its rivals: the first tables of the page. Pairs of domains are the units of intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from _adaptation_cells import PEERS
from _adaptation_groups import (
    BASELINES,
    CHOSEN,
    DECIDED,
    RECOMMENDED,
    Contrast,
    Group,
    below,
    bootstrapped,
    contrast,
    has,
    values,
)
from rankinite.adapt.methods.catalogue import AVERAGE, METHODS
from rankinite.grid import Grid, number, p_value

RIVALS = ("background", "target", "pool", "pool-10", "trada-splits", *PEERS)
OWN = tuple(method.name for method in (*METHODS, AVERAGE))
WEB = ("mq2007-mq2008", "short-long")
"""The pairs whose both ends are web search."""


def kinds(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """The groups of real and of artificial pairs, as far as there are some."""
    found = {
        "real": [group for group in groups if group.pair.real],
        "artificial": [group for group in groups if not group.pair.real],
    }
    return {name: own for name, own in found.items() if own}


def called(kind: str, groups: Sequence[Group]) -> str:
    return f"{len({group.pair.name for group in groups})} {kind} pairs"


def averages(groups: Sequence[Group], kind: str) -> Grid:
    """Whether what is decided is above each rival on average."""
    rows = [(rival, *(cell for name in DECIDED for cell in _against(groups, name, rival))) for rival in RIVALS]
    columns = ("{} − rival", "bootstrap", "above/below", "{} is above on average")
    header = ("rival", *(column.format(name) for name in DECIDED for column in columns))
    notes = (
        "NDCG@10, mean over pairs, each the mean of its sizes and draws, ± half the 95 % interval over pairs (Student's t).",
        "Bootstrap: the 95 % interval when pairs, draws and queries are drawn anew. Above/below: in how many pairs.",
    )
    title = f"The decision against its rivals: {called(kind, groups)}"
    return Grid(header, tuple(rows), "l" + "rrrl" * len(DECIDED), title, notes)


def _against(groups: Sequence[Group], name: str, rival: str) -> tuple[str, str, str, str]:
    found = contrast(groups, name, rival)
    if not found.gains:
        return "–", "–", "–", "not measured"
    low, high = bootstrapped(groups, name, rival)
    ends = f"{number(low, signed=True)} to {number(high, signed=True)}"
    return str(found), ends, found.counts, above(found)


def above(found: Contrast) -> str:
    holds = "holds" if found.mean > 0 else "does not hold"
    return holds if found.sign else f"{holds}, may be chance"


def pair_by_pair(groups: Sequence[Group]) -> Grid:
    """What is decided against the baselines in each pair, and in the pairs of web search together."""
    names = dict.fromkeys(group.pair.name for group in groups)
    sets = {name: [group for group in groups if group.pair.name == name] for name in names}
    web = [group for group in groups if group.pair.name in WEB]
    if web:
        sets["both pairs of web search"] = web
    rows = []
    for name, own in sets.items():
        cells = []
        for decided in DECIDED:
            for base in BASELINES:
                low, high = bootstrapped(own, decided, base)
                mean = contrast(own, decided, base).mean
                cells.append(f"{number(mean, signed=True)} ({number(low, signed=True)} to {number(high, signed=True)})")
        rows.append((name, *cells))
    header = ("pair", *(f"{decided} − {base}" for decided in DECIDED for base in BASELINES))
    note = "NDCG@10, mean over sizes and draws; in brackets the 95 % bootstrap interval over draws and queries (and pairs)."
    return Grid(header, tuple(rows), title="Pair by pair", notes=(note,))


# ---- what else is asked of the choice --------------------------------------------------------------------------------------


def verdicts(groups: Sequence[Group]) -> list[str]:
    """What else is asked of the choice, and whether it holds."""
    lines = [f"{name.capitalize()} {asked(groups, name)}" for name in DECIDED for asked in (never_below, draws_below)]
    cells = [cell for group in groups for cell in group.cells]
    often = Counter(cell[CHOSEN] for cell in cells).most_common()
    lines.append(f"Chosen: {', '.join(f'{name} {count}×' for name, count in often)}.")
    kept = sum(cell[RECOMMENDED] == "background" for cell in cells)
    lines.append(f"The background was recommended in {kept} of {len(cells)} draws.")
    return [*lines, *(regret(own, called(kind, own)) for kind, own in kinds(groups).items())]


def regret(groups: Sequence[Group], what: str) -> str:
    """What the choice loses against the best method of its draw, and against one method taken always."""
    lost = {name: float(np.mean([mean_regret(group, name) for group in groups])) for name in (*DECIDED, *everywhere(groups))}
    best = min(everywhere(groups), key=lambda name: lost[name])
    return (
        f"On the {what}, chosen is {number(lost[CHOSEN])} of NDCG@10 below the best method of its draw on test, which nobody "
        f"can know; recommended is {number(lost[RECOMMENDED])} below, always {best} {number(lost[best])}, always trada-splits "
        f"{number(lost['trada-splits'])}. Which method is best taken always is known only from the test queries, too."
    )


def never_below(groups: Sequence[Group], name: str) -> str:
    """Whether what is decided is nowhere significantly below the better of background and target alone."""
    worse = []
    for group in groups:
        gain, p = below(group.per_query(name), {base: group.per_query(base) for base in BASELINES})
        if gain < 0 and p <= 0.05:
            worse.append(f"{group} ({number(gain, signed=True)}, p {p_value(p)})")
    text = "in no cell (pair and size) significantly below the better of background and target alone: "
    return text + (f"does not hold, in {len(worse)} of {len(groups)} it is: {'; '.join(worse)}." if worse else "holds.")


def draws_below(groups: Sequence[Group], name: str) -> str:
    """The same for every draw by itself: what a single user would see."""
    cells = [cell for group in groups for cell in group.cells]
    worse = 0
    for cell in cells:
        counted = ~np.isnan(values(cell, name))
        gain, p = below(values(cell, name)[counted], {base: values(cell, base)[counted] for base in BASELINES})
        worse += gain < 0 and p <= 0.05
    return f"draw by draw: significantly below the better one in {worse} of {len(cells)} draws."


def everywhere(groups: Sequence[Group]) -> list[str]:
    """Our methods that no cell lacks."""
    return [name for name in OWN if all(name in group.systems for group in groups)]


def mean_regret(group: Group, name: str) -> float:
    """How far a method is below the best of ours on test, mean over draws."""
    lost = []
    for cell in group.cells:
        means = {own: float(np.nanmean(values(cell, own))) for own in OWN if has(cell, own)}
        lost.append(max(means.values()) - means[cell[name] if name in DECIDED else name])
    return float(np.mean(lost))
