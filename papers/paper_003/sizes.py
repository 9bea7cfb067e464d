"""The experiment behind Table 3 and Figures 6 to 11: every model of §5.3, adapted with 200 to 1,000 target queries.

How these show it, and what more queries bring, is below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from papers.data import POOLED, RECOVERED, Pair, all_real_pairs, artificial_pair, sample
from papers.differences import contrast, difference, mean_of
from papers.experiment import Case, Experiment, Outcome, Outcomes, RunContext
from papers.figure import Panel, PaperFigure
from papers.paper_003 import models
from papers.paper_003.models import ADAPTED, ADDITIVE, BETA, MORE, RELATIVE, WEIGHTS, combined, tuned
from rankinite import Dataset, Forest, Scorer

WORLDS = {0.25: (0, 1, 2, 3), 0.5: (4, 5, 6, 7)}
"""How far a target is from its background → seeds of the artificial worlds."""
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""The target queries, as shares of the pool: 200 to 1,000 where it has 1,000."""
FEWEST, MIDDLE, MOST = SHARES[0], SHARES[2], SHARES[-1]
REAL_DRAWS = 3
BETAS = (1, 5, 10, 20, 100)
"""Figure 6 has β up to 20; 100 asks whether large β overfit, as §5.5.1 suspects."""
RESPONSES, AGGREGATED, TRIMMED, BOTH_TRIMMED = "R", "RA", "RT", "SRT"
ADDED = (10, 20, 30, 50, 100)
"""Additional trees of Figure 10, which are tried with 600 queries alone."""
CHOSEN = """Claims that name a number of queries were restricted to artificial domains after a look at results, which moved
verdicts. Two more choices were made so: the last four real pairs joined when the first six left claims open,
and the shifts were taken when one world had been tried with 0.25, 0.5 and 0.75."""
SETTING = f"""Target queries are drawn from a pool, 20 % of it to all of it, and other queries of the target test. Artificial
domains are those of eight worlds of 6,000 background queries × 25 documents × 300 features, a pool of 1,000 queries and 500 to
test in place of the paper's five batches, label noise 0.3; their shift is 0.25 or 0.5, as nobody knows how far the paper's
target is from its source; {models.REAL}, each sample but the whole pool drawn {REAL_DRAWS} times, so that real samples have 3
to 392 queries. What the paper says of a number of queries is asked of artificial domains alone, which have as many. {CHOSEN}
{RECOVERED}"""
SAME = "Data, base model and measure are those of Figure 6."


def both(beta: float) -> str:
    """The name of the forest whose splitting values and responses are tuned (SR), with this β."""
    return f"SR, β = {beta:g}"


def appended(system: str, trees: int) -> str:
    """The name of an adapted or additive model with so many additional trees."""
    return system if trees == MORE else f"{system}, {trees} trees"


def lead(trees: int) -> str:
    """The name of what the adapted model is ahead of the additive one, with so many additional trees."""
    return f"lead with {trees} trees"


def artificial_pairs() -> dict[float, list[Pair]]:
    """The artificial worlds of each shift."""
    return {shift: [artificial_pair(seed, shift) for seed in seeds] for shift, seeds in WORLDS.items()}


def cases(context: RunContext) -> Sequence[Case]:
    """Each pair with each number of target queries; the quick version has two classic collections, and one world."""
    real = [case for pair in all_real_pairs() for case in _cases(pair, context, 3.0)]
    worlds = [
        case
        for shift, pairs in artificial_pairs().items()
        for pair in pairs
        for case in _cases(pair, context, 40.0, shift=shift)
    ]
    return [*real[-len(SHARES) :], *worlds[: len(SHARES)]] if context.quick else [*real, *worlds]


def _cases(pair: Pair, context: RunContext, seconds: float, **settings: float) -> list[Case]:
    """Samples of real data are drawn several times; of the whole pool there is but one."""
    listed: list[Case] = []
    for share in SHARES:
        for draw in range(context.size(REAL_DRAWS, 1) if pair.real and share < MOST else 1):
            known: dict[str, Any] = {"share": share, "draw": draw, "fewest": share == FEWEST, **settings}
            if not pair.real:  # what the paper says of a number of queries is asked only where there are as many
                known["size"] = round(share * POOLED)
            name = f"{pair.name}, {share:.0%} of the pool, draw {draw + 1}"
            listed.append(Case(name, pair.name, pair.data, pair.name, known, seconds))
    return listed


