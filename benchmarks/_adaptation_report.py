"""The page of results on adapting, written from the cells that are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from _adaptation_cells import LEAVES, MEASURES, PEERS, RATE, TREES, read_cells
from _adaptation_decision import OWN, averages, called, everywhere, kinds, mean_regret, pair_by_pair, verdicts
from _adaptation_groups import BASELINES, CHOSEN, DECIDED, NAMES, NDCG10, SIZES, Group, contrast, grouped, merged
from _adaptation_libraries import MORE
from _adaptation_pairs import ABOUT as PAIRS_ABOUT
from _adaptation_pairs import PAIRS
from _adaptation_rivals import AVERAGES, DECAYS, RATES, WEIGHTS
from _measure import machine
from gain_prior import decided
from rankinite.evaluation.significance import t_interval
from rankinite.grid import Grid, number, p_value
from rankinite.installed import code_key

SHOWN = ("ndcg@1", "ndcg@3", "ndcg@10")
PACKAGES = ["rankinite", "numba", "numpy", "scipy", "lightgbm", "xgboost-cpu", "catboost"]
KINDS = {"methods": "", "rivals": "of rivals"}


def some(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


ABOUT = f"""A background ranker is adapted to a few judged queries of another domain by every method that
`rk.adapt.choose` tries by itself, and it chooses one by cross-validation over these queries alone. A cell is a pair of
domains, a number of target queries and a draw of them; where all of the pool is taken, draws differ by the seed of
methods and folds alone. Backgrounds: LambdaMART, LightGBM (lambdarank), XGBoost (rank:ndcg), {TREES} trees of {LEAVES}
leaves at rate {RATE:g}, and CatBoost (YetiRank, as many trees of depth 4), other settings as they come. Everything is
judged alike on test queries that no model of the cell has seen: expected NDCG under ties, queries of one grade skipped.
"Chosen" is the method that `choose` takes; how it chooses was settled on pairs with other targets (docs/adr/0016).
"Recommended" is the same, to deploy or to try online, or the background, by the rule of docs/adr/0033: each pair is
decided by a prior from the other pairs and from generated problems, together with its own cross-validated gains, whose
deviation between queries is taken from the test queries. Whether the grades can be predicted at all, which the rule asks
too, is not in the cells."""
RIVALS_ABOUT = f"""Rivals are tuned by the folds of target queries that tune our own methods, to the best mean NDCG@10.
"Continued" adds up to {MORE} trees to the background's scores, and none may be best (rates {some(RATES)}); "LightGBM
refit" gives the leaves new values (decay {some(DECAYS)}), as "XGBoost refresh" does (rates {some(RATES)}); "pooled"
trains on the background's data and the target's, whose queries weigh {some(WEIGHTS)}, and chooses the number of trees;
"CatBoost baseline" adds trees with `baseline`. {
    "; ".join(f"{name}: the mean of {', '.join(own)}" for name, own in AVERAGES.items())
}; each scaled to vary alike on the target. Our own pooled models are not tuned."""
RECOVERED = """Of the 69,623 rows of mq2007, 10,488 were recovered from published linear models and their predictions, as
the set is no longer to be had whole; they agree with the published statistics."""
CORRECTED = """Significant: p ≤ 0.05 in the randomisation test, paired by query, Holm-corrected for the two baselines only. The
tables of single pairs correct for all their pairs, which is more forgiving to a method that is worse."""
INTERVALS = """Intervals over pairs treat the pairs as independent and their sizes and draws as repetitions. Three of the
real pairs share collections (cran and cisi are targets and backgrounds), so even these intervals are somewhat too narrow."""


def write_page(folder: Path, page: Path) -> None:
    """Write the page from all cells in the folder."""
    cells = {kind: read_cells(kind, folder) for kind in KINDS}
    groups = decided(grouped(merged(cells["methods"], cells["rivals"])))
    if not groups:
        raise SystemExit(f"{folder} holds no finished cell. Run benchmarks/adaptation.py first.")
    apart = kinds(groups)
    parts = [
        "# Adapting: results",
        machine(PACKAGES),
        *map(paragraph, (ABOUT, RIVALS_ABOUT, PAIRS_ABOUT, RECOVERED, state(cells))),
        "## In short",
        *(averages(own, kind).markdown() for kind, own in apart.items()),
        pair_by_pair(groups).markdown(),
        paragraph(INTERVALS),
        "\n".join(f"- {line}" for line in verdicts(groups)),
        paragraph(CORRECTED),
        "## All methods",
        *(summary(own, kind).markdown() for kind, own in apart.items()),
        *(by_size(own, kind).markdown() for kind, own in apart.items()),
        "## The choice",
        chosen(groups).markdown(),
        *(regrets(own, kind).markdown() for kind, own in apart.items()),
        "## Every pair and size",
        *(table(group).markdown() for group in groups),
    ]
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    print(f"{page}: {', '.join(f'{len(own)} cells {KINDS[kind]}'.strip() for kind, own in cells.items())}.", flush=True)


def paragraph(text: str) -> str:
    return fill(text, 128, break_long_words=False, break_on_hyphens=False)


def state(cells: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """What the page is made of, and what is missing."""
    text = []
    for kind, own in cells.items():
        draws = Counter((cell["pair"], cell["size"]) for cell in own)
        missing = [
            f"{pair.name} with {' and '.join(str(size or 'all') for size in left)}"
            if len(left) < len(pair.sizes)
            else pair.name
            for pair in PAIRS.values()
            if (left := [size for size in pair.sizes if (pair.name, size) not in draws])
        ]
        if draws:
            fewest, most = min(draws.values()), max(draws.values())
            each = f"{most} draw{'s' * (most > 1)}" if fewest == most else f"{fewest} to {most} draws"
            text.append(f"{len(own)} cells {KINDS[kind]}".strip() + f": {each} of {len(draws)} pairs and sizes.")
        if missing:
            text.append(f"Not measured: {'; '.join(missing)}.")
    both = [cell for own in cells.values() for cell in own]
    older = sum(cell["code"] != code_key() for cell in both)
    if older:
        text.append(f"{older} of all {len(both)} cells were made by other code of rankinite than today's.")
    return " ".join(text)


# ---- tables -------------------------------------------------------------------------------------------------------------


def base_of(name: str) -> str:
    """The unadapted model that a system started from."""
    return name.split(maxsplit=1)[0] if name in PEERS and name not in AVERAGES else "background"


def summary(groups: Sequence[Group], kind: str) -> Grid:
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
        f"Means over {len(groups)} pairs and sizes. Chosen − method: NDCG@10, ± half the 95 % interval over pairs.",
        "Over its own background: NDCG@10 gained over the unadapted model of the same library, which is what adapting gave.",
        "Seconds: all folds of cross-validation or tuning, on one thread of a machine that did other work too.",
    ]
    if short:
        notes.append(f"Missing in some cells, so that their means compare with no other: {', '.join(short)}.")
    return Grid(header, tuple(rows), title=f"Means over {called(kind, groups)}", notes=tuple(notes))


def by_size(groups: Sequence[Group], kind: str) -> Grid:
    """What every method gains over the background, by the number of target queries."""
    rows = []
    for name in NAMES:
        gains = [contrast((g for g in groups if g.place == place), name, "background") for place in range(len(SIZES))]
        if name != "background" and any(gain.gains for gain in gains):
            rows.append((name, *map(str, gains)))
    note = "Fewest: 20 queries, of classic collections 5; some: 80 and 15. ±: half the 95 % interval over pairs."
    return Grid(
        ("method", *SIZES),
        tuple(rows),
        title=f"NDCG@10 over background, by target queries: {called(kind, groups)}",
        notes=(note,),
    )


def chosen(groups: Sequence[Group]) -> Grid:
    """How often which method was chosen."""
    counts = [Counter(c["chosen"] for g in groups if g.place == place for c in g.cells) for place in range(len(SIZES))]
    rows = [(name, *(str(count[name]) for count in counts)) for name in OWN if any(count[name] for count in counts)]
    return Grid(("method", *SIZES), tuple(rows), title="How often each was chosen, by target queries")


def regrets(groups: Sequence[Group], kind: str) -> Grid:
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
    return Grid(
        ("", "all cells", *SIZES), tuple(rows), title=f"Distance from the best method: {called(kind, groups)}", notes=(note,)
    )


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
    notes += [f"{name}: not tried. {why}" for name, why in refused.items()]
    return Grid(header, tuple(rows), title=str(group), notes=tuple(notes), strong=frozenset(strong))


def _with_interval(per_query: np.ndarray) -> str:
    low, high = t_interval(per_query)
    return f"{number(float(per_query.mean()))} ±{number((high - low) / 2)}"


assert set(SHOWN) == set(map(str, MEASURES))
