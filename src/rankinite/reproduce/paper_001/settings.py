"""What paper 001 leaves to its readers (§6): LambdaSMART's settings, and interpolation, by the number of target queries.

The papers boost from nets, with thousands of target queries. Users have a forest and 10 to 1,000 queries, so here the
background is a forest, and the methods are those of ``rankinite adapt``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from rankinite.adapt.held_out import fit_target_ranker
from rankinite.adapt.methods.interpolate import interpolate, target_learner
from rankinite.adapt.methods.smart import BaseScale, smart
from rankinite.data.dataset import Dataset
from rankinite.data.synthetic import World
from rankinite.evaluation.scorers import Scorer
from rankinite.evaluation.significance import holm
from rankinite.grid import Grid
from rankinite.learners.lambdamart import LambdaMART
from rankinite.measures import NDCG
from rankinite.models.base import Fitted
from rankinite.reproduce.claims import BETTER, SURE, Compared
from rankinite.reproduce.differences import Difference, difference
from rankinite.reproduce.domain_pairs import BACKGROUND as BACKGROUND_QUERIES
from rankinite.reproduce.domain_pairs import TESTED, Pair, artificial_pair, real_pairs, sample
from rankinite.reproduce.experiment import Case, Experiment, Lab, Outcomes
from rankinite.reproduce.figure import Panel, PaperFigure
from rankinite.reproduce.item import Block, Item
from rankinite.reproduce.outcome import Outcome, judged
from rankinite.reproduce.paper_001.closed_and_open import CLOSED, OPEN, Tested, both_tests

MEASURE = NDCG(10)
AMOUNTS = {10: "few", 30: "few", 100: "some", 300: "many", 1000: "many"}
SIZES = tuple(AMOUNTS)
"""The numbers of target queries, and what they are called in claims."""
WORLD = World(features=50, documents=25, terms=20, noise=0.3)
SEEDS, SHIFT, DRAWS = tuple(range(1, 7)), 0.5, 3
BACKGROUND, OWN, INTERPOLATED, SMART = "background", "target alone", "interpolation", "LambdaSMART"
USUAL = LambdaMART.plain(
    measure=MEASURE, trees=500, leaves=20, rate=0.1, row_share=0.7, patience=50, seed=0, train_history=False
)  # fmt: skip
"""The trees of paper 000, with rankinite's λ and splits."""
POOLS = {"mq2007 → mq2008": 392, "short → long": 240, "npl → cran": 109}
"""The target queries that real pairs have to adapt with; all others have 38."""
Setting = tuple[LambdaMART, BaseScale]
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


def cases(lab: Lab) -> Sequence[Case]:
    """Every pair with every number of target queries that its pool has; real samples are drawn several times."""
    found: list[Case] = []
    for pair in _pairs(lab):
        for size in SIZES[: lab.size(len(SIZES), 1)]:
            for draw in range(lab.size(DRAWS, 1) if pair.real else 1):
                if not pair.real or size <= POOLS.get(pair.name, 38):
                    name = f"{pair.name}, {size} queries, draw {draw + 1}"
                    settings = {"size": size, "draw": draw, "amount": AMOUNTS[size]}
                    found.append(Case(name, pair.name, pair.data, "test", settings, 4.0 + (0.12 if pair.real else 0.06) * size))
    return found


def _pairs(lab: Lab) -> list[Pair]:
    every = [*real_pairs(), *(artificial_pair(seed, SHIFT, full=WORLD) for seed in SEEDS)]
    return [every[2], every[-1]] if lab.quick else every


def run(case: Case, lab: Lab) -> Outcome:
    """Adapt with a sample of the pool in every way, and judge on the closed test and the open ones."""
    pair = next(pair for pair in _pairs(lab) if pair.name == case.unit)
    base, pool, tested = _loaded(pair.name, lab)
    draw = case.settings["draw"]
    target = sample(pool, case.settings["size"] / pool.queries, draw)
    own = fit_target_ranker(_few(target_learner(MEASURE, draw, target.rows), lab), target, folds=5, seed=draw)
    rankers: dict[str, Scorer] = {
        BACKGROUND: base,
        OWN: own.ranker,
        INTERPOLATED: interpolate(base, target, measure=MEASURE, how="exact", own=[own], folds=5, seed=draw),
    }
    for name, (learner, scale) in VARIANTS.items():
        maker = replace(_few(learner, lab), seed=draw)
        rankers[name] = smart(base, target, measure=MEASURE, scale=scale, learner=maker, folds=5, seed=draw)
    closed, *opened = (judged(rankers, data, (MEASURE,)) for data in (tested.closed, *tested.opens.values()))
    return Outcome(both_tests(closed, opened), facts={"queries": target.queries})


