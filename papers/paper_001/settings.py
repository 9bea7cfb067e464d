"""What paper 001 leaves to its readers (§6): LambdaSMART's settings, and interpolation, by the number of target queries.

The papers boost from nets, with thousands of target queries. Users have a forest and 10 to 1,000 queries, so here the
background is a forest, and the methods are those of ``rankinite adapt``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from papers.claims import BETTER, Compared
from papers.data import BACKGROUND as BACKGROUND_QUERIES
from papers.data import TESTED, Pair, artificial_pair, real_pairs, sample
from papers.differences import SURE, difference
from papers.experiment import Case, Experiment, Outcome, Outcomes, RunContext, judged
from papers.figure import Panel, PaperFigure
from papers.item import Block, Item
from papers.paper_001.rankers import CLOSED, OPEN, both_tests
from rankinite import NDCG, Dataset, LambdaMART, Scorer, World
from rankinite.adapt import interpolate, smart
from rankinite.adapt.held_out import fit_target_ranker
from rankinite.adapt.methods.interpolate import target_learner
from rankinite.evaluation.significance import holm
from rankinite.grid import Grid

MEASURE = NDCG(10)
AMOUNTS = {10: "few", 30: "few", 100: "some", 300: "many", 1000: "many"}
SIZES = tuple(AMOUNTS)
"""The numbers of target queries, and what they are called in claims."""
WORLD = World(features=50, documents=25, terms=20, noise=0.3)
SEEDS, SHIFT, DRAWS = tuple(range(1, 7)), 0.5, 3
BACKGROUND, IN_DOMAIN, INTERPOLATED, SMART = "background", "target alone", "interpolation", "LambdaSMART"
USUAL = LambdaMART.plain(
    measure=MEASURE, trees=500, leaves=20, rate=0.1, row_share=0.7, patience=50, seed=0, train_history=False
)  # fmt: skip
"""The trees of paper 000, with rankinite's λ and splits."""
POOLS = {"mq2007 → mq2008": 392, "short → long": 240, "npl → cran": 109}
"""The target queries that real pairs have to adapt with; all others have 38."""
Setting = tuple[LambdaMART, Literal["fit"] | None]
VARIANTS: dict[str, Setting] = {
    SMART: (USUAL, "fit"),
    "5 leaves": (replace(USUAL, leaves=5), "fit"),
    "2 leaves": (replace(USUAL, leaves=2), "fit"),
    "rate 0.5": (replace(USUAL, rate=0.5), "fit"),
    "rate 0.02": (replace(USUAL, rate=0.02), "fit"),
    "rate 0.02, 5 leaves": (replace(USUAL, rate=0.02, leaves=5), "fit"),
    "drawn at nodes": (replace(USUAL, row_share=1.0, node_row_share=0.7, node_feature_share=0.7), "fit"),
    "the papers' λ and splits": (
        LambdaMART.paper(
            measure=MEASURE, trees=500, leaves=20, rate=0.1, row_share=0.7, patience=50, seed=0, train_history=False
        ),
        "fit",
    ),
    "background's scores as they are": (USUAL, None),
}
"""LambdaSMART, and what is changed in it, one setting at a time."""


def cases(context: RunContext) -> Sequence[Case]:
    """Every pair with every number of target queries that its pool has; real samples are drawn several times."""
    listed: list[Case] = []
    for pair in _pairs(context):
        for size in SIZES[: context.size(len(SIZES), 1)]:
            for draw in range(context.size(DRAWS, 1) if pair.real else 1):
                if not pair.real or size <= POOLS.get(pair.name, 38):
                    name = f"{pair.name}, {size} queries, draw {draw + 1}"
                    settings = {"size": size, "draw": draw, "amount": AMOUNTS[size]}
                    listed.append(
                        Case(name, pair.name, pair.data, "test", settings, 4.0 + (0.12 if pair.real else 0.06) * size)
                    )
    return listed


def _pairs(context: RunContext) -> list[Pair]:
    pairs = [*real_pairs(), *(artificial_pair(seed, SHIFT, full=WORLD) for seed in SEEDS)]
    return [pairs[2], pairs[-1]] if context.quick else pairs


def run(case: Case, context: RunContext) -> Outcome:
    """Adapt with a sample of the pool in every way, and judge on the closed test and the open ones."""
    base, pool, tests = _loaded(case.unit, context)
    draw = case.settings["draw"]
    target = sample(pool, case.settings["size"] / pool.queries, draw)
    in_domain = fit_target_ranker(_few(target_learner(MEASURE, draw, target.rows), context), target, folds=5, seed=draw)
    rankers: dict[str, Scorer] = {
        BACKGROUND: base,
        IN_DOMAIN: in_domain.ranker,
        INTERPOLATED: interpolate(base, target, measure=MEASURE, how="exact", own=[in_domain], folds=5, seed=draw),
    }
    for name, (learner, scale) in VARIANTS.items():
        maker = replace(_few(learner, context), seed=draw)
        rankers[name] = smart(base, target, measure=MEASURE, scale=scale, learner=maker, folds=5, seed=draw)
    closed, *opens = (judged(rankers, data, (MEASURE,)) for data in tests)
    return Outcome(both_tests(closed, opens), facts={"queries": target.queries})