def run(case: Case, context: RunContext) -> Outcome:
    """Fit all models to a sample of the pool, and judge them on the test queries."""
    domains = loaded(case.unit, context)
    share = case.settings["share"]
    target = sample(domains.pool, share, case.settings["draw"])
    forests = tuned_forests(domains.base, target)
    rankers: dict[str, Scorer] = {
        **forests,
        **extended_forests(domains.base, forests[RESPONSES], target, context, ADDED if share == MIDDLE else (MORE,)),
        models.SMALL: models.small_data(target, context),
        **models.combinations(domains.background, target, context),
    }
    values = models.relative_values(rankers, domains)
    values[models.COMBINED], chosen = models.best_of([combined(weight) for weight in WEIGHTS], values)
    if share == MIDDLE:
        for trees in ADDED:
            adapted, additive = (values[appended(system, trees)][RELATIVE] for system in (ADAPTED, ADDITIVE))
            values[lead(trees)] = {RELATIVE: adapted - additive}
    facts = {"queries": target.queries, "trimmed": trimmed_share(domains.base, forests[TRIMMED]), "best W": chosen}
    return Outcome({"test": values}, facts=facts)


@lru_cache(maxsize=1)
def loaded(name: str, context: RunContext) -> models.Domains:
    """The data of a pair, and its base model; kept, as the cases of a pair follow each other."""
    known = [*all_real_pairs(), *(pair for pairs in artificial_pairs().values() for pair in pairs)]
    return models.domains_of(next(pair for pair in known if pair.name == name), context)


def tuned_forests(base: Forest, target: Dataset) -> dict[str, Forest]:
    """The settings of Table 2: responses layer by layer (R) or at leaves (RA), splitting values (S), trimmed branches (T)."""
    return {
        **{both(beta): tuned(base, target, beta, splits=True) for beta in BETAS},
        RESPONSES: tuned(base, target, BETA),
        AGGREGATED: tuned(base, target, BETA, responses="leaves"),
        TRIMMED: tuned(base, target, BETA, trim=True),
        BOTH_TRIMMED: tuned(base, target, BETA, splits=True, trim=True),
    }


def extended_forests(
    base: Forest, forest: Forest, target: Dataset, context: RunContext, added: Sequence[int]
) -> dict[str, Forest]:
    """The tuned forest and the base model with additional trees: fewer trees are the first of more."""
    forests: dict[str, Forest] = {}
    for system, start in ((ADAPTED, forest), (ADDITIVE, base)):
        longest = models.extended(start, target, max(added))
        forests |= {appended(system, trees): longest.truncate(models.base_trees(context) + trees) for trees in added}
    return forests


def trimmed_share(base: Forest, trimmed: Forest) -> float:
    """The share of the base model's nodes that no target row reaches, and that are cut off."""
    nodes, left = (len(forest.trees.value) for forest in (base, trimmed))
    return float(np.round(1.0 - left / nodes, 5))


EXPERIMENT = Experiment("003-sizes", cases, run, world_means=True)

OPEN_BECAUSE = """Worlds and pairs of domains differ more among each other than the models do. The paper asks the queries of one
domain; more domains as far from their source as its targets, which nobody knows, would decide."""
UP = "DCG, base model = 1"


def kinds_of(results: Outcomes) -> list[tuple[str, bool, Outcomes]]:
    """Artificial results, which have the paper's sizes, shift by shift, and real ones, each with a title."""
    artificial, real = results.where(real=False), results.where(real=True)
    worlds = [(f"Worlds with shift {shift:g}", False, artificial.where(shift=shift)) for shift in artificial.settings("shift")]
    kinds = [*(worlds or [("Artificial domains", False, artificial)]), ("Real pairs of domains", True, real)]
    return [(f"{title} ({len(chosen.units)})", is_real, chosen) for title, is_real, chosen in kinds if chosen]


def size_figure(name: str, title: str, lines: Mapping[str, str]) -> Callable[[Outcomes], list[PaperFigure]]:
    """The layout of a figure with one line per label, for the system named, over the number of target queries."""

    def layout(results: Outcomes) -> list[PaperFigure]:
        panels: list[Panel] = []
        for kind, real, chosen in kinds_of(results):
            shares = chosen.settings("share")
            places = [100.0 * share if real else _queries(chosen.where(share=share)) for share in shares]
            across = "target queries, % of the pool" if real else "target queries"
            drawn = {
                label: (places, [_mean(chosen.where(share=share), system) for share in shares])
                for label, system in lines.items()
            }
            panels.append(Panel(kind, across, UP, drawn))
        return [PaperFigure(name, title, panels)]

    return layout


def more_queries(results: Outcomes, first: str, second: str = "") -> tuple[str, bool | None]:
    """Whether a system, or its lead over another, is larger with all queries of the pool than with the fewest."""

    def gained(unit: Outcomes) -> float | None:
        most, fewest = (difference(unit.where(share=share), first, second, RELATIVE) for share in (MOST, FEWEST))
        return None if most is None or fewest is None else most.mean - fewest.mean

    return contrast(results, gained)


def _queries(results: Outcomes) -> float:
    return float(np.mean([outcome.facts["queries"] for _, outcome in results]))


def _mean(results: Outcomes, system: str) -> float:
    mean = mean_of(results, system, RELATIVE)
    return math.nan if mean is None else mean.mean
