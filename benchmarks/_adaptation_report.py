"""The page of results on adapting, written from the cells that are kept: what was chosen, and how well that did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from _adaptation_cells import LEAVES, MEASURES, MORE, PEERS, RATE, TREES, code_key, read_cells
from _adaptation_claims import findings
from _adaptation_groups import (
    BASELINES,
    CHOSEN,
    DECIDED,
    NAMES,
    NDCG10,
    RECOMMENDED,
    SIZES,
    Contrast,
    Group,
    below,
    contrast,
    grouped,
    has,
    merged,
    values,
)
from _adaptation_pairs import ABOUT as PAIRS_ABOUT
from _adaptation_pairs import PAIRS
from _measure import machine
from rankinite.adapt.methods import AVERAGE, METHODS
from rankinite.evaluation.significance import t_interval
from rankinite.grid import Grid, number, p_value

RIVALS = ("background", "target", "pool", "pool-10", *PEERS)
SHOWN = ("ndcg@1", "ndcg@3", "ndcg@10")
PACKAGES = ["rankinite", "numba", "numpy", "scipy", "lightgbm", "xgboost-cpu"]
OWN = tuple(method.name for method in (*METHODS, AVERAGE))
ABOUT = f"""A background ranker is adapted to a few judged queries of another domain by every method of `rk.adapt.choose`, which
then chooses one by cross-validation over these queries alone. A cell is a pair of domains, a number of target queries and a
draw of them; where all of the pool is taken, draws differ by the seed of methods and folds alone. Backgrounds: LambdaMART,
LightGBM (lambdarank) and XGBoost (rank:ndcg), {TREES} trees of {LEAVES} leaves at rate {RATE:g}, other settings as they
come. "LightGBM continued" trains {MORE} more trees with `init_model`; "LightGBM refit" and "XGBoost refresh" give the leaves of
their background new values. Everything is judged alike on test queries that no model of the cell has seen: expected NDCG under
ties, queries of one grade skipped. "Chosen" is the method that `choose` takes; "recommended" is the same where it beats the
background with confidence, and the background elsewhere. How it decides was settled on pairs with other targets
(docs/adr/0016)."""
CORRECTED = """Significant: p ≤ 0.05 in the randomisation test, paired by query, Holm-corrected for the two baselines only. The
tables of single pairs correct for all their pairs, which is more forgiving to a method that is worse."""
INTERVALS = """Intervals over cells take pairs × sizes as independent. Sizes of one pair share their test queries, so these
intervals are somewhat too narrow."""


def write_page(folder: Path, page: Path) -> None:
    """Write the page from all cells in the folder."""
    cells, variants = read_cells("methods", folder), read_cells("findings", folder)
    groups = grouped(cells)
    if not groups:
        raise SystemExit(f"{folder} holds no finished cell. Run benchmarks/adaptation.py first.")
    parts = [
        "# Adapting: results",
        machine(PACKAGES),
        *map(paragraph, (ABOUT, PAIRS_ABOUT, state(cells, variants))),
        "## In short",
        averages(groups).markdown(),
        "\n".join(f"- {line}" for line in verdicts(groups)),
        paragraph(CORRECTED),
        "## All pairs and sizes",
        summary(groups).markdown(),
        by_size(groups).markdown(),
        paragraph(INTERVALS),
        "## The choice",
        chosen(groups).markdown(),
        regrets(groups).markdown(),
        findings(grouped(merged(cells, variants))),
        "## Every pair and size",
        *(table(group).markdown() for group in groups),
    ]
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    print(f"{page}: {len(cells)} cells, {len(variants)} of variants.", flush=True)


def paragraph(text: str) -> str:
    return fill(text, 128, break_long_words=False, break_on_hyphens=False)


def state(cells: Sequence[Mapping[str, Any]], variants: Sequence[Mapping[str, Any]]) -> str:
    """What the page is made of, and what is missing."""
    known = {(cell["pair"], cell["size"]) for cell in cells}
    missing = [
        f"{pair.name} with {' and '.join(str(size or 'all') for size in left)}" if len(left) < len(pair.sizes) else pair.name
        for pair in PAIRS.values()
        if (left := [size for size in pair.sizes if (pair.name, size) not in known])
    ]
    draws = Counter((cell["pair"], cell["size"]) for cell in cells)
    spent = np.median([cell["seconds"] for cell in cells])
    older = sum(cell["code"] != code_key() for cell in (*cells, *variants))
    fewest, most = min(draws.values()), max(draws.values())
    each = str(most) if fewest == most else f"{fewest} to {most}"
    text = [
        f"{len(cells)} cells: {each} draw{'s' * (most > 1)} of {len(draws)} pairs and sizes; {spent:.0f} s a cell (median)."
    ]
    if missing:
        text.append(f"Not measured: {'; '.join(missing)}.")
    if older:
        text.append(f"{older} of all {len(cells) + len(variants)} cells were made by other code of rankinite than today's.")
    return " ".join(text)


# ---- in short -----------------------------------------------------------------------------------------------------------


def averages(groups: Sequence[Group]) -> Grid:
    """Whether what is decided is above each rival on average."""
    rows = []
    for rival in RIVALS:
        found = [contrast(groups, name, rival) for name in DECIDED]
        rows.append((rival, *(cell for own in found for cell in (str(own), own.counts, above(own)))))
    header = (
        "rival",
        *(cell for name in DECIDED for cell in (f"{name} − rival", "above/below", f"{name} is above on average")),
    )
    note = "NDCG@10, mean over pairs and sizes, ± half the 95 % interval over these; in how many of them above and below."
    return Grid(header, tuple(rows), "l" + "rrl" * len(DECIDED), "The decision against its rivals", (note,))


def above(found: Contrast) -> str:
    if not found.gains:
        return "not measured"
    holds = "holds" if found.mean > 0 else "does not hold"
    return holds if found.sign else f"{holds}, may be chance"


def verdicts(groups: Sequence[Group]) -> list[str]:
    """What else is asked of the choice, and whether it holds."""
    lines = [f"{name.capitalize()} {said(groups, name)}" for name in DECIDED for said in (never_below, draws_below)]
    cells = [cell for group in groups for cell in group.cells]
    often = Counter(cell[CHOSEN] for cell in cells).most_common()
    lines.append(f"Chosen: {', '.join(f'{name} {count}×' for name, count in often)}.")
    kept = sum(cell[RECOMMENDED] == "background" for cell in cells)
    lines.append(f"The background was recommended in {kept} of {len(cells)} draws.")
    lost = {name: float(np.mean([mean_regret(group, name) for group in groups])) for name in (*DECIDED, *everywhere(groups))}
    best = min(everywhere(groups), key=lambda name: lost[name])
    lines.append(
        f"Chosen is {number(lost[CHOSEN])} of NDCG@10 below the best method of its draw on test, which nobody can know; "
        f"recommended is {number(lost[RECOMMENDED])} below. Always taking {best}, the one method that loses least over all "
        f"cells, would be {number(lost[best])} below; but that, too, is known only from the test queries."
    )
    return lines


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


# ---- tables -------------------------------------------------------------------------------------------------------------


def everywhere(groups: Sequence[Group]) -> list[str]:
    """Our methods that no cell lacks."""
    return [name for name in OWN if all(name in group.systems for group in groups)]


def base_of(name: str) -> str:
    """The unadapted model that a system started from."""
    return name.split(maxsplit=1)[0] if name in PEERS else "background"


def summary(groups: Sequence[Group]) -> Grid:
    """Every method over all cells that have it."""
    rows, short = [], []
    for name in NAMES:
        own = [group for group in groups if name in group.systems]
        if not own:
            continue
        if len(own) < len(groups):
            short.append(f"{name} ({len(own)})")
        means = [number(float(np.mean([group.mean(name, measure) for group in own]))) for measure in SHOWN]
        gain, base = contrast(own, CHOSEN, name), base_of(name)
        seconds = [c["systems"][name]["seconds"] for group in own for c in group.cells] if name not in DECIDED else []
        cells = (str(gain), gain.counts) if name != CHOSEN else ("", "")
        adapted = str(contrast(own, name, base)) if name != base else ""
        rows.append((name, *means, *cells, adapted, f"{np.mean(seconds):.1f}" if seconds else ""))
    header = ("method", *map(str.upper, SHOWN), "chosen − method", "above/below", "over its own background", "seconds")
    notes = [
        f"Means over {len(groups)} pairs and sizes. Chosen − method: NDCG@10, ± half the 95 % interval over these.",
        "Over its own background: NDCG@10 gained over the unadapted model of the same library, which is what adapting gave.",
        "Seconds: ours with all folds of cross-validation, others for one fit.",
    ]
    if short:
        notes.append(f"Missing in some cells, so that their means compare with no other: {', '.join(short)}.")
    return Grid(header, tuple(rows), title="Means over all pairs and sizes", notes=tuple(notes))


def by_size(groups: Sequence[Group]) -> Grid:
    """What every method gains over the background, by the number of target queries."""
    rows = []
    for name in NAMES:
        gains = [contrast((g for g in groups if g.place == place), name, "background") for place in range(len(SIZES))]
        if name != "background" and any(gain.gains for gain in gains):
            rows.append((name, *map(str, gains)))
    note = "Fewest: 20 queries, of classic collections 5; some: 80 and 15. ±: half the 95 % interval over pairs."
    return Grid(("method", *SIZES), tuple(rows), title="NDCG@10 over background, by target queries", notes=(note,))


def chosen(groups: Sequence[Group]) -> Grid:
    """How often which method was chosen."""
    counts = [Counter(c["chosen"] for g in groups if g.place == place for c in g.cells) for place in range(len(SIZES))]
    rows = [(name, *(str(count[name]) for count in counts)) for name in OWN if any(count[name] for count in counts)]
    return Grid(("method", *SIZES), tuple(rows), title="How often each was chosen, by target queries")


def mean_regret(group: Group, name: str) -> float:
    """How far a method is below the best of ours on test, mean over draws."""
    lost = []
    for cell in group.cells:
        means = {own: float(np.nanmean(values(cell, own))) for own in OWN if has(cell, own)}
        lost.append(max(means.values()) - means[cell[name] if name in DECIDED else name])
    return float(np.mean(lost))


def regrets(groups: Sequence[Group]) -> Grid:
    """What the choice loses against the best method of the cell, and what any one method taken always would."""
    rows = []
    for name in (*DECIDED, *everywhere(groups)):
        lost = [(group.place, mean_regret(group, name)) for group in groups]
        sizes = [
            [own for at, own in lost if at in places] for places in (range(len(SIZES)), *((n,) for n in range(len(SIZES))))
        ]
        cells = [number(float(np.mean(size))) if size else "–" for size in sizes]
        rows.append((name if name in DECIDED else f"always {name}", *cells))
    note = "NDCG@10 below the method that turned out best on the test queries of the draw."
    return Grid(("", "all cells", *SIZES), tuple(rows), title="Distance from the best method", notes=(note,))


def table(group: Group) -> Grid:
    """One pair and size: every method by every measure, and against the baselines."""
    tests, often = group.tested(), Counter(cell["chosen"] for cell in group.cells)
    rows, strong = [], set()
    best = {measure: max(group.mean(name, measure) for name in group.systems) for measure in SHOWN}
    for row, name in enumerate(group.systems):
        for column, measure in enumerate(SHOWN, 1):
            if group.mean(name, measure) == best[measure]:
                strong.add((row, column))
        pairs = [tests.get((name, base)) for base in BASELINES]
        gains = [f"{number(pair[0], signed=True)} ({p_value(pair[1])})" if pair else "" for pair in pairs]
        means = [_with_interval(group.per_query(name, measure)) for measure in SHOWN]
        rows.append((name, *means, *gains, str(often[name]) if often[name] else ""))
    header = ("method", *map(str.upper, SHOWN), *(f"− {base} (p)" for base in BASELINES), "chosen")
    counted = len(group.per_query(CHOSEN))
    pair = group.pair
    about = f"{pair.what}. {len(group.cells)} draw{'s' * (len(group.cells) > 1)}, {counted} test queries."
    how = f"±: half the 95 % interval over queries, each the mean of its draws. p: {NDCG10.upper()}, randomisation test,"
    notes = [about, f"{how} Holm-corrected over {len(tests)} pairs. Bold: best mean."]
    if group.partial:
        notes.append(f"Not in every draw, and left out: {', '.join(group.partial)}.")
    refused = {name: why for cell in group.cells for name, why in cell["refused"].items()}
    notes += [f"{name}: not tried, {why}." for name, why in refused.items()]
    return Grid(header, tuple(rows), title=str(group), notes=tuple(notes), strong=frozenset(strong))


def _with_interval(per_query: np.ndarray) -> str:
    low, high = t_interval(per_query)
    return f"{number(float(per_query.mean()))} ±{number((high - low) / 2)}"


assert set(SHOWN) == set(map(str, MEASURES))