@lru_cache(maxsize=1)
def _loaded(name: str, lab: Lab) -> tuple[Fitted, Dataset, Tested]:
    """The background's forest, the pool and the tests of a pair; kept, as the cases of a pair follow each other."""
    pair = next(pair for pair in _pairs(lab) if pair.name == name)
    forest = LambdaMART.plain(
        measure=MEASURE, trees=lab.size(300, 20), leaves=12, rate=0.05, patience=None, seed=0, train_history=False
    )
    return (
        forest.fit(pair.background(lab)),
        pair.pool(lab),
        Tested(pair.test(lab), {name: load(lab) for name, load in pair.opens.items()}),
    )


def _few(learner: LambdaMART, lab: Lab) -> LambdaMART:
    return replace(learner, trees=lab.size(learner.most_trees, 10))


def layout(results: Outcomes) -> list[Block]:
    """What the methods gain over the background, and the settings over LambdaSMART, by the number of target queries."""
    found: list[Block] = []
    for kind, own in (("real pairs", results.where(real=True)), ("artificial worlds", results.where(real=False))):
        if own:
            sizes = own.settings("size")
            panels = [
                Panel(f"{test} test, {kind} ({len(own.units)})", "target queries", "NDCG@10 over the background",
                      {name: (sizes, [_gain(own, name, test, size) for size in sizes]) for name in (OWN, INTERPOLATED, SMART)})
                for test in (CLOSED, OPEN)
            ]  # fmt: skip
            found.append(PaperFigure(f"001-settings-{kind.split()[0]}", f"Methods by target queries, {kind}", panels))
            for test in (CLOSED, OPEN):
                found.append(_table(own, test, (OWN, INTERPOLATED, SMART), BACKGROUND, f"{test} test, {kind}"))
                found.append(_table(own, test, list(VARIANTS)[1:], SMART, f"{test} test, {kind}"))
    return found


def _gain(results: Outcomes, system: str, test: str, size: int) -> float:
    found = difference(results.where(size=size), system, BACKGROUND, str(MEASURE), test)
    return float("nan") if found is None else found.mean


def _table(results: Outcomes, test: str, systems: Sequence[str], rival: str, title: str) -> Grid:
    """Differences by the number of target queries; a star: significant after Holm's correction within the table."""
    columns = {f"{size:,} queries": results.where(size=size) for size in results.settings("size")}
    columns["10 to 300"] = Outcomes([(case, own) for case, own in results if case.settings["size"] <= 300])
    cells = {
        (system, column): difference(own, system, rival, str(MEASURE), test)
        for system in systems for column, own in columns.items()
    }  # fmt: skip
    known = {place: own for place, own in cells.items() if own is not None}
    sure = dict(zip(known, holm([own.p_either() for own in known.values()]).tolist(), strict=True))

    def shown(place: tuple[str, str]) -> str:
        own: Difference | None = cells[place]
        return "–" if own is None else f"{own}{' *' if sure[place] <= SURE else ''}"

    rows = tuple((system, *(shown((system, column)) for column in columns)) for system in systems)
    return Grid(("", *columns), rows, title=f"NDCG@10 less that of {rival}: {title}")


ALIKE_DOMAINS = """The artificial open tests are domains of the same kind as the target, to which much of what trees learn
carries over; the paper speaks of domains that differ dramatically. Such domains with hundreds of judged queries would
decide."""


def _claims() -> list[Compared]:
    found: list[Compared] = []
    for amount, counts in (("few", "10 or 30"), ("some", "100"), ("many", "300 or 1,000")):
        closed = f"Closed test, {counts} target queries: LambdaSMART is better than interpolation"
        opened = f"Open test, {counts} target queries: interpolation is better than LambdaSMART"
        at = {"amount": amount}
        found.append(Compared(closed, SMART, INTERPOLATED, BETTER, str(MEASURE), CLOSED, at))
        found.append(Compared(opened, INTERPOLATED, SMART, BETTER, str(MEASURE), OPEN, at, ALIKE_DOMAINS))
    return found


ITEM = Item(
    "001", "settings", "Interpolation and LambdaSMART from a forest with 10 to 1,000 target queries, and the latter's settings",
    _claims(),
    (Experiment("001-settings", cases, run),),
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