@lru_cache(maxsize=1)
def _loaded(name: str, context: RunContext) -> tuple[Scorer, Dataset, list[Dataset]]:
    """The forest, the pool and the tests of a pair, the closed one first; kept, as the cases of a pair follow each other."""
    pair = next(pair for pair in _pairs(context) if pair.name == name)
    forest = LambdaMART.plain(
        measure=MEASURE, trees=context.size(300, 20), leaves=12, rate=0.05, patience=None, seed=0, train_history=False
    )
    tests = [load(context) for load in (pair.test, *pair.opens.values())]
    return forest.fit(pair.background(context)), pair.pool(context), tests


def _few(learner: LambdaMART, context: RunContext) -> LambdaMART:
    return replace(learner, trees=context.size(learner.most_trees, 10))


def layout(results: Outcomes) -> list[Block]:
    """What the methods gain over the background, and the settings over LambdaSMART, by the number of target queries."""
    methods = (IN_DOMAIN, INTERPOLATED, SMART)
    blocks: list[Block] = []
    for kind, chosen in (("real pairs", results.where(real=True)), ("artificial worlds", results.where(real=False))):
        if chosen:
            sizes = chosen.settings("size")
            panels = [
                Panel(f"{test} test, {kind} ({len(chosen.units)})", "target queries", "NDCG@10 over the background",
                      {name: (sizes, [_gain(chosen, name, test, size) for size in sizes]) for name in methods})
                for test in (CLOSED, OPEN)
            ]  # fmt: skip
            blocks.append(PaperFigure(f"001-settings-{kind.split()[0]}", f"Methods by target queries, {kind}", panels))
            for test in (CLOSED, OPEN):
                blocks.append(_table(chosen, test, methods, BACKGROUND, f"{test} test, {kind}"))
                blocks.append(_table(chosen, test, list(VARIANTS)[1:], SMART, f"{test} test, {kind}"))
    return blocks


def _gain(results: Outcomes, system: str, test: str, size: int) -> float:
    gained = difference(results.where(size=size), system, BACKGROUND, str(MEASURE), test)
    return float("nan") if gained is None else gained.mean


def _table(results: Outcomes, test: str, systems: Sequence[str], rival: str, title: str) -> Grid:
    """Differences by the number of target queries; a star: significant after Holm's correction within the table."""
    columns = {f"{size:,} queries": results.where(size=size) for size in results.settings("size")}
    columns["10 to 300"] = Outcomes([(case, outcome) for case, outcome in results if case.settings["size"] <= 300])
    cells = {
        (system, column): difference(chosen, system, rival, str(MEASURE), test)
        for system in systems for column, chosen in columns.items()
    }  # fmt: skip
    known = {place: cell for place, cell in cells.items() if cell is not None}
    corrected = dict(zip(known, holm([cell.p_either() for cell in known.values()]).tolist(), strict=True))
    texts = {place: f"{cell}{' *' if corrected[place] <= SURE else ''}" for place, cell in known.items()}
    rows = tuple((system, *(texts.get((system, column), "–") for column in columns)) for system in systems)
    return Grid(("", *columns), rows, title=f"NDCG@10 less that of {rival}: {title}")


COUNTS = {"few": "10 or 30", "some": "100", "many": "300 or 1,000"}
ALIKE_DOMAINS = """The artificial open tests are domains of the same kind as the target, to which much of what trees learn
carries over; the paper speaks of domains that differ dramatically. Such domains with hundreds of judged queries would
decide."""


def _claims(amount: str, counts: str) -> tuple[Compared, Compared]:
    on_closed = f"Closed test, {counts} target queries: LambdaSMART is better than interpolation"
    on_open = f"Open test, {counts} target queries: interpolation is better than LambdaSMART"
    at = {"amount": amount}
    return (
        Compared(on_closed, SMART, INTERPOLATED, BETTER, str(MEASURE), CLOSED, at),
        Compared(on_open, INTERPOLATED, SMART, BETTER, str(MEASURE), OPEN, at, ALIKE_DOMAINS),
    )


SETTINGS = Item(
    "001", "settings", "Interpolation and LambdaSMART from a forest with 10 to 1,000 target queries, and the latter's settings",
    [claim for amount, counts in COUNTS.items() for claim in _claims(amount, counts)],
    (Experiment("001-settings", cases, run, world_means=True),),
    layout,
    f"""The paper boosts from nets, with thousands of target queries. Here the background is a forest (LambdaMART, 300 trees of
    12 leaves at rate 0.05, our λ and splits), and methods are those of `rankinite adapt`, tuned by five folds of the target
    queries: a ranker of the target alone, interpolation of both with the exact weight, and LambdaSMART with up to 500 trees of
    20 leaves at rate 0.1, 70 % of the rows drawn for each, our λ and splits, the background's scores scaled by the pair cost;
    then with one setting changed at a time. Real: six pairs of domains, {DRAWS} draws of as many queries as they have (10 and
    30 of all, 100 of three, 300 of one). Artificial: {len(SEEDS)} worlds of {BACKGROUND_QUERIES:,} background queries ×
    {WORLD.documents} documents × {WORLD.features} features, shift {SHIFT:g}, label noise {WORLD.noise:g}, {TESTED} queries
    in each test. A star: significant after Holm's correction within the table.""",
    """The more target queries, the better for LambdaSMART; with few, pairs differ more among each other than methods do. More
    pairs of domains would decide, and real ones with 300 judged queries and more.""",
)  # fmt: skip
